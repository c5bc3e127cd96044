package etcd

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// noteLags adds to the answers how long their members have been far behind. It is read from what every look shows, so it costs no
// request, and remembered from look to look: a member that is behind at one may have caught up a moment later. An operator that starts
// anew begins to count anew.
func (p *Pool) noteLags(cluster string, seen *plan.Etcd, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var late []string
	if seen.Contact == plan.ContactQuorum {
		late = seen.FarBehind()
	}
	if len(late) == 0 {
		delete(p.lags, cluster)
		return
	}
	before, since := p.lags[cluster], map[string]time.Time{}
	for i := range seen.Answers {
		a := &seen.Answers[i]
		if !slices.Contains(late, a.PodUID) {
			continue
		}
		first, known := before[a.PodUID]
		if !known {
			first = now
		}
		since[a.PodUID], a.Behind = first, now.Sub(first)
	}
	p.lags[cluster] = since
}
