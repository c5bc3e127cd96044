package etcdcluster

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
)

// clientsTold knows since when the clients of clusters are told by which scheme to connect, where they could use either. It is known to the
// process only: after a restart clients have more time than they need. The zero value is ready to use.
type clientsTold struct {
	mu    sync.Mutex
	since map[types.NamespacedName]telling
}

type telling struct {
	tls bool
	at  time.Time
}

// of returns since when. If it is told only now, or not everybody can be told yet, that is now.
func (c *clientsTold) of(cluster types.NamespacedName, tls, unwritten bool, now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, found := c.since[cluster]
	if found && known.tls == tls && !unwritten {
		return known.at
	}
	if c.since == nil {
		c.since = map[types.NamespacedName]telling{}
	}
	c.since[cluster] = telling{tls, now}
	return now
}

func (c *clientsTold) forget(cluster types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.since, cluster)
}

// clientsRead is when clients have read by which scheme to connect, in status or in their Secret; zero if they are served by one only.
func (r *Reconciler) clientsRead(p *pass) time.Time {
	key := client.ObjectKeyFromObject(p.cluster)
	if !p.transport.ClientBoth {
		r.told.forget(key)
		return time.Time{}
	}
	unwritten := p.certified != nil && slices.ContainsFunc(p.certified.Writes, func(w certificates.Write) bool {
		return w.Kind == certificates.KindClient || w.Kind == certificates.KindUser
	})
	return r.told.of(key, p.transport.ClientTLS, unwritten, p.observed.Now).Add(certificates.ReadTime)
}
