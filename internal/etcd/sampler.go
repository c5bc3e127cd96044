package etcd

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
)

const (
	// sampleEvery is how often the members of a cluster are asked for their metrics while nothing is suspected. A member's are some 170 KB, of which
	// 12 KB are sent, as etcd compresses them: so 1,000 clusters of three cost 0.1 MB/s.
	sampleEvery = anomaly.Every
	// sampleSoon is how often while something is, for hurryFor at most: what is suspected may never be proven.
	sampleSoon, hurryFor = 2 * time.Second, 10 * time.Minute
)

// sampler remembers what the metrics of one cluster's members said. It is evidence, not state: an operator that starts anew collects it
// anew.
type sampler struct {
	// id is the cluster's: another one of the same name has other data.
	id uint64
	// due is when the members are to be asked next, and hurried when something was suspected first, zero if nothing is.
	due, hurried time.Time
	// heard is what the voters have said that answered when they were asked last, at read, by pod UID.
	heard map[string]*figures
	read  time.Time
	// What is made of that. Each remembers by itself up to which sample it has come.
	comparisons comparisons
	habits      habits
	histories   histories
	usages      usages
}

// every is how often the members of a calm cluster are asked for their metrics.
func (p *Pool) every() time.Duration { return cmp.Or(p.SampleEvery, sampleEvery) }

// sampler returns what is remembered of a cluster that answers with that ID, 0 if none does. The members of one that is not known yet are asked
// within the usual time, each cluster's at a moment of its own. A process that has just started looks at all clusters at once: samples taken
// then would come all at once for ever. And what is remembered of them lasts: between all that is read at a start and dropped again, it would
// keep pages of the heap that nearly nothing is in.
func (p *Pool) sampler(cluster string, id uint64) *sampler {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.samplers[cluster]
	if s == nil || id != 0 && s.id != id {
		s = &sampler{id: id, due: time.Now().Add(rand.N(p.every()))} //nolint:gosec // nothing secret
		p.samplers[cluster] = s
	}
	return s
}

// sample asks the voters for their metrics where that is due, or at once if it cannot wait. Whoever needs metrics calls it first: so they are asked
// for once, and in whichever order the others come, they find what was heard. There are no voters without a quorum.
func (s *sampler) sample(ctx context.Context, session *Session, now time.Time, every time.Duration, atOnce bool) {
	if len(session.voters) == 0 || now.Before(s.due) && !atOnce {
		return
	}
	s.heard, s.read, s.due = figuresOf(ctx, session.voters), now, now.Add(every)
}

// SampleAtOnce has the next look at a cluster sample its members if they have not been since the process started, instead of within the usual time:
// what is recorded of them ends by samples, or counts on them.
func (p *Pool) SampleAtOnce(cluster string, s *Session) {
	if c := p.sampler(cluster, s.Seen.ClusterID); c.read.IsZero() {
		c.due = time.Now()
	}
}

// forgetUnread forgets the samples of a cluster whose members nobody has asked for about a day, as while it hibernates or Auto Pilot leaves it alone:
// whoever goes on then knows nothing of them, as a process that has just started.
func (p *Pool) forgetUnread(cluster string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.samplers[cluster]; s != nil && now.Sub(latest(s.due, s.habits.looked)) > anomaly.Day {
		delete(p.samplers, cluster)
	}
}

// next sets when the members are to be asked again: in the usual time, or soon while something is suspected.
func (s *sampler) next(now time.Time, every time.Duration, suspect bool) {
	switch {
	case !suspect:
		s.hurried = time.Time{}
	case s.hurried.IsZero():
		s.hurried = now
	}
	s.due = now.Add(every)
	if s.hurries(now) {
		s.due = now.Add(sampleSoon)
	}
}

// tooSoon reports whether a sample follows the last one too soon to count as one: while something is suspected, members are asked more often. A
// pass that is a little early is not.
func tooSoon(at, last time.Time, every time.Duration) bool {
	return at.Sub(last) < every*9/10
}

// hurries reports whether the members are asked more often than usual.
func (s *sampler) hurries(now time.Time) bool {
	return !s.hurried.IsZero() && now.Sub(s.hurried) < hurryFor
}

// figuresOf asks all of these members for their metrics, and returns the figures of those that answer, by pod UID.
func figuresOf(ctx context.Context, members []peer) map[string]*figures {
	read := make([]*figures, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() {
			f := &figures{}
			if m.endpoint.Metrics != "" && readMetrics(ctx, m.endpoint.Metrics, f.scan) == nil {
				read[i] = f
			}
		})
	}
	wg.Wait()
	out := map[string]*figures{}
	for i, m := range members {
		if read[i] != nil {
			out[m.endpoint.PodUID] = read[i]
		}
	}
	return out
}
