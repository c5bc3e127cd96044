package status

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
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
