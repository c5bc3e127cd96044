package etcd_test

import (
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestAlarms raises alarms in real servers. Each tells those of all members, and its text is no promise of etcd's.
func TestAlarms(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 3)
	pool := newPool(t)
	quorum(t, pool, c.Members...)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{c.Members[0].Address}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	full, wrong := c.Members[1].ID(), c.Members[2].ID()
	for _, raised := range []*pb.AlarmRequest{
		{Action: pb.AlarmRequest_ACTIVATE, MemberID: full, Alarm: pb.AlarmType_NOSPACE},
		{Action: pb.AlarmRequest_ACTIVATE, MemberID: wrong, Alarm: pb.AlarmType_CORRUPT},
		{Action: pb.AlarmRequest_ACTIVATE, MemberID: 0, Alarm: pb.AlarmType_CORRUPT}, // etcd cannot tell who
	} {
		if _, err := pb.NewMaintenanceClient(client.ActiveConnection()).Alarm(t.Context(), raised); err != nil {
			t.Fatal(err)
		}
	}
	want := []plan.Alarm{
		{Kind: plan.AlarmNoSpace, Member: full}, {Kind: plan.AlarmCorrupt, Member: wrong}, {Kind: plan.AlarmCorrupt},
	}
	all := endpoints(c.Members...)
	eventually(t, "every member tells every alarm", func() bool {
		s := pool.Observe(t.Context(), t.Name(), nil, voting(c.ID, all), all).Seen
		for _, a := range s.Answers {
			missing := func(w plan.Alarm) bool { return !slices.Contains(a.Alarms, w) }
			if len(a.Alarms) != len(want) || slices.ContainsFunc(want, missing) {
				return false
			}
		}
		return len(s.Answers) == len(c.Members) && s.Contact == plan.ContactQuorum
	})
	disarmed := want[1]
	succeeds(t, "disarm one", func() error { return quorum(t, pool, c.Members...).Disarm(t.Context(), disarmed) })
	succeeds(t, "disarm it again", func() error { return quorum(t, pool, c.Members...).Disarm(t.Context(), disarmed) })
	eventually(t, "the others stay", func() bool {
		for _, a := range quorum(t, pool, c.Members...).Seen.Answers {
			if len(a.Alarms) != len(want)-1 || slices.Contains(a.Alarms, disarmed) {
				return false
			}
		}
		return true
	})
	if err := quorum(t, pool, c.Members...).Disarm(t.Context(), plan.Alarm{}); err == nil {
		t.Error("no alarm in particular is disarmed")
	}
}
