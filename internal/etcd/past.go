package etcd

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const (
	// pastApart is how far apart revisions are remembered: at most fifteen of a cluster.
	pastApart = 20 * time.Second
	// firstRevision is that of an etcd to which nobody has written: it has no history before it.
	firstRevision = 1
)

// pastRevision is a revision that the cluster had reached at a time.
type pastRevision struct {
	at       time.Time
	revision int64
}

// PastRevision remembers the cluster's revision now, 0 if it is unknown, and returns the latest known that it had reached plan.HistoryKept ago;
// 0 if none is: a process that has just started knows no past, but of a cluster that was empty by then. A revision that went back, as after a restore,
// is another history.
func (p *Pool) PastRevision(cluster string, revision int64, now time.Time) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.upkeepOf(cluster)
	if n := len(u.past); n > 0 && (revision != 0 && revision < u.past[n-1].revision || now.Before(u.past[n-1].at)) {
		u.past = nil
	}
	if n := len(u.past); revision != 0 && (n == 0 || now.Sub(u.past[n-1].at) >= pastApart) {
		u.past = append(u.past, pastRevision{now, revision})
	}
	old := 0
	for old < len(u.past) && now.Sub(u.past[old].at) >= plan.HistoryKept {
		old++
	}
	switch {
	case old > 0:
	case len(u.past) > 0 && u.past[0].revision == firstRevision:
		return firstRevision
	default:
		return 0
	}
	u.past = slices.Delete(u.past, 0, old-1)
	return u.past[0].revision
}

const (
	// disarmedKept is how long it is remembered that the alarm was disarmed. What is disarmed within disarmedApart counts once, because each member
	// has an alarm of its own.
	disarmedKept, disarmedApart = time.Hour, time.Minute
)

// NoteDisarmed remembers that the alarm NOSPACE of a cluster was disarmed.
func (p *Pool) NoteDisarmed(cluster string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.upkeepOf(cluster)
	if n := len(u.disarmed); n == 0 || now.Sub(u.disarmed[n-1]) >= disarmedApart {
		u.disarmed = append(u.disarmed, now)
	}
}

// DisarmedLastHour is how often the alarm NOSPACE of a cluster was disarmed within the last hour, by this process.
func (p *Pool) DisarmedLastHour(cluster string, now time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.upkeepOf(cluster)
	u.disarmed = slices.DeleteFunc(u.disarmed, func(at time.Time) bool { return now.Sub(at) >= disarmedKept })
	return len(u.disarmed)
}
