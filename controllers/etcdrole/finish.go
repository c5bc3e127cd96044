package etcdrole

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/access"
)

func (r *Reconciler) finish(ctx context.Context, p *pass, err error) (ctrl.Result, error) {
	if _, gone := p.Action.(access.RemoveFinalizer); gone && err == nil {
		return ctrl.Result{}, nil
	}
	return reconcile.Finish(ctx, reconcile.Ending{
		WriteStatus: func(ctx context.Context, err error) error { return r.writeStatus(ctx, p, err) },
		Left:        r.fence(p).Bounds(p),
		RecordEvents: func(ctx context.Context, err error) {
			reconcile.Record(ctx, r.Recorder, p.object, p.Outcome(p.before.Conditions), err)
		},
		Deed:  p.Tried,
		Again: func() ctrl.Result { return p.Again(p.object.Status.Conditions, r.Clock.Now()) },
	}, err)
}

func (r *Reconciler) writeStatus(ctx context.Context, p *pass, err error) error {
	s := &p.object.Status
	s.ObservedGeneration, s.Role = p.object.Generation, p.object.NameInEtcd()
	if len(p.Carried()) > 0 {
		s.ClusterID = p.target.Cluster.Status.ClusterID
	}
	p.Ready(&s.Conditions, p.object.Generation, err)
	if equality.Semantic.DeepEqual(p.before, s) {
		return nil
	}
	return r.Client.Status().Update(ctx, p.object)
}
