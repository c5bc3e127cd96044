package etcdrestore

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan/restore"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

func (r *Reconciler) finish(ctx context.Context, p *restorePass, err error) (ctrl.Result, error) {
	if reconcile.Terminating(err) {
		p.action, err = restore.Wait{
			Reason: v1beta2.ReasonTerminating, Message: reconcile.NamespaceEnds, After: reconcile.Heartbeat,
		}, nil
	}
	return reconcile.Finish(ctx, reconcile.Ending{
		WriteStatus:  func(ctx context.Context, err error) error { return r.writeStatus(ctx, p, err) },
		Left:         r.fence(p).Bounds(p),
		RecordEvents: func(ctx context.Context, err error) { r.recordEvents(ctx, p, err) },
		Deed:         p.deed,
		Again:        func() ctrl.Result { return ctrl.Result{RequeueAfter: untilNext(p)} },
	}, err)
}

// untilNext is zero if no further pass is needed.
func untilNext(p *restorePass) time.Duration {
	switch a := p.action.(type) {
	case restore.Idle:
		return 0
	case restore.Wait:
		return a.After
	case restore.Blocked:
		return wait.Jitter(reconcile.Heartbeat, 0.2)
	default:
		return reconcile.Soon
	}
}

func (r *Reconciler) writeStatus(ctx context.Context, p *restorePass, err error) error {
	if _, gone := p.action.(restore.RemoveFinalizer); gone {
		return nil // nothing in it has changed, and the object may be gone already
	}
	p.setStatus(err)
	if equality.Semantic.DeepEqual(p.before, &p.object.Status) {
		return nil
	}
	writeErr := r.Client.Status().Update(ctx, p.object)
	if apierrors.IsInvalid(writeErr) && p.before.Source == nil && p.object.Status.Source != nil {
		return r.refuseSource(ctx, p, writeErr)
	}
	return writeErr
}

func (p *restorePass) setStatus(err error) {
	p.object.Status = status.Restore(status.RestoreInput{
		Restore: p.object, Observed: p.observed, Action: p.action, Cluster: p.cluster, Source: p.source,
		Result: p.Result, Member: p.member.noted(), Progress: p.progress(), Err: err,
	})
}

// refuseSource is for storage in the form of coreos/etcd-operator that cannot be expressed by URL, such as an endpoint with a
// path: nothing validates it before.
func (r *Reconciler) refuseSource(ctx context.Context, p *restorePass, why error) error {
	p.object.Status = *p.before.DeepCopy()
	p.action = p.observed.Refuse(v1beta2.ReasonStorageMisconfigured, "invalid storage: correct it, or use spec.storage: "+why.Error())
	p.setStatus(nil)
	return r.Client.Status().Update(ctx, p.object)
}

// recordEvents records an event for every action that took effect, and for every new wait or block.
func (r *Reconciler) recordEvents(ctx context.Context, p *restorePass, err error) {
	d := restore.Describe(p.action)
	if _, finished := p.action.(restore.Finish); finished && err == nil {
		reconcile.Warn(r.Recorder, p.object, d.Reason, p.Result.Warnings)
	}
	_, idle := p.action.(restore.Idle)
	reconcile.Record(ctx, r.Recorder, p.object, reconcile.Outcome{
		Action: d.Action, Reason: d.Reason, Message: d.Message, Warning: warns(p),
		New: restore.Mutates(p.action) || !idle && !reconcile.IsProgressing(p.before.Conditions, d.Reason, d.Message),
	}, err)
}

// warns reports whether the event is a Warning.
func warns(p *restorePass) bool {
	switch a := p.action.(type) {
	case restore.Blocked, restore.Retry, restore.Fail:
		return true
	case restore.Wait:
		return a.Reason == v1beta2.ReasonRestoreContinues
	case restore.Enter:
		return a.Of != "" && p.observed.Cluster.Held // what is there is replaced by what it never was
	case restore.Replace:
		return a.Unsaved != ""
	case restore.Succeed:
		return a.Unsaved && len(a.Kept) > 0
	default:
		return false
	}
}
