package moveleader

import (
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/documented"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members/memberstest"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
)

// TestMove has real servers hand leadership over, until they have no quorum.
func TestMove(t *testing.T) {
	servers := embedtest.Start(t, 3)
	c := memberstest.Of(t, servers, 3)
	first := memberstest.Healthy(t, c)
	to := memberstest.Follower(t, first)

	var out strings.Builder
	must(t, move(t.Context(), &out, c, to, true))
	if v := memberstest.Healthy(t, c); v.Leader != first.Leader || !strings.Contains(out.String(), "Nothing was changed") {
		t.Errorf("after a dry run %s leads: %s", v.Leader, out.String())
	}
	out.Reset()
	must(t, move(t.Context(), &out, c, to, false))
	documented.Alike(t, "kubectl etcd move-leader example", out.String())
	if v := memberstest.Healthy(t, c); v.Leader != to {
		t.Errorf("%s leads, not %s", v.Leader, to)
	}
	must(t, move(t.Context(), &out, c, to, false))
	if !strings.Contains(out.String(), to+" leads already.") {
		t.Errorf("it says %s", out.String())
	}
	must(t, move(t.Context(), &out, c, "", false))
	last := memberstest.Healthy(t, c)
	if last.Leader == to {
		t.Errorf("%s leads still", to)
	}

	for i, m := range servers.Members {
		if i > 0 {
			m.Stop(t)
		}
	}
	err := move(t.Context(), &out, c, "", false)
	if err == nil || !strings.Contains(err.Error(), "demo has no quorum, so nothing is changed") || !strings.Contains(err.Error(), "m-2") {
		t.Errorf("without a quorum: %v", err)
	}
}

// TestChoose refuses who cannot lead.
func TestChoose(t *testing.T) {
	v := members.View{Quorum: true, Leader: "demo-0", Members: []members.Member{
		{Name: "demo-0", ID: 1, Healthy: true},
		{Name: "demo-1", ID: 2, Problem: "it does not answer"},
		{Name: "demo-2", ID: 3, Healthy: true, Lag: 3},
		{Name: "demo-3", ID: 4, Healthy: true, Learner: true},
	}}
	for to, want := range map[string]string{
		"": "demo-2", "demo-0": "demo-0", "demo-2": "demo-2", "demo-1": "it does not answer", "demo-3": "only a voter can lead",
		"demo-9": "no member",
	} {
		heir, err := choose(v, to)
		if heir.Name != want && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %+v, %v", to, heir, err)
		}
	}
	v.Leader = ""
	if _, err := choose(v, "demo-2"); err == nil {
		t.Error("nobody leads, and somebody is told to hand over")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
