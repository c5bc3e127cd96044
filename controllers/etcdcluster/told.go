package etcdcluster

import (
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
	// began is when the first one was told, at when the last one was.
	began, at time.Time
}

// untold is whose Secrets are still to be written: of all applications, or of EtcdUsers.
type untold struct{ client, users bool }

// of returns since when. If it is told only now, or not everybody can be told yet, that is now. EtcdUsers are not waited for without end: it
// would be left to whoever may change a Secret of theirs whether the cluster is ever switched. The condition CertificatesValid names them.
func (c *clientsTold) of(cluster types.NamespacedName, tls bool, u untold, now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, found := c.since[cluster]
	switch {
	case !found || known.tls != tls:
		known = telling{tls, now, now}
	case u.client || u.users && now.Sub(known.began) < certificates.Patience:
		known.at = now
	}
	if c.since == nil {
		c.since = map[types.NamespacedName]telling{}
	}
	c.since[cluster] = known
	return known.at
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
	var left untold
	if p.certified != nil {
		for _, w := range p.certified.Writes {
			left.client = left.client || w.Kind == certificates.KindClient
			left.users = left.users || w.Kind == certificates.KindUser
		}
	}
	return r.told.of(key, p.transport.ClientTLS, left, p.observed.Now).Add(certificates.ReadTime)
}
