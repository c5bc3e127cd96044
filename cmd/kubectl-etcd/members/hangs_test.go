package members_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members/memberstest"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
)

// TestHangs has one of three members take connections and never answer: the others are heard, and without them nothing is believed.
func TestHangs(t *testing.T) {
	servers := embedtest.Start(t, 3)
	c := memberstest.Of(t, servers, 3)
	memberstest.Healthy(t, c)
	hung, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hung.Close() }()
	c = memberstest.Of(t, servers, 3)
	c.Endpoints[2].Address = hung.Addr().String()
	start := time.Now()
	v, err := c.Look(t.Context())
	if err != nil || !v.Quorum || v.Members[2].Healthy || v.Members[2].Problem != "it does not answer" {
		t.Errorf("while one hangs: %+v, %v", v, err)
	}
	c.Endpoints[1].Address = hung.Addr().String()
	if _, err = c.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "demo has no quorum, so nothing is changed") {
		t.Errorf("while two hang: %v", err)
	}
	const patience = 30 * time.Second
	if took := time.Since(start); took > patience {
		t.Errorf("it took %s", took)
	}
}
