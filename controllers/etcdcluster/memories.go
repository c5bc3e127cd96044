package etcdcluster

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

// memory is something that this process knows of clusters, and nobody else does.
type memory interface {
	forget(cluster types.NamespacedName)
}

// memories are all of them but those of other packages.
func (r *Reconciler) memories() []memory {
	return []memory{
		&r.paces, &r.refusals, &r.refusedBeside, &r.logRequests, &r.retained, &r.certified, &r.told, &r.rewrites, &r.authenticated, &r.brake, &r.glances,
	}
}

// forget drops everything about a cluster that is gone, or that another operator has: when that one is gone, it may have changed whatever is
// known here, so this process knows no more of the cluster then than a new one would.
func (r *Reconciler) forget(cluster types.NamespacedName) {
	for _, m := range r.memories() {
		m.forget(cluster)
	}
	r.passwords.Forget(cluster)
	r.Etcd.Forget(cluster.String())
	metrics.ForgetCluster(cluster.Namespace, cluster.Name)
}
