package etcd_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// comparedWorld is a cluster of etcds whose data is compared.
type comparedWorld struct {
	members   []*program
	pool      *etcd.Pool
	client    *clientv3.Client
	endpoints []etcd.Endpoint
	id        uint64
	// name is the cluster's in the pool.
	name string
}

func newComparedWorld(t *testing.T, n int) *comparedWorld {
	t.Helper()
	w := &comparedWorld{members: programs(t, n), pool: newPool(t), name: t.Name()}
	w.pool.SampleEvery = time.Nanosecond
	var urls []string
	for _, p := range w.members {
		w.endpoints = append(w.endpoints, etcd.Endpoint{Pod: p.name, PodUID: "uid-" + p.name, Address: p.address, Metrics: p.address})
		urls = append(urls, "http://"+p.address)
	}
	var err error
	if w.client, err = clientv3.New(clientv3.Config{Endpoints: urls, Logger: zap.NewNop()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.client.Close() })
	eventually(t, "a cluster", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		put, err := w.client.Put(ctx, "stays", "right") // no compaction deletes the only revision of a key
		if err == nil {
			w.id = put.Header.GetClusterId()
		}
		return err == nil
	})
	return w
}

// compares looks once all voters follow a leader.
func (w *comparedWorld) compares(t *testing.T) []plan.Comparison {
	t.Helper()
	var found []plan.Comparison
	eventually(t, "all voters", func() bool {
		s := w.pool.Observe(t.Context(), w.name, nil, voting(w.id, w.endpoints), w.endpoints)
		for _, a := range s.Seen.Answers {
			if a.Leader == 0 {
				return false
			}
		}
		if len(s.Seen.Answers) < len(w.members) || s.Seen.Contact != plan.ContactQuorum {
			return false
		}
		found, _ = w.pool.Compare(t.Context(), w.name, s)
		return true
	})
	return found
}

// compared is when the data of the cluster with that ID was last found to be the same.
func (w *comparedWorld) compared(id uint64) time.Time {
	return w.pool.Compared(w.name, &etcd.Session{Seen: plan.Etcd{ClusterID: id}})
}

// compacts writes, and compacts to what was written.
func (w *comparedWorld) compacts(t *testing.T) int64 {
	t.Helper()
	var revision int64
	eventually(t, "a compaction", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		put, err := w.client.Put(ctx, "written", "again")
		if err != nil {
			return false
		}
		revision = put.Header.GetRevision()
		_, err = w.client.Compact(ctx, revision, clientv3.WithCompactPhysical())
		return err == nil
	})
	for _, p := range w.members { // one that starts last may not listen yet, for the others do without it
		eventually(t, p.name+" compacts", func() bool {
			return p.listens(t) && int64(p.metric(t, "etcd_debugging_mvcc_compact_revision")) == revision
		})
	}
	return revision
}

// TestCompareFindsTheMemberThatDiffers changes a value in one member's database, and wants the difference to be found at each compaction
// from then on, without any member's reading its whole database for it.
func TestCompareFindsTheMemberThatDiffers(t *testing.T) {
	t.Parallel()
	w := newComparedWorld(t, 3)
	w.compacts(t)
	if found := w.compares(t); len(found) != 0 || !w.compared(w.id).IsZero() {
		t.Fatalf("at the last compaction, which nothing has followed: %+v, and since %s", found, w.compared(w.id))
	}
	w.compacts(t)
	if found := w.compares(t); len(found) != 1 || found[0].Differs() {
		t.Fatalf("while the data is the same: %+v", found)
	}
	same := w.compared(w.id)
	if same.IsZero() || w.compared(0) != same || !w.compared(w.id+1).IsZero() {
		t.Errorf("the data was the same at %s, while nobody answers at %s, and that of another cluster at %s", same, w.compared(0), w.compared(w.id+1))
	}
	w.members[1].diverge(t)
	if found := w.compares(t); len(found) != 1 {
		t.Fatalf("nothing was compacted since: %+v", found)
	}
	first := w.compacts(t)
	w.compares(t)
	second := w.compacts(t)
	w.compares(t)
	w.compacts(t)
	var found []plan.Comparison
	eventually(t, fmt.Sprintf("compactions %d and %d are compared", first, second), func() bool {
		found = w.compares(t)
		return len(found) == 2 && found[0].Revision == first && found[1].Revision == second
	})
	if at := w.compared(w.id); at != same {
		t.Errorf("the data that differs was the same at %s, and before at %s", at, same)
	}
	for _, c := range found {
		hashes := map[int64]int{}
		for _, h := range c.Hashes {
			hashes[h.Hash]++
		}
		if len(c.Hashes) != 3 || len(hashes) != 2 {
			t.Errorf("one of three differs: %+v", c)
		}
	}
	for _, p := range w.members {
		if n := p.metric(t, "etcd_mvcc_hash_rev_duration_seconds_count"); n != 0 {
			t.Errorf("%s has read its whole database %g times", p.name, n)
		}
	}
}

