package promote

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/documented"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members/memberstest"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
)

// TestRun has real servers take a learner as a voter, once it is in sync.
func TestRun(t *testing.T) {
	servers := embedtest.Start(t, 3)
	memberstest.Healthy(t, memberstest.Of(t, servers, 3))
	learner := servers.NewMember(t)
	client, err := etcdclient.Dial(etcdclient.Reach(nil, "http://"+servers.Members[0].Address))
	must(t, err)
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for err = client.AddLearner(ctx, learner.PeerURL); err != nil; err = client.AddLearner(ctx, learner.PeerURL) {
		must(t, ctx.Err()) // etcd wants to have been connected for five seconds
	}
	c := memberstest.Of(t, servers, 3)
	var out strings.Builder
	// It has no name before it has started.
	if err := run(t.Context(), &out, c, learner.Name, false); err == nil {
		t.Error("a learner that has never started is promoted")
	}
	learner.Join(t, servers.InitialCluster(servers.Members...))
	must(t, c.Await(t.Context(), time.Minute, "the learner follows", func(v members.View) bool {
		m, err := v.Member(learner.Name)
		return err == nil && m.Healthy && m.Learner
	}))
	must(t, run(t.Context(), &out, c, learner.Name, true))
	if v, err := c.Look(t.Context()); err != nil || len(v.Voters()) != 3 {
		t.Errorf("after a dry run: %+v, %v", v, err)
	}
	out.Reset()
	must(t, run(t.Context(), &out, c, learner.Name, false))
	documented.Alike(t, "kubectl etcd promote example example-3", out.String())
	if v, err := c.Look(t.Context()); err != nil || len(v.Voters()) != 4 || !strings.HasSuffix(out.String(), learner.Name+" is a voter.\n") {
		t.Errorf("it is %+v, %v: %s", v, err, out.String())
	}
	if err := run(t.Context(), &out, c, learner.Name, false); err == nil || !strings.Contains(err.Error(), "a voter already") {
		t.Errorf("once more: %v", err)
	}
}

// TestAllowed wants everybody healthy.
func TestAllowed(t *testing.T) {
	v := members.View{Members: []members.Member{
		{Name: "demo-0", Healthy: true},
		{Name: "demo-1", Healthy: true},
		{Name: "demo-2", Learner: true, Healthy: true},
		{Name: "demo-3", Learner: true, Problem: "it is not in sync"},
	}}
	for name, want := range map[string]string{"demo-2": "", "demo-0": "a voter already", "demo-3": "it is not in sync", "demo-9": "no member"} {
		if err := allowed(v, name); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	v.Members[1] = members.Member{Name: "demo-1", Problem: "it does not answer"}
	if err := allowed(v, "demo-2"); err == nil || !strings.Contains(err.Error(), "demo-1 (it does not answer)") {
		t.Errorf("while a voter is down: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
