package etcd

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// The families that tell of a member's database. etcd 3.5, 3.6 and 3.7 have all of them.
const (
	defragmentFamily = "etcd_disk_defrag_inflight"
	sendFamily       = "etcd_network_snapshot_send_inflights_total"
	compactFamily    = "etcd_debugging_mvcc_compact_revision"
	removedFamily    = "etcd_debugging_mvcc_db_compaction_keys_total"
	startedFamily    = "grpc_server_started_total"
	handledFamily    = "grpc_server_handled_total"
)

// snapshotMethod is the label of requests for snapshots. db_open_read_transactions would tell of any reader, but etcd counts them only when
// it commits, which it does not while nobody writes.
const snapshotMethod = `grpc_method="Snapshot"`

const (
	// restApart is how far apart two looks at what is in use have to be to be compared, and restLooks how many in a row find it not less: etcd
	// compacts in batches, with pauses of 10 ms or less (compact in its package mvcc).
	restApart, restLooks = time.Second, 2
	// clearLooks is how many looks, so far apart, a cluster is given to tell whether another process has begun to defragment a member of it.
	clearLooks, clearApart = 3, 15 * time.Second
	// busyApart is after how long without a look a member that was seen to be defragmented is none any more.
	busyApart = 5 * time.Minute
	// exact is up to which number metrics, which are floating-point numbers, count.
	exact = 1 << 53
)

// upkeep is what is remembered of the databases of one cluster. It is evidence, not state: an operator that starts anew collects it anew.
type upkeep struct {
	// past are revisions of the cluster; see notePast.
	past []pastRevision
	// rests is what was in use, and last how the last defragmentation has ended, by pod UID. busy is who was seen to be defragmented.
	rests map[string]rest
	last  map[string]plan.Defragmentation
	busy  map[string]busy
	// rate is the one that was measured last, in bytes a second.
	rate int64
	// job is the defragmentation that this process has begun, nil if it is over, and finished what has become of the earlier ones.
	job      *job
	finished []Defragmented
	// looked counts the looks for what other processes have begun: clearLooks once there is none. lookedAt is when the last one was counted.
	looked   int
	lookedAt time.Time
	// disarmed are when the alarm NOSPACE was disarmed within the last hour.
	disarmed []time.Time
}

// busy is since when a member was seen to be defragmented, and when it was looked at last.
type busy struct{ since, looked time.Time }

// rest is how often in a row nothing more was removed, and no less in use, than before. Counted is how many revisions were removed when the
// member was defragmented last, or looked at first.
type rest struct {
	at                      time.Time
	inUse, removed, counted int64
	looks                   int
}

// Databases is what is known of the members' databases. Due says that the members are to be asked for their metrics, and blocked that they
// are until it is clear that no other process has begun to defragment one: it blocks evictions before.
func (p *Pool) Databases(ctx context.Context, cluster string, seen *plan.Etcd, endpoints []Endpoint, due, blocked bool) {
	p.mu.Lock()
	u := p.upkeeps[cluster]
	if u != nil && !blocked {
		u.looked, u.lookedAt = 0, time.Time{} // another process may begin anything before they are blocked again
	}
	ask := due || blocked && (u == nil || u.looked < clearLooks)
	busy := u != nil && u.job != nil
	p.mu.Unlock()
	if seen.Contact != plan.ContactQuorum || !ask && !busy {
		return
	}
	asked := slices.DeleteFunc(slices.Clone(endpoints), func(e Endpoint) bool { return !lists(seen.Members, e) })
	found := make([]plan.Database, len(asked))
	var wg sync.WaitGroup
	for i, e := range asked {
		found[i].Pod, found[i].PodUID = e.Pod, e.PodUID
		if ask && e.Metrics != "" {
			wg.Go(func() { readDatabase(ctx, e, seen.Revision, &found[i]) })
		}
	}
	wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	u = p.upkeepOf(cluster)
	for i := range found {
		u.note(&found[i], seen.Answers, time.Now())
	}
	u.clears(ask && blocked, found, time.Now())
	seen.Databases, seen.DefragmentRate = found, u.rate
}

// upkeepOf is what is remembered of a cluster. The lock is held.
func (p *Pool) upkeepOf(cluster string) *upkeep {
	u := p.upkeeps[cluster]
	if u == nil {
		u = &upkeep{rests: map[string]rest{}, last: map[string]plan.Defragmentation{}, busy: map[string]busy{}}
		p.upkeeps[cluster] = u
	}
	return u
}

