package etcd

import (
	"bytes"
	"context"
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
	// clearLooks is how many looks a cluster is given to tell whether another process has begun to defragment a member of it.
	clearLooks = 3
)

// upkeep is what is remembered of the databases of one cluster. It is evidence, not state: an operator that starts anew collects it anew.
type upkeep struct {
	// past are revisions of the cluster; see notePast.
	past []pastRevision
	// rests is what was in use, and last how the last defragmentation has ended, by pod UID. since is when another's was seen first.
	rests map[string]rest
	last  map[string]plan.Defragmentation
	since map[string]time.Time
	// rate is the lowest that was measured, in bytes a second.
	rate int64
	// job is the defragmentation that this process has begun, nil if it is over, and told what has become of the earlier ones.
	job  *job
	told []Defragmented
	// looked counts the looks for what other processes have begun: clearLooks once there is none.
	looked int
}

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
			wg.Go(func() { readDatabase(ctx, e, &found[i]) })
		}
	}
	wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	u = p.upkeepOf(cluster)
	for i := range found {
		u.note(&found[i], seen.Answers, time.Now())
	}
	u.clears(ask, found)
	seen.Databases, seen.DefragmentRate = found, u.rate
}

// upkeepOf is what is remembered of a cluster. The lock is held.
func (p *Pool) upkeepOf(cluster string) *upkeep {
	u := p.upkeeps[cluster]
	if u == nil {
		u = &upkeep{rests: map[string]rest{}, last: map[string]plan.Defragmentation{}, since: map[string]time.Time{}}
		p.upkeeps[cluster] = u
	}
	return u
}

// readDatabase is what a member's metrics tell of its database. They are served while it is being defragmented, too.
func readDatabase(ctx context.Context, e Endpoint, into *plan.Database) {
	families, err := metricsOf(ctx, e.Metrics)
	if err != nil || len(families[defragmentFamily].GetMetric()) == 0 || len(families[compactFamily].GetMetric()) == 0 {
		return
	}
	into.Known = true
	if gauge(families[defragmentFamily]) > 0 {
		into.Defragmenting = time.Now()
	}
	into.Compacted = int64(gauge(families[compactFamily]))
	for _, m := range families[removedFamily].GetMetric() {
		into.Removed = int64(m.GetCounter().GetValue())
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
	if d.Defragmenting.IsZero() {
		delete(u.since, d.PodUID)
	} else if first, known := u.since[d.PodUID]; known {
		d.Defragmenting = first
	} else {
		u.since[d.PodUID] = d.Defragmenting
	}
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

// clears counts looks until one has shown that no member is being defragmented.
func (u *upkeep) clears(asked bool, found []plan.Database) {
	if !asked || u.looked >= clearLooks {
		return
	}
	u.looked++
	known := !slices.ContainsFunc(found, func(d plan.Database) bool { return !d.Known })
	busy := slices.ContainsFunc(found, func(d plan.Database) bool { return !d.Defragmenting.IsZero() })
	switch {
	case busy:
		u.looked = 0
	case known:
		u.looked = clearLooks
	}
}
