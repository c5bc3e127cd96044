package etcdcluster

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestContestedCertificate writes once, and again every ten minutes, for as long as somebody changes what was written, and says so.
func TestContestedCertificate(t *testing.T) {
	var w rewrites
	start := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	have, want := &unstructured.Unstructured{Object: map[string]any{}}, &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"isCA": true}}}
	have.SetUID("a")
	want.SetName("demo-ca-peer")
	drift := []string{"spec.renewBefore"}
	writes := 0
	said := false
	for at := start; at.Before(start.Add(time.Hour)); at = at.Add(5 * time.Second) {
		due, contest := w.of(have, want, drift, at)
		if due {
			writes++
			w.note(have, want, at)
		}
		if said = contest != ""; said != (at != start) {
			t.Fatalf("%s after the first write, it is said %q", at.Sub(start), contest)
		}
		if said && !strings.Contains(contest, "spec.renewBefore of Certificate demo-ca-peer") {
			t.Fatalf("it is said %q", contest)
		}
	}
	if writes != 6 {
		t.Errorf("%d writes in an hour", writes)
	}
	// Another spec, and another Certificate of that name, are written at once.
	other := want.DeepCopy()
	other.Object["spec"] = map[string]any{"isCA": true, "duration": "1h"}
	if due, contest := w.of(have, other, drift, start.Add(time.Hour)); !due || contest != "" {
		t.Errorf("another spec: due %t, %q", due, contest)
	}
	again := have.DeepCopy()
	again.SetUID("b")
	if due, contest := w.of(again, want, drift, start.Add(time.Hour)); !due || contest != "" {
		t.Errorf("another Certificate: due %t, %q", due, contest)
	}
	// Whoever changes it once in a while is not said to keep on.
	w.forget(types.NamespacedName{Name: "demo"})
	for range 3 {
		start = start.Add(time.Hour)
		if due, contest := w.of(have, want, drift, start); !due || contest != "" {
			t.Errorf("once an hour: due %t, %q", due, contest)
		}
		w.note(have, want, start)
	}
}
