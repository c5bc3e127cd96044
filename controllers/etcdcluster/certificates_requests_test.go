package etcdcluster

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// certManagers is an object of cert-manager's that was made at noon, with one condition.
func certManagers(kind, status, reason, message string, since time.Time) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"issuerRef": map[string]any{"kind": "Issuer", "name": "house"}},
	}}
	u.SetName("c-ca-peer")
	u.SetCreationTimestamp(metav1.NewTime(noon))
	if kind != "" {
		u.Object["status"] = map[string]any{"conditions": []any{map[string]any{
			"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since.Format(time.RFC3339),
		}}}
	}
	return u
}

// TestManyRequests lists CertificateRequests without end, whose labels anybody who may create some can choose: they are read a few at a time,
// and the operator gives up. Those that pass for requests of the Certificate itself are counted, too.
func TestManyRequests(t *testing.T) {
	certificate := certManagers("Ready", "True", "Ready", "", noon)
	certificate.SetUID("certificate")
	certificate.SetNamespace("ns")
	for title, own := range map[string]bool{"somebody's": false, "in the Certificate's name": true} {
		t.Run(title, func(t *testing.T) {
			listed := 0
			r, _ := onePass(t, plan.Idle{}, interceptor.Funcs{
				List: func(_ context.Context, _ client.WithWatch, o client.ObjectList, opts ...client.ListOption) error {
					var given client.ListOptions
					given.ApplyOptions(opts)
					if given.Limit < 1 || given.Limit > 10 {
						t.Fatalf("it asks for %d at a time", given.Limit)
					}
					page := o.(*unstructured.UnstructuredList)
					page.Items = nil
					for range given.Limit {
						one := certManagers("", "", "", "", noon)
						one.SetAnnotations(map[string]string{revisionAnnotation: "1"})
						if own {
							yes := true
							one.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Certificate", UID: certificate.GetUID(), Controller: &yes}})
						}
						page.Items = append(page.Items, *one)
					}
					page.SetContinue("more")
					if listed += len(page.Items); listed > 1000 {
						t.Fatal("it does not give up")
					}
					return nil
				},
			})
			found := &certificates.IssuedAuthority{}
			requests, ok := r.readRequests(t.Context(), certificate, map[string]string{"etcd_cluster": "c"}, &secretsReader{}, found)
			if ok || len(requests) > 0 || !strings.Contains(found.Refused, "(etcd_cluster=c)") {
				t.Errorf("after %d requests it has %d, and says %q", listed, len(requests), found.Refused)
			}
		})
	}
}

// TestIssuanceInWords says why there is no authority, or no renewal, once cert-manager had time for it, in cert-manager's words and with the
// issuer that it waits for.
func TestIssuanceInWords(t *testing.T) {
	later := noon.Add(time.Hour)
	renewing := func(at time.Time) *unstructured.Unstructured {
		u := certManagers("Ready", "True", "Ready", "up to date", noon)
		must(t, unstructured.SetNestedField(u.Object, at.Format(time.RFC3339), "status", "renewalTime"))
		return u
	}
	pending := certManagers("Ready", "False", "Pending", "not found", noon)
	for title, c := range map[string]struct {
		certificate, request *unstructured.Unstructured
		issued               bool
		now                  time.Time
		want                 []string
	}{
		"just asked for":                {certificate: certManagers("", "", "", "", noon), now: noon.Add(issuance)},
		"cert-manager does not run":     {certificate: certManagers("", "", "", "", noon), now: later, want: []string{"no condition Ready", "whether it runs", "Issuer house"}},
		"the issuer is missing":         {certificate: certManagers("Issuing", "True", "DoesNotExist", "", noon), request: pending, now: later, want: []string{"(not found)", "Issuer house"}},
		"it has refused":                {certificate: certManagers("Issuing", "False", "Failed", "no", noon), now: noon, want: []string{"cannot issue", "no: correct the issuer"}},
		"issued":                        {certificate: certManagers("Ready", "True", "Ready", "", noon), issued: true, now: later},
		"not due yet":                   {certificate: renewing(later.Add(time.Hour)), issued: true, now: later},
		"due just now":                  {certificate: renewing(later), issued: true, now: later.Add(renewal)},
		"due, and cert-manager is away": {certificate: renewing(later), issued: true, now: later.Add(2 * renewal), want: []string{"has not renewed Certificate c-ca-peer", "whether it runs"}},
		"being renewed":                 {certificate: certManagers("Issuing", "True", "Renewing", "", later), request: pending, issued: true, now: later.Add(issuance)},
		"being renewed for too long":    {certificate: certManagers("Issuing", "True", "Renewing", "", later), request: pending, issued: true, now: later.Add(2 * issuance), want: []string{"(not found)"}},
		"a renewal that it has refused": {certificate: certManagers("Issuing", "False", "Failed", "no", noon), issued: true, now: later, want: []string{"cannot issue"}},
	} {
		var requests []*unstructured.Unstructured
		if c.request != nil {
			requests = append(requests, c.request)
		}
		got := refusedBy(c.certificate, requests, c.issued, c.now)
		if (got == "") != (c.want == nil) {
			t.Errorf("%s: got %q", title, got)
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q in it", title, got, want)
			}
		}
	}
}
