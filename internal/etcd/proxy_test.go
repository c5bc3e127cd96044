package etcd_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestPoolUsesNoProxy reaches a member although the proxy of the environment is not there. Go reads that once in a process,
// so the test runs itself in another one.
func TestPoolUsesNoProxy(t *testing.T) {
	const member = "TEST_MEMBER"
	if address := os.Getenv(member); address != "" {
		e := etcd.Endpoint{Pod: "m-0", PodUID: "1", Address: address}
		if s := newPool(t).Observe(t.Context(), "c", nil, []etcd.Endpoint{e}); s.Seen.Contact != plan.ContactQuorum {
			t.Errorf("seen %+v", s.Seen)
		}
		return
	}
	t.Parallel()
	// No proxy is used for what is known to be on this machine. This address leads there and is not known to.
	address := strings.Replace(embedtest.Start(t, 1).Members[0].Address, "127.0.0.1", "0.0.0.0", 1)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), member+"="+address, "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=", "no_proxy=")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
