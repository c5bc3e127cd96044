package etcdcluster

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// glanceLimit is how long a glance may take.
const glanceLimit = 5 * time.Second

// glances are looks at clusters at rest, in the middle between two passes: an alarm of etcd, while which it takes no writes, causes no event. The zero
// value is empty. It is safe for concurrent use.
type glances struct {
	mu  sync.Mutex
	due map[types.NamespacedName]*time.Timer
	waker
}

// set has a cluster looked at after that time, and reconciled if that finds something. There is one glance of a cluster: the one that was set last.
func (g *glances) set(cluster types.NamespacedName, after time.Duration, finds func() bool) {
	g.forget(cluster)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.due == nil {
		g.due = map[types.NamespacedName]*time.Timer{}
	}
	g.due[cluster] = time.AfterFunc(after, func() {
		if finds() {
			g.wake(cluster)
		}
	})
}

func (g *glances) forget(cluster types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if timer := g.due[cluster]; timer != nil {
		timer.Stop()
	}
	delete(g.due, cluster)
}

// glance has a cluster at rest looked at before the next pass, one request to one member, so that an alarm is seen within half the time between passes.
func (r *Reconciler) glance(p *pass, next time.Duration) {
	key := p.key()
	if next < reconcile.Heartbeat/2 || p.observed.Etcd.Contact != plan.ContactQuorum {
		r.glances.forget(key)
		return
	}
	members := endpoints(p.observed)
	r.glances.set(key, next/2, func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), glanceLimit)
		defer cancel()
		return etcd.Alarmed(ctx, members)
	})
}
