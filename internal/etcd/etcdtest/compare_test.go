package etcdtest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
)

// compare waits until the real cluster looks like the fake one: the members, who runs, and whether a quorum answers.
// What needs time only, such as a learner's catching up, is then made to have happened in the fake, too.
func (r *rig) compare(t *testing.T, s step) {
	t.Helper()
	var difference string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(pause) {
		ctx, cancel := context.WithTimeout(t.Context(), callTimeout)
		difference = r.difference(ctx)
		cancel()
		if difference == "" {
			return
		}
	}
	t.Fatalf("after %s: %s", s, difference)
}

func (r *rig) difference(ctx context.Context) string {
	for _, s := range r.real {
		d := r.fake.Disk(s.name)
		if s.etcd == nil || d != nil && d.Running {
			continue
		}
		select { // the fake says that it has ended: a removed member does so by itself
		case <-s.etcd.Server.StopNotify():
			s.stop()
		default:
			return s.name + " still runs"
		}
	}
	g := r.fake.Group(r.id)
	if g == nil {
		return ""
	}
	client := r.leader(ctx)
	if (client != nil) != r.fake.Read(r.id) {
		return fmt.Sprintf("etcd has a leader: %t, the fake: %t", client != nil, r.fake.Read(r.id))
	}
	if client == nil {
		return ""
	}
	list, err := client.MemberList(ctx)
	if err != nil {
		return err.Error()
	}
	return r.follow(ctx, g, list)
}

// follow compares the member lists and takes over what etcd alone decides: the IDs of added members and the leader.
func (r *rig) follow(ctx context.Context, g *etcdtest.Group, list *clientv3.MemberListResponse) string {
	if len(list.Members) != len(g.Members) {
		return fmt.Sprintf("etcd lists %d members, the fake %d", len(list.Members), len(g.Members))
	}
	if list.Header.ClusterId != r.id {
		return fmt.Sprintf("etcd has cluster ID %x, expected %x", list.Header.ClusterId, r.id)
	}
	for _, m := range list.Members {
		i := slices.IndexFunc(g.Members, func(f etcdtest.Member) bool { return f.PeerURL == m.PeerURLs[0] })
		if i < 0 {
			return "the fake does not list " + m.PeerURLs[0]
		}
		f := &g.Members[i]
		if f.ID == 0 {
			f.ID, r.members[f.Name] = m.ID, m.ID
		}
		if f.ID != m.ID || f.Learner != m.IsLearner {
			return fmt.Sprintf("%s: etcd says ID %x learner %t, the fake %+v", f.Name, m.ID, m.IsLearner, *f)
		}
		if r.fake.Running(r.id, f.ID) {
			if len(m.ClientURLs) == 0 || !r.inSync(ctx, f.Name) {
				return f.Name + " is not up yet"
			}
			r.fake.Publish(r.id, f.ID)
			r.fake.CatchUp(r.id, f.ID)
		}
		if f.Published != (len(m.ClientURLs) > 0) {
			return fmt.Sprintf("%s: etcd says published: %t, the fake %t", f.Name, len(m.ClientURLs) > 0, f.Published)
		}
	}
	return r.followLeader(g, list.Header.MemberId)
}

// followLeader makes the fake's leader the real one: which of the voters it is, is up to etcd.
func (r *rig) followLeader(g *etcdtest.Group, leader uint64) string {
	if g.Leader == leader {
		return ""
	}
	if err := r.fake.MoveLeader(r.id, leader); err != nil {
		return fmt.Sprintf("%x cannot lead in the fake: %v", leader, err)
	}
	return ""
}

// inSync reports whether the server has applied all that the leader has committed.
func (r *rig) inSync(ctx context.Context, name string) bool {
	var applied, committed uint64
	for _, s := range r.real {
		if s.etcd == nil {
			continue
		}
		status, err := s.client.Status(ctx, s.clientURL)
		if err != nil {
			return false
		}
		committed = max(committed, status.RaftIndex)
		if s.name == name {
			applied = status.RaftAppliedIndex
		}
	}
	return applied >= committed
}
