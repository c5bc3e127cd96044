package etcd_test

import (
	"context"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// database is what a pool knows of the only member's.
func database(t *testing.T, pool *etcd.Pool, due, blocked bool, m *embedtest.Member) (seen plan.Etcd) {
	t.Helper()
	of := endpoints(m)
	seen = plan.Etcd{Contact: plan.ContactQuorum, Members: []plan.Member{{ID: m.ID(), Name: m.Name}}}
	seen.Answers = []plan.Answer{{Pod: m.Name, PodUID: of[0].PodUID, MemberID: m.ID(), DBSizeInUse: 1}}
	of[0].Metrics = m.Address // where it serves metrics, too
	pool.Databases(t.Context(), t.Name(), &seen, of, due, blocked)
	return seen
}

// client is etcd's own.
func client(t *testing.T, m *embedtest.Member) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + m.Address}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// overwrite writes so many MiB under one key, and returns the revision.
func overwrite(t *testing.T, c *clientv3.Client, mebi int) (revision int64) {
	t.Helper()
	for range mebi {
		put, err := c.Put(t.Context(), "key", strings.Repeat("x", 1<<20))
		if err != nil {
			t.Fatal(err)
		}
		revision = put.Header.Revision
	}
	return revision
}

// TestDefragmentBesidePasses has a member be defragmented for as long as a snapshot is read from it: the process that has asked for that goes
// on and knows of it, and so does one that starts anew.
func TestDefragmentBesidePasses(t *testing.T) {
	const size = 48
	m := embedtest.Start(t, 1).Members[0]
	pool, c := newPool(t), client(t, m)
	revision := overwrite(t, c, size)
	database(t, pool, true, false, m) // what was removed is counted from here on
	if err := quorum(t, pool, m).Compact(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	eventually(t, "compacted", func() bool { // which the size of what is in use does not tell before somebody writes
		d := database(t, pool, true, false, m).Databases[0]
		return d.Known && d.Compacted == revision && d.Removed == size-1 && d.Rests && !d.Copied && d.Defragmenting.IsZero()
	})
	if found := database(t, pool, false, false, m).Databases; found != nil {
		t.Errorf("it looks although nothing gives reason to: %+v", found)
	}

	reading, stop := context.WithCancel(t.Context())
	defer stop()
	if _, err := c.Snapshot(reading); err != nil { // nobody reads on
		t.Fatal(err)
	}
	eventually(t, "a snapshot", func() bool { return database(t, pool, true, false, m).Databases[0].Copied })
	if err := pool.BeginDefragment(t.Context(), t.Name(), nil, endpoints(m)[0]); err != nil {
		t.Fatal(err)
	}
	if err := pool.BeginDefragment(t.Context(), t.Name(), nil, endpoints(m)[0]); err == nil {
		t.Errorf("a second one at the same time: %v", err)
	}
	if d := database(t, pool, false, false, m).Databases; len(d) != 1 || d[0].Defragmenting.IsZero() {
		t.Errorf("the process does not know what it does: %+v", d)
	}
	anew := newPool(t)
	eventually(t, "seen by another process", func() bool {
		return !database(t, anew, true, false, m).Databases[0].Defragmenting.IsZero()
	})
	if found := database(t, anew, false, true, m).Databases; len(found) != 1 || found[0].Defragmenting.IsZero() {
		t.Errorf("it does not look for what another process may have begun: %+v", found)
	}
	status := anew.Observe(t.Context(), t.Name(), nil, voting(m.ClusterID(), endpoints(m)), endpoints(m)).Seen
	t.Logf("meanwhile it answers %d times for its state", len(status.Answers))
	if finished := pool.TakeFinished(t.Name()); len(finished) > 0 {
		t.Errorf("it is over: %+v", finished)
	}

	stop()
	var finished []etcd.Defragmented
	eventually(t, "the end", func() bool {
		finished = append(finished, pool.TakeFinished(t.Name())...)
		return len(finished) > 0
	})
	if d := finished[0]; d.Err != nil || d.Pod != m.Name || d.Freed < size/2<<20 || d.Took <= 0 {
		t.Errorf("it is told of: %+v", d)
	}
	seen := database(t, pool, true, false, m)
	if d := seen.Databases[0]; !d.Defragmenting.IsZero() || d.Removed != 0 || d.Last == nil || d.Last.Failed || d.Last.Free > 1<<20 || d.Last.Vain != 0 || seen.DefragmentRate != 0 {
		t.Errorf("afterwards: %+v, %d bytes a second", d, seen.DefragmentRate)
	}
	eventually(t, "seen to be over by another process", func() bool {
		found := database(t, anew, false, true, m).Databases
		return found == nil || found[0].Defragmenting.IsZero()
	})
	if found := database(t, anew, false, true, m).Databases; found != nil {
		t.Errorf("it still looks for what another process may have begun: %+v", found)
	}
}

// TestDefragmentThatFails remembers what was free, so that it is not repeated at once.
func TestDefragmentThatFails(t *testing.T) {
	m := embedtest.Start(t, 1).Members[0]
	pool := newPool(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := pool.BeginDefragment(ended, t.Name(), nil, endpoints(m)[0]); err == nil {
		t.Error("it begins although the pass has no time left")
	}
	if finished := pool.TakeFinished(t.Name()); len(finished) > 0 {
		t.Errorf("it is told of what was not begun: %+v", finished)
	}
}

// TestDisarm disarms what is not there, and compacts what is compacted: both are what was asked for.
func TestDisarm(t *testing.T) {
	m := embedtest.Start(t, 1).Members[0]
	pool, c := newPool(t), client(t, m)
	s := quorum(t, pool, m)
	if err := s.Disarm(t.Context(), plan.Alarm{Kind: plan.AlarmNoSpace, Member: m.ID()}); err != nil {
		t.Error(err)
	}
	revision := overwrite(t, c, 2)
	for range 2 {
		if err := s.Compact(t.Context(), revision); err != nil {
			t.Error(err)
		}
	}
}

// TestPastRevision knows no past at first, unless the cluster was empty by then, and forgets it where the revision goes back.
func TestPastRevision(t *testing.T) {
	pool, start := newPool(t), time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for cluster, looks := range map[string][]struct {
		after    time.Duration
		revision int64
		want     int64
	}{
		"ns/c": {
			{0, 10, 0},
			{time.Second, 11, 0},
			{time.Minute, 20, 0},
			{5*time.Minute - time.Second, 50, 0},
			{5 * time.Minute, 60, 10},
			{5*time.Minute + 30*time.Second, 0, 10},
			{6 * time.Minute, 70, 20},
			{20 * time.Minute, 90, 70},
			{25 * time.Minute, 90, 90},
			{26 * time.Minute, 5, 0},
			{31 * time.Minute, 6, 5},
			{time.Minute, 7, 0},
		},
		"ns/empty at first": {{0, 1, 1}, {time.Minute, 500, 1}, {5 * time.Minute, 900, 1}, {6 * time.Minute, 950, 500}},
	} {
		for i, c := range looks {
			if got := pool.PastRevision(cluster, c.revision, start.Add(c.after)); got != c.want {
				t.Errorf("%s: %d: after %s it was %d, want %d", cluster, i, c.after, got, c.want)
			}
		}
	}
	for i, c := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {time.Second, 1}, {10 * time.Minute, 2}, {59 * time.Minute, 3}, {61 * time.Minute, 3}, {3 * time.Hour, 1}} {
		if pool.NoteDisarmed("ns/c", start.Add(c.after)); pool.DisarmedLastHour("ns/c", start.Add(c.after)) != c.want {
			t.Errorf("%d: after %s it was disarmed %d times, want %d", i, c.after, pool.DisarmedLastHour("ns/c", start.Add(c.after)), c.want)
		}
	}
	pool.Forget("ns/c")
	if n := pool.DisarmedLastHour("ns/c", start.Add(3*time.Hour)); n != 0 {
		t.Errorf("of another cluster it was disarmed %d times", n)
	}
	if got := pool.PastRevision("ns/c", 9, start.Add(time.Hour)); got != 0 {
		t.Errorf("of another cluster: %d", got)
	}
}
