package etcdcluster

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