// readDatabase is what a member's metrics tell of its database. They are served while it is being defragmented, too. What no etcd tells in a
// cluster of that revision, 0 if it is unknown, is not believed: whatever answers at a member's address may serve any numbers.
func readDatabase(ctx context.Context, e Endpoint, revision int64, into *plan.Database) {
	families, err := metricsOf(ctx, e.Metrics)
	if err != nil || len(families[defragmentFamily].GetMetric()) == 0 || len(families[compactFamily].GetMetric()) == 0 {
		return
	}
	defragmenting, compacted, removed := gauge(families[defragmentFamily]), gauge(families[compactFamily]), 0.0
	for _, m := range families[removedFamily].GetMetric() {
		removed = m.GetCounter().GetValue()
	}
	latest := float64(cmp.Or(revision, exact))
	const never = -1 // is what is compacted before anything is
	if math.IsNaN(defragmenting) || !(compacted >= never && compacted <= latest) || !(removed >= 0 && removed <= exact) {
		return
	}
	into.Known, into.Compacted, into.Removed = true, int64(max(compacted, 0)), int64(removed)
	if defragmenting > 0 {
		into.Defragmenting = time.Now()
	}
	into.Copied = gauge(families[sendFamily]) > 0 || snapshots(families[startedFamily]) > snapshots(families[handledFamily])
}

// snapshots counts requests for snapshots.
func snapshots(family *dto.MetricFamily) (n float64) {
	for _, m := range family.GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "grpc_method" && l.GetValue() == "Snapshot" {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// ofSnapshots reports whether a line of the metrics counts requests for snapshots. There are hundreds for other requests.
func ofSnapshots(line []byte) bool {
	counts := bytes.HasPrefix(line, []byte(startedFamily)) || bytes.HasPrefix(line, []byte(handledFamily))
	return counts && bytes.Contains(line, []byte(snapshotMethod))
}

// note adds what is remembered, and remembers what was found.
func (u *upkeep) note(d *plan.Database, answers []plan.Answer, now time.Time) {
	if u.job != nil && u.job.endpoint.PodUID == d.PodUID {
		d.Defragmenting = u.job.begun
	}
	u.noteBusy(d, now)
	if last, ok := u.last[d.PodUID]; ok {
		d.Last = &last
	}
	i := slices.IndexFunc(answers, func(a plan.Answer) bool { return a.PodUID == d.PodUID && a.MemberID != 0 })
	if i < 0 || !d.Known {
		d.Removed = 0
		return
	}
	r := u.rests[d.PodUID].next(answers[i].DBSizeInUse, d.Removed, now)
	u.rests[d.PodUID], d.Removed, d.Rests = r, r.removed-r.counted, r.looks >= restLooks
}

// noteBusy dates a defragmentation from when it was seen first. One that was seen goes on until the member's metrics tell that it does not: a
// look that finds none tells nothing.
func (u *upkeep) noteBusy(d *plan.Database, now time.Time) {
	seen, was := u.busy[d.PodUID]
	was = was && now.Sub(seen.looked) < busyApart
	switch {
	case d.Defragmenting.IsZero() && (d.Known || !was):
		delete(u.busy, d.PodUID)
		return
	case !was:
		seen.since = d.Defragmenting
	}
	seen.looked, d.Defragmenting = now, seen.since
	u.busy[d.PodUID] = seen
}

// next is the state after a look. One that was defragmented has no state but what it has counted; a server that starts anew counts anew.
func (r rest) next(inUse, removed int64, now time.Time) rest {
	fresh := rest{at: now, inUse: inUse, removed: removed, counted: removed}
	switch {
	case r.at.IsZero() || removed < r.removed:
		return fresh
	case inUse < r.inUse || removed > r.removed:
		fresh.counted = r.counted
		return fresh
	case now.Sub(r.at) < restApart:
		return r
	}
	fresh.counted, fresh.looks = r.counted, r.looks+1
	return fresh
}

// NoteCompaction forgets how long the pages of a cluster's databases have rested, because etcd is asked to compact: that frees pages only after a moment,
// and one in which nothing happens must not be taken for its end.
func (p *Pool) NoteCompaction(cluster string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.upkeepOf(cluster)
	for pod, r := range u.rests {
		r.at, r.looks = now, 0
		u.rests[pod] = r
	}
}

// clears counts looks until one has shown that no member is being defragmented. One that has not reached all members counts only if it is not
// the next moment.
func (u *upkeep) clears(asked bool, found []plan.Database, now time.Time) {
	if !asked || u.looked >= clearLooks {
		return
	}
	known := !slices.ContainsFunc(found, func(d plan.Database) bool { return !d.Known })
	busy := slices.ContainsFunc(found, func(d plan.Database) bool { return !d.Defragmenting.IsZero() })
	switch {
	case busy:
		u.looked = 0
	case known:
		u.looked = clearLooks
	case now.Sub(u.lookedAt) >= clearApart:
		u.looked, u.lookedAt = u.looked+1, now
	}
}
