package etcduser

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
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
	s.ObservedGeneration, s.User = p.object.Generation, p.object.NameInEtcd()
	p.record(s)
	p.Ready(&s.Conditions, p.object.Generation, err)
	if equality.Semantic.DeepEqual(p.before, s) {
		return nil
	}
	return r.Client.Status().Update(ctx, p.object)
}

// record records what the calls have changed that etcd does not tell: how the user logs in, and by which password.
func (p *pass) record(s *v1beta2.EtcdUserStatus) {
	if p.same {
		s.Password = p.version
	}
	for _, call := range p.Carried() {
		switch call.(type) {
		case access.DeleteUser:
			s.ClusterID, s.Login, s.Password = "", "", nil
		case access.AddUser, access.SetPassword:
			s.ClusterID, s.Login, s.Password = p.target.Cluster.Status.ClusterID, v1beta2.LoginCertificate, p.version
			if p.version != nil {
				s.Login = v1beta2.LoginPassword
			}
		default:
		}
	}
}
