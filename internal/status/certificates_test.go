package status

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// TestListedCertificates has more certificates than status has room for. The first to expire is found among all of them.
func TestListedCertificates(t *testing.T) {
	const users = 70
	info := func(name string, days int, user bool) certificates.Info {
		return certificates.Info{Name: name, Use: "tls", NotBefore: at, NotAfter: at.Add(time.Duration(days) * 24 * time.Hour), User: user}
	}
	var all []certificates.Info
	for i := range users { // the last one of the list is the first to expire
		all = append(all, info(fmt.Sprintf("user-%02d", i), 1000-i, true))
	}
	all = append(all, info("m-client", 2000, false))
	in := threeMembers()
	in.Certificates = &Certificates{Decision: certificates.Decision{Certificates: all}}
	s := compute(in)

	listed := map[string]bool{}
	for _, c := range s.TLS.Certificates {
		listed[c.Secret] = true
	}
	if len(listed) != 64 || s.TLS.UnlistedCertificates != users+1-64 {
		t.Fatalf("%d are listed, and %d are said not to be", len(listed), s.TLS.UnlistedCertificates)
	}
	if !listed["m-client"] || !listed["user-69"] || !listed["user-07"] || listed["user-06"] || listed["user-00"] {
		t.Errorf("listed are %v", listed)
	}
	in.Certificates.Certificates = slices.Insert(slices.Clone(all), 0, info("m-0-tls", 1, false))
	for _, c := range compute(in).Conditions {
		if c.Type == v1beta2.ConditionCertificatesValid && !strings.Contains(c.Message, "m-0-tls") {
			t.Errorf("condition %+v", c)
		}
	}
	in.Certificates.Certificates = all[:64]
	if got := compute(in).TLS; got.UnlistedCertificates != 0 || got.Certificates[0].Secret != "user-00" {
		t.Errorf("64 certificates: %+v", got)
	}
	if !meta.IsStatusConditionPresentAndEqual(s.Conditions, v1beta2.ConditionCertificatesValid, "True") {
		t.Errorf("conditions %+v", s.Conditions)
	}
}

// TestExpiringAuthority is told of an authority that cert-manager does not renew, long before it expires, although each certificate of it,
// which expires at the same time and first in the list, has been issued a moment ago; and of whatever else is wrong.
func TestExpiringAuthority(t *testing.T) {
	const day = 24 * time.Hour
	end := at.Add(8 * day)
	in := threeMembers()
	in.Observed.Now = at
	in.Certificates = &Certificates{Decision: certificates.Decision{Certificates: []certificates.Info{
		{Name: "m-0-tls", Use: "peer", NotBefore: at.Add(-day), NotAfter: end, RenewAt: at.Add(2 * day)},
		{Name: "m-ca", Use: "peer", NotBefore: end.Add(-90 * day), NotAfter: end, Certificate: "m-ca-peer"},
	}}}
	says := func(reason string, words ...string) {
		t.Helper()
		c := meta.FindStatusCondition(compute(in).Conditions, v1beta2.ConditionCertificatesValid)
		if c == nil || c.Status != "False" || c.Reason != reason {
			t.Fatalf("CertificatesValid is %+v", c)
		}
		for _, word := range words {
			if !strings.Contains(c.Message, word) {
				t.Errorf("%q does not say %q", c.Message, word)
			}
		}
		if strings.Contains(c.Message, "static") || strings.Contains(c.Message, "m-0-tls") {
			t.Errorf("it says %q", c.Message)
		}
	}
	says(v1beta2.ReasonCertificatesExpiring, "peer.crt in Secret m-ca expires at", "Certificate m-ca-peer")
	in.Certificates.Problem = &failure.Problem{Reason: v1beta2.ReasonWriteRefused, Message: "a user's Secret"}
	says(v1beta2.ReasonWriteRefused, "a user's Secret", "peer.crt in Secret m-ca expires at")
	in.Certificates.Problem = nil
	in.Observed.Now = at.Add(-2 * day)
	if c := meta.FindStatusCondition(compute(in).Conditions, v1beta2.ConditionCertificatesValid); c.Status != "True" || !strings.Contains(c.Message, "Secret m-ca,") {
		t.Errorf("before, it says %+v", c)
	}
}

// TestNotWrittenYet tells a step that is being taken from one that nothing takes, because the cluster may not start.
func TestNotWrittenYet(t *testing.T) {
	for title, c := range map[string]struct {
		id        string
		bootstrap *v1beta2.BootstrapStatus
		want      string
	}{
		"may not start": {want: "the certificates are written once the cluster may start; beware"},
		"starts":        {bootstrap: &v1beta2.BootstrapStatus{}, want: "writing certificates; beware"},
		"runs":          {id: "0000000000000007", want: "writing certificates; beware"},
	} {
		in := threeMembers()
		in.Cluster.Status.ClusterID, in.Cluster.Status.Bootstrap = c.id, c.bootstrap
		in.Certificates = &Certificates{Decision: certificates.Decision{Step: "writing certificates", Warnings: []string{"beware"}}}
		if got := meta.FindStatusCondition(compute(in).Conditions, v1beta2.ConditionCertificatesValid); got.Message != c.want {
			t.Errorf("%s: it says %q, want %q", title, got.Message, c.want)
		}
	}
}

// TestExpiry is in Degraded and in Ready's reason from the notice on, and Ready is false once a certificate of the cluster's own has expired.
func TestExpiry(t *testing.T) {
	const day = 24 * time.Hour
	for title, c := range map[string]struct {
		left            time.Duration
		user            bool
		degraded, ready metav1.ConditionStatus
	}{
		"in time":         {10 * day, false, metav1.ConditionFalse, metav1.ConditionTrue},
		"soon":            {5 * day, false, metav1.ConditionTrue, metav1.ConditionTrue},
		"expired":         {0, false, metav1.ConditionTrue, metav1.ConditionFalse},
		"a user's, alone": {0, true, metav1.ConditionTrue, metav1.ConditionTrue},
	} {
		in := allAnswer()
		end := in.Observed.Now.Add(c.left)
		in.Certificates = &Certificates{Decision: certificates.Decision{Certificates: []certificates.Info{
			{Name: "m-0-tls", Use: "peer", NotBefore: end.Add(-90 * day), NotAfter: end, User: c.user},
		}}}
		s := compute(in)
		degraded, ready := meta.FindStatusCondition(s.Conditions, v1beta2.ConditionDegraded), meta.FindStatusCondition(s.Conditions, v1beta2.ConditionReady)
		if degraded.Status != c.degraded || ready.Status != c.ready {
			t.Errorf("%s: %+v, %+v", title, degraded, ready)
		}
		if c.degraded == metav1.ConditionTrue && (degraded.Reason != v1beta2.ReasonCertificatesExpiring || ready.Reason != degraded.Reason) {
			t.Errorf("%s, it says %+v, %+v", title, degraded, ready)
		}
	}
}

// TestManyExpire names the first few that expire, and counts the others.
func TestManyExpire(t *testing.T) {
	var all []certificates.Info
	for i := range 5 {
		all = append(all, certificates.Info{Name: fmt.Sprintf("m-%d-tls", i), Use: "peer", NotBefore: at.Add(-time.Hour), NotAfter: at})
	}
	got := expiringInWords(all, at)
	if strings.Count(got, "has expired") != 3 || !strings.Contains(got, "spec.tls.static") || !strings.HasSuffix(got, "; 2 more expire") {
		t.Errorf("it says %q", got)
	}
}
