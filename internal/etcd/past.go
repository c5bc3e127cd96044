package etcd

import (
	"slices"
	"time"
)

const (
	// historyKept is how old history has to be to be given up, which is kube-apiserver's habit, too (--etcd-compaction-interval).
	historyKept = 5 * time.Minute
	// pastApart is how far apart revisions are remembered: at most fifteen of a cluster.
	pastApart = 20 * time.Second
)

// pastRevision is a revision that the cluster had reached at a time.
type pastRevision struct {
	at       time.Time
	revision int64
}

// PastRevision remembers the cluster's revision now, 0 if it is unknown, and returns the latest known that it had reached historyKept ago; 0
// if none is: a process that has just started knows no past. A revision that went back, as after a restore, is another history.
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
	for old < len(u.past) && now.Sub(u.past[old].at) >= historyKept {
		old++
	}
	if old == 0 {
		return 0
	}
	u.past = slices.Delete(u.past, 0, old-1)
	return u.past[0].revision
}
