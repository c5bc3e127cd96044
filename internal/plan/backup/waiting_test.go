package backup

import (
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// TestWaitingForAPod says since when.
func TestWaitingForAPod(t *testing.T) {
	o := Observed{Pod: &retry.Pod{Name: "p", Created: noon}, Run: &Run{}}
	want := "waiting for pod p to start, which was created at " + noon.UTC().Format(time.RFC3339)
	if w, ok := o.await().(Wait); !ok || w.Message != want || w.Reason != v1beta2.ReasonWaitingForPods {
		t.Errorf("await = %+v, want %q", o.await(), want)
	}
}
