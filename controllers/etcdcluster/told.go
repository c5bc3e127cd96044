package etcdcluster

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/resources"
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
	// late is whether somebody was still to be told when it was last looked at.
	late bool
}

// untold is whose Secrets are still to be written: of all applications, or of EtcdUsers. It is unknown while they cannot be read.
type untold struct{ unknown, client, users bool }

// of returns since when. If it is told only now, or not everybody can be told yet, that is now. No Secret is waited for without end: it would be
// left to whoever may change one whether the cluster is ever switched. The condition CertificatesValid names those of EtcdUsers that cannot be
// written, and Degraded the cluster's own.
func (c *clientsTold) of(cluster types.NamespacedName, tls bool, u untold, now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, found := c.since[cluster]
	if !found || known.tls != tls {
		known = telling{tls: tls, began: now, late: true}
	}
	passed := now.Sub(known.began)
	waits := u.unknown || u.client && passed < certificates.ClientPatience || u.users && passed < certificates.Patience
	if waits || known.late { // they were told since it was last looked at, and no earlier than that is known
		known.at = now
	}
	known.late = waits
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
	key := p.key()
	if !p.transport.ClientBoth {
		r.told.forget(key)
		return time.Time{}
	}
	return r.told.of(key, p.transport.ClientTLS, p.untold(), p.observed.Now).Add(certificates.ReadTime)
}

// untold is which applications have a Secret that does not say yet by which scheme to connect, whatever keeps it from being written. Those
// without go by status. It is unknown as long as this process has not been able to read the Secrets.
func (p *pass) untold() (left untold) {
	if p.certified == nil || p.certified.unread {
		return untold{unknown: true}
	}
	for _, name := range p.certified.Applications {
		secret := p.certified.secrets[name]
		if secret != nil && secret.endpoints == resources.ClientURL(p.cluster) {
			continue
		}
		if name == certificates.ClientName(p.cluster.Name) {
			left.client = true
		} else {
			left.users = true
		}
	}
	return left
}
