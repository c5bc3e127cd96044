package etcd

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const (
	// slowRead is how long the linearizable reads take of a cluster whose disks are worth a look. They need no disk, but
	// a leader has to be done with what it writes before it can answer them.
	slowRead = 200 * time.Millisecond
	// watchFor is how long disks are watched after they last gave reason to: in between a slow one is quick. It is longer
	// than a calm cluster is left alone for, so that what is known of a disk holds from one look to the next.
	watchFor = 3 * time.Minute
	// window is the time that flushes are averaged over, if a cluster is looked at that often.
	window = 10 * time.Second
	// enough flushes have a mean.
	enough = 3
)

// watch remembers what the disks of one cluster were seen to do, by pod UID. It is evidence, not state: an operator that
// starts anew collects it anew.
type watch struct {
	until time.Time
	// recent are each pod's samples in the window and the last before it; still is the first since when its log has not
	// moved.
	recent map[string][]sample
	still  map[string]sample
}

// watchDisks looks at the disks where something gives reason to: a member that takes connections and does not answer, one
// that stays behind the others, or a slow read. A healthy cluster is never asked for any of this.
//
// A member whose log stands still may well answer for its state, which it knows from memory: as a leader, too, when the
// others have long elected another one.
func (p *Pool) watchDisks(ctx context.Context, cluster string, s *Session, peers []peer, mute []Endpoint,
	read time.Duration,
) {
	if s.Seen.Contact != plan.ContactQuorum {
		return
	}
	peers = slices.DeleteFunc(slices.Clone(peers), func(p peer) bool {
		return p.response.ClusterID != s.Seen.ClusterID || !lists(s.Seen.Members, p.endpoint)
	})
	mute = slices.DeleteFunc(slices.Clone(mute), func(e Endpoint) bool { return !lists(s.Seen.Members, e) })
	newest := committed(s.Seen.Members, peers)
	suspects := append(slices.Clone(mute), behind(ctx, peers, newest)...)
	w := p.watchOf(cluster, len(suspects) > 0 || read > slowRead)
	if w == nil {
		return
	}
	asked := slices.Clone(mute)
	for _, peer := range peers {
		asked = append(asked, peer.endpoint)
	}
	for i, now := range samples(ctx, asked) {
		stays := slices.Contains(suspects, asked[i]) && now.committed < newest
		if disk, ok := w.note(asked[i], now, stays); ok {
			s.Seen.Disks = append(s.Seen.Disks, disk)
		}
	}
}

// lists reports whether the endpoint is a member's.
func lists(members []plan.Member, e Endpoint) bool {
	return slices.ContainsFunc(members, func(m plan.Member) bool { return m.Name == e.Pod })
}

// committed is the end of the log, as far as a majority of the voters knows.
func committed(members []plan.Member, peers []peer) uint64 {
	var known []uint64
	for _, p := range peers {
		if !p.response.Learner {
			known = append(known, p.response.Committed)
		}
	}
	return plan.Reached(len(plan.VotersOf(members)), known)
}

// behind are the voters that do not know by now what others knew to be committed when they were all asked.
func behind(ctx context.Context, peers []peer, newest uint64) []Endpoint {
	late := slices.DeleteFunc(slices.Clone(peers), func(p peer) bool {
		return p.response.Learner || p.response.Committed >= newest
	})
	stays := make([]bool, len(late))
	var wg sync.WaitGroup
	for i, p := range late {
		wg.Go(func() {
			again, err := ask(ctx, p.client, p.endpoint)
			stays[i] = err != nil || again.response.Committed < newest
		})
	}
	wg.Wait()
	var out []Endpoint
	for i, p := range late {
		if stays[i] {
			out = append(out, p.endpoint)
		}
	}
	return out
}

// watchOf is the watch over a cluster that gives cause for one, or did so lately; nil otherwise.
func (p *Pool) watchOf(cluster string, cause bool) *watch {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, now := p.watches[cluster], time.Now()
	if cause {
		if w == nil {
			w = &watch{recent: map[string][]sample{}, still: map[string]sample{}}
			p.watches[cluster] = w
		}
		w.until = now.Add(watchFor)
	}
	if w != nil && now.After(w.until) {
		delete(p.watches, cluster)
		return nil
	}
	return w
}

// samples are what these members tell of their disks, empty for one that tells nothing.
func samples(ctx context.Context, asked []Endpoint) []sample {
	out := make([]sample, len(asked))
	var wg sync.WaitGroup
	for i, e := range asked {
		wg.Go(func() {
			if e.Metrics == "" {
				return
			}
			if now, err := sampleOf(ctx, e.Metrics); err == nil {
				out[i] = now
			}
		})
	}
	wg.Wait()
	return out
}

// note compares a sample with the earlier ones. A member that stays behind, knows a leader, copies no snapshot, and has
// neither flushed nor learnt anything since, stands still.
func (w *watch) note(e Endpoint, now sample, stays bool) (plan.Disk, bool) {
	if now.at.IsZero() {
		delete(w.recent, e.PodUID)
		delete(w.still, e.PodUID)
		return plan.Disk{}, false
	}
	first := w.since(e.PodUID, now)
	still, known := w.still[e.PodUID]
	if !known || !stays || !now.led || now.copying || now.flushes != still.flushes || now.committed != still.committed {
		still = now
		w.still[e.PodUID] = still
	}
	disk := plan.Disk{
		Pod: e.Pod, PodUID: e.PodUID, Watched: now.at.Sub(first.at), Stalled: now.at.Sub(still.at),
	}
	if n := now.flushes - first.flushes; n >= enough {
		disk.FlushTime = (now.spent - first.spent) / time.Duration(n) //nolint:gosec // a number of flushes
	}
	return disk, true
}

// since adds a sample, and returns the one that the mean of the flushes begins at.
func (w *watch) since(uid string, now sample) sample {
	recent := w.recent[uid]
	if n := len(recent); n > 0 && startedAnew(float64(recent[n-1].flushes), float64(now.flushes)) {
		recent = nil
	}
	recent = append(recent, now)
	for len(recent) > 1 && now.at.Sub(recent[1].at) >= window {
		recent = recent[1:]
	}
	w.recent[uid] = recent
	return recent[0]
}
