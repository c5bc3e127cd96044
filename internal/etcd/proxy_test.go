package etcd_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
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
	if text := os.Getenv(member); text != "" {
		id, address, _ := strings.Cut(text, "@")
		cluster, err := strconv.ParseUint(id, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		e := []etcd.Endpoint{{Pod: "m-0", PodUID: "1", Address: address}}
		if s := newPool(t).Observe(t.Context(), "c", nil, voting(cluster, e), e); s.Seen.Contact != plan.ContactQuorum {
			t.Errorf("seen %+v", s.Seen)
		}
		return
	}
	t.Parallel()
	// No proxy is used for what is known to be on this machine. This address leads there and is not known to.
	c := embedtest.Start(t, 1)
	address := fmt.Sprintf("%x@%s", c.ID, strings.Replace(c.Members[0].Address, "127.0.0.1", "0.0.0.0", 1))
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), member+"="+address, "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=", "no_proxy=")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