// TestCompareUnderAlarm wants the last compaction to be compared once etcd says that the data differs: there will be no other.
func TestCompareUnderAlarm(t *testing.T) {
	t.Parallel()
	w := newComparedWorld(t, 3)
	w.compacts(t) // it makes the members write to their databases what they have only in their logs
	w.members[2].diverge(t)
	last := w.compacts(t)
	if found := w.compares(t); len(found) != 0 {
		t.Fatalf("at the last compaction, which nothing has followed: %+v", found)
	}
	w.alarm(t, pb.AlarmRequest_ACTIVATE)
	var found []plan.Comparison
	eventually(t, "the last compaction is compared", func() bool {
		found = w.compares(t)
		return len(found) == 1
	})
	if found[0].Revision != last || !found[0].Differs() {
		t.Errorf("compaction %d: %+v", last, found)
	}
	for _, p := range w.members {
		if n := p.metric(t, "etcd_mvcc_hash_rev_duration_seconds_count"); n != 0 {
			t.Errorf("%s has read its whole database %g times", p.name, n)
		}
	}
}

// alarm has etcd say that the data of the first member differs, or not any more.
func (w *comparedWorld) alarm(t *testing.T, action pb.AlarmRequest_AlarmAction) {
	t.Helper()
	list, err := w.client.MemberList(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	request := &pb.AlarmRequest{Action: action, MemberID: list.Members[0].ID, Alarm: pb.AlarmType_CORRUPT}
	if _, err := pb.NewMaintenanceClient(w.client.ActiveConnection()).Alarm(t.Context(), request); err != nil {
		t.Fatal(err)
	}
}

// TestAgreementBeforeAnAlarmIsForgotten has data be the same at two compactions, and differ from then on: etcd says so, and somebody disarms that. What
// was compared before the alarm does not show that the data is the same.
func TestAgreementBeforeAnAlarmIsForgotten(t *testing.T) {
	t.Parallel()
	w := newComparedWorld(t, 3)
	eventually(t, "two compactions are compared", func() bool {
		w.compacts(t)
		return len(w.compares(t)) == 2
	})
	w.members[2].diverge(t)
	w.alarm(t, pb.AlarmRequest_ACTIVATE)
	eventually(t, "the agreement is forgotten", func() bool { return len(w.compares(t)) == 0 })
	w.alarm(t, pb.AlarmRequest_DEACTIVATE)
	if found := w.compares(t); len(found) != 0 {
		t.Errorf("once the alarm is disarmed, and nothing was compacted since: %+v", found)
	}
}

// TestCompareAsksOnlyForWhatIsInMemory holds what Compare relies on: at a revision below the last compaction etcd has a hash in memory, or
// refuses at once, also after it has started anew; at the last one it may read everything.
func TestCompareAsksOnlyForWhatIsInMemory(t *testing.T) {
	t.Parallel()
	const scans = "etcd_mvcc_hash_rev_duration_seconds_count"
	w := newComparedWorld(t, 1)
	p, first := w.members[0], w.compacts(t)
	second := w.compacts(t)
	ask := func(revision int64) error {
		_, err := w.client.HashKV(t.Context(), "http://"+p.address, revision)
		return err
	}
	if err := ask(first); err != nil || p.metric(t, scans) != 0 {
		t.Errorf("at a compaction that another one has followed: %v, %g scans", err, p.metric(t, scans))
	}
	p.stop()
	p.start(t)
	eventually(t, "it answers again", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.client.Get(ctx, "written")
		return err == nil
	})
	if err := ask(first); err == nil || p.metric(t, scans) != 0 {
		t.Errorf("the same after a restart: %v, %g scans; want a refusal and none", err, p.metric(t, scans))
	}
	if err := ask(second); err != nil || p.metric(t, scans) != 1 {
		t.Errorf("at the last compaction after a restart: %v, %g scans; want a hash and one", err, p.metric(t, scans))
	}
}
