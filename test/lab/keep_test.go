package lab

import (
	"bytes"
	"os"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/controlplane"
	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// TestKeepWaitsForTheAPIServer starts nothing that has no API server to work with: a fault may have ended that one.
func TestKeepWaitsForTheAPIServer(t *testing.T) {
	l := &Lab{state: state.Dir(t.TempDir())}
	if err := os.MkdirAll(l.state.Run(), 0o750); err != nil {
		t.Fatal(err)
	}
	dead := []byte(`{"name": "dead", "pid": 0}`)
	for _, name := range []string{controlplane.APIServer, controlplane.Scheduler} {
		if err := os.WriteFile(l.recordFile(name), dead, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := &bytes.Buffer{}
	if err := l.keep(controlplane.Scheduler, out); err != nil || out.Len() > 0 {
		t.Errorf("keep = %v, and says %q", err, out)
	}
}
