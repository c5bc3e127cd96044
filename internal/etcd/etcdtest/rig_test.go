package etcdtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// kind is a kind of step.
type kind int

const (
	startNew kind = iota
	startJoin
	startJoinAlone // with an initial cluster that lists the member and no one else
	resume
	stop
	lose
	addLearner
	promote
	remove
	moveLeader
	kinds
)

// step is something done to server number at.
type step struct {
	kind kind
	at   int
}

func (s step) String() string {
	return [kinds]string{
		"start new", "join", "join alone", "resume", "stop", "lose", "add learner", "promote", "remove", "move leader to",
	}[s.kind] + fmt.Sprintf(" %d", s.at)
}

// rig runs the same steps on real servers and on the fake.
type rig struct {
	real     []*server
	founders []*server
	fake     etcdtest.Cluster
	id       uint64            // of the cluster
	members  map[string]uint64 // IDs by name, of those that were ever listed
}

func newRig(t *testing.T, servers, founders, maxLearners int) *rig {
	r := &rig{real: newServers(t, servers, maxLearners), fake: etcdtest.Cluster{MaxLearners: maxLearners}}
	r.founders = r.real[:founders]
	urls := map[string]string{}
	for _, s := range r.founders {
		urls[s.name] = s.peerURL
	}
	r.members, r.id = plan.IDs(t.Name(), urls)
	return r
}

// do takes a step and compares the outcomes. A step that makes no sense in this state is skipped.
func (r *rig) do(t *testing.T, s step) {
	t.Helper()
	if !r.sensible(s) {
		return
	}
	want := r.onFake(s)
	got := r.onReal(t, s, want)
	if !errors.Is(got, want) {
		t.Fatalf("%s: etcd says %v, the fake says %v", s, got, want)
	}
	r.compare(t, s)
}

func (r *rig) sensible(s step) bool {
	name := r.real[s.at].name
	disk := r.fake.Disk(name)
	g := r.fake.Group(r.id)
	switch s.kind {
	case startNew:
		return disk == nil && slices.Contains(r.founders, r.real[s.at])
	case startJoin:
		// A founder on an empty directory would be the harm that the fake reports: it is not done to a real etcd.
		return disk == nil && g != nil && g.Named(name) != nil && !g.Named(name).Remembers
	case startJoinAlone:
		return disk == nil && g != nil && g.Named(name) != nil
	case resume:
		return disk != nil && !disk.Running && g.Member(disk.MemberID) != nil
	case stop:
		return disk != nil && disk.Running
	case lose:
		return disk != nil
	default:
		return g != nil && (s.kind == addLearner || r.members[name] != 0)
	}
}

func (r *rig) onFake(s step) error {
	c, name, url := &r.fake, r.real[s.at].name, r.real[s.at].peerURL
	switch s.kind {
	case startNew:
		return c.StartNew(name, r.id, r.members[name], r.initialMembers())
	case startJoin:
		return c.StartJoin(name, url, urlsOf(r.listed()))
	case startJoinAlone:
		return c.StartJoin(name, url, []string{url})
	case resume:
		return c.Resume(name)
	case stop:
		c.Stop(name)
	case lose:
		c.Lose(name)
	case addLearner:
		return c.AddLearner(r.id, 0, name, url) // the ID is known once etcd has chosen it
	case promote:
		return c.Promote(r.id, r.members[name])
	case remove:
		return c.Remove(r.id, r.members[name])
	default:
		return c.MoveLeader(r.id, r.members[name])
	}
	return nil
}

func (r *rig) initialMembers() []etcdtest.Member {
	var initial []etcdtest.Member
	for _, s := range r.founders {
		initial = append(initial, etcdtest.Member{ID: r.members[s.name], Name: s.name, PeerURL: s.peerURL})
	}
	return initial
}

// listed are the servers that the fake lists.
func (r *rig) listed() []*server {
	g := r.fake.Group(r.id)
	return slices.DeleteFunc(slices.Clone(r.real), func(s *server) bool { return g.Named(s.name) == nil })
}

func urlsOf(servers []*server) []string {
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.peerURL)
	}
	return urls
}

func (r *rig) onReal(t *testing.T, s step, want error) error {
	t.Helper()
	it := r.real[s.at]
	switch s.kind {
	case startNew:
		return it.start(t, "new", r.founders)
	case startJoin:
		return it.start(t, "existing", r.listed())
	case startJoinAlone, resume:
		return it.start(t, "existing", []*server{it})
	case stop:
		it.stop()
		return nil
	case lose:
		it.stop()
		it.wipe(t)
		return nil
	default:
		return r.call(t, s, want)
	}
}

// call repeats a call until etcd's answer is the expected one or patience ends: connections have to be old enough.
func (r *rig) call(t *testing.T, s step, want error) error {
	t.Helper()
	var err error
	stopped := false
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(pause) {
		ctx, cancel := context.WithTimeout(t.Context(), callTimeout)
		err = callError(r.once(ctx, s))
		cancel()
		if errors.Is(err, rpctypes.ErrStopped) {
			stopped = true // a leader that removes itself may stop before it has answered
			continue
		}
		if stopped && s.kind == remove && errors.Is(err, etcdtest.ErrNotFound) {
			return nil
		}
		passes := errors.Is(err, etcdtest.ErrUnhealthy) || errors.Is(err, etcdtest.ErrNoLeader)
		if errors.Is(err, want) || !passes {
			break
		}
	}
	return err
}

func (r *rig) once(ctx context.Context, s step) error {
	it, client := r.real[s.at], r.leader(ctx)
	if client == nil {
		return etcdtest.ErrNoLeader
	}
	id := r.members[it.name]
	switch s.kind {
	case addLearner:
		_, err := client.MemberAddAsLearner(ctx, []string{it.peerURL})
		return err
	case promote:
		_, err := client.MemberPromote(ctx, id)
		return err
	case remove:
		_, err := client.MemberRemove(ctx, id)
		return err
	default:
		_, err := client.MoveLeader(ctx, id)
		return err
	}
}

// leader is the client of the server that leads, nil if none does.
func (r *rig) leader(ctx context.Context) *clientv3.Client {
	for _, s := range r.real {
		if s.etcd == nil {
			continue
		}
		status, err := s.client.Status(ctx, s.clientURL)
		if err == nil && status.Leader != 0 && status.Leader == status.Header.MemberId {
			return s.client
		}
	}
	return nil
}

// ballast makes the log so long that a few entries do not matter to whether a learner is in sync.
func (r *rig) ballast(t *testing.T) {
	t.Helper()
	for i := range 200 {
		if _, err := r.leader(t.Context()).Put(t.Context(), "k", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	r.fake.Write(r.id)
}

// up starts the founders.
func (r *rig) up(t *testing.T) {
	t.Helper()
	for i := range r.founders {
		want := r.onFake(step{startNew, i})
		if got := r.onReal(t, step{startNew, i}, want); got != nil || want != nil {
			t.Fatalf("start: etcd says %v, the fake %v", got, want)
		}
	}
	r.compare(t, step{startNew, 0})
	r.ballast(t)
}

// choose picks one of the steps that make sense now.
func (r *rig) choose(n int) step {
	var sensible []step
	for kind := range kinds {
		for at := range r.real {
			// The last copy is not lost: nothing would be left to compare.
			if s := (step{kind, at}); r.sensible(s) && (kind != lose || len(r.fake.Disks) > 2) {
				sensible = append(sensible, s)
			}
		}
	}
	return sensible[n%len(sensible)]
}
