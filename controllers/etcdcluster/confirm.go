package etcdcluster

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

// confirm checks with the API server, before anything is written on a cached view, that the cluster is still this operator's and
// its spec the same: whether a volume has the cluster as owner follows from it.
func (r *Reconciler) confirm(ctx context.Context, p *pass) error {
	if p.live {
		return nil
	}
	cluster := &v1beta2.EtcdCluster{}
	if err := r.Live.Get(ctx, p.key(), cluster); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the cluster again: %w", err)
	}
	decision, err := r.Reservations.Decide(ctx, cluster, cluster.Status.Operator)
	if err != nil {
		return err
	}
	if cluster.UID != p.cluster.UID || cluster.Generation != p.cluster.Generation || !claim.Acts(decision) || r.Reservations.Left() == 0 {
		return reconcile.ErrStale
	}
	p.live = true
	return nil
}

// settle handles a cluster that this operator has not reserved, or not yet.
func (r *Reconciler) settle(ctx context.Context, p *pass) (ctrl.Result, error) {
	result, err := r.Reservations.Settle(ctx, p.cluster, &p.cluster.Status.Operator, p.declined)
	result.Priority = new(ahead)
	if !claim.Mutates(p.declined) {
		result.Priority = new(resting)
	}
	return result, err
}
