package etcdcluster

import (
	"reflect"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const (
	// perSecond is how many actions a cluster gets per second in the long run, and atOnce how many in a burst: the first start, an
	// update, or a restore of the largest cluster takes fewer, most of which wait for pods.
	perSecond, atOnce = 1, 100
	// longest is the maximum pause before an action is repeated.
	longest = 30 * time.Second
	// remembered is for how long an action counts as repeated.
	remembered = 2 * longest
)

// paces limit the rate of actions per cluster. Whether an action has had its effect is observed from servers, and one that lies can
// cause the same action, or ever new ones, without end: the cluster would always be first in the queue. The zero value is empty. It
// is safe for concurrent use.
type paces struct {
	mu sync.Mutex
	of map[types.NamespacedName]*pace
}

// pace is the rate of one cluster.
type pace struct {
	all  *rate.Limiter
	done []done
}

// done is an action that was repeated so many times, each soon after the last one.
type done struct {
	action plan.Action
	last   time.Time
	times  int
}

// pause is how long the action must not be repeated.
func (d done) pause() time.Duration {
	if d.times < 2 {
		return 0
	}
	return min(reconcile.Soon<<min(d.times-1, 16), longest)
}

// wait is how long an action must be delayed, 0 if not at all.
func (p *paces) wait(cluster types.NamespacedName, a plan.Action, now time.Time) time.Duration {
	if !plan.Mutates(a) {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.pace(cluster)
	if i := own.find(a, now); i >= 0 {
		if left := own.done[i].last.Add(own.done[i].pause()).Sub(now); left > 0 {
			return left
		}
	}
	room := own.all.ReserveN(now, 1)
	left := room.DelayFrom(now)
	if left > 0 {
		room.CancelAt(now)
	}
	return left
}

// note records that an action was carried out, and returns how long it must not be repeated, 0 if it was the first time.
func (p *paces) note(cluster types.NamespacedName, a plan.Action, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.pace(cluster)
	i := own.find(a, now)
	if i < 0 {
		i, own.done = len(own.done), append(own.done, done{action: a})
	}
	own.done[i].last, own.done[i].times = now, own.done[i].times+1
	return own.done[i].pause()
}

func (p *paces) forget(cluster types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.of, cluster)
}

func (p *paces) pace(cluster types.NamespacedName) *pace {
	if p.of == nil {
		p.of = map[types.NamespacedName]*pace{}
	}
	if p.of[cluster] == nil {
		p.of[cluster] = &pace{all: rate.NewLimiter(perSecond, atOnce)}
	}
	return p.of[cluster]
}

// find is the index of the action among the recent ones, -1 if it is not there.
func (p *pace) find(a plan.Action, now time.Time) int {
	p.done = slices.DeleteFunc(p.done, func(d done) bool { return now.Sub(d.last) > remembered })
	return slices.IndexFunc(p.done, func(d done) bool { return reflect.DeepEqual(d.action, a) })
}
