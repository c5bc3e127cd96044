package etcdrestore

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan/restore"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// execute carries out the one action of this pass. What goes into status takes effect with the status write at its end,
// which is a compare-and-swap on the version that was read.
func (r *EtcdRestoreReconciler) execute(ctx context.Context, p *restorePass) error {
	switch a := p.action.(type) {
	case restore.Idle, restore.Wait, restore.Blocked:
		return nil
	case restore.CreatePod:
		return r.createPod(ctx, p)
	case restore.DeletePod:
		return reconcile.DeleteExact(ctx, r.Client, &corev1.Pod{}, p.object.Namespace, a.Name, a.UID)
	case restore.AddFinalizer:
		return reconcile.AddFinalizer(ctx, r.Client, p.object, restoreFinalizer)
	case restore.RemoveFinalizer:
		return reconcile.RemoveFinalizer(ctx, r.Client, p.object, restoreFinalizer)
	default:
		return note(p, a)
	}
}

// note puts an action into status.
func note(p *restorePass, action restore.Action) error {
	s, now := &p.object.Status, metav1.NewTime(p.observed.Now)
	switch a := action.(type) {
	case restore.Enter:
		s.Phase = a.Phase
		pin(p)
	case restore.Pin:
		pin(p)
	case restore.Start:
		s.Source = p.source
		s.Run = &v1beta2.AgentRun{
			Attempt: int32(a.Run.Attempt), //nolint:gosec // counts a few tries from 1
			Started: now, Pod: restorePodName(p.object, a.Run.Attempt),
		}
	case restore.Recount:
		s.Run.Started = now
	case restore.Retry:
		after := metav1.NewTime(a.After)
		s.Run.RetryAfter, s.Run.Step, s.Run.Bytes = &after, "", 0
	case restore.Finish:
		keepResult(p)
	case restore.Replace:
		s.Phase, s.Run, s.ClusterID = v1beta2.RestoreReplacing, nil, p.cluster.Status.ClusterID
		if a.Keep {
			s.Unsaved = a.Unsaved
		}
	case restore.SaveAgain:
		s.Phase, s.SafetySnapshot, s.ClusterID, s.Unsaved = v1beta2.RestoreSaving, nil, "", ""
	case restore.Succeed:
		s.Phase, s.Run, s.CompletedAt, s.Succeeded = v1beta2.RestoreSucceeded, nil, &now, true
	case restore.Fail:
		s.Phase, s.Run, s.CompletedAt = v1beta2.RestoreFailed, nil, &now
	default:
		return fmt.Errorf("action %T is not known", a)
	}
	return nil
}

// pin notes which EtcdCluster it is, once there is one.
func pin(p *restorePass) {
	if s := &p.object.Status; p.cluster != nil && s.ClusterUID == "" {
		s.ClusterUID = string(p.cluster.UID)
	}
}

// keepResult writes down which snapshot the pod has checked or taken.
func keepResult(p *restorePass) {
	s := &p.object.Status
	s.Run = nil
	if s.Phase == v1beta2.RestoreSaving {
		s.SafetySnapshot = p.Result.Snapshot
		return
	}
	s.Snapshot = p.Result.Snapshot
	s.Source.Object, s.Source.SHA256, s.Source.DataVersion = s.Snapshot.Name, s.Snapshot.SHA256, p.Result.DataVersion
	s.Source.Database = p.Result.Database
}

// createPod makes the pod of a try. One that Kubernetes does not take is a try that failed. So is a name that somebody else
// has: the next one has another.
func (r *EtcdRestoreReconciler) createPod(ctx context.Context, p *restorePass) error {
	pod, err := r.agentPod(p)
	if err != nil {
		return err
	}
	err = r.Client.Create(ctx, pod, client.FieldOwner(resources.FieldOwner))
	if apierrors.IsAlreadyExists(err) {
		taken, getErr := agentpod.NameTaken(ctx, r.Live, p.object, pod)
		if getErr != nil {
			return fmt.Errorf("read Pod %s: %w", pod.Name, getErr)
		}
		if taken != nil {
			p.action = p.observed.Refused(*taken)
			return note(p, p.action)
		}
	}
	if refused := agentpod.Refused(err); refused != nil {
		p.action = p.observed.Refused(*refused)
		return note(p, p.action)
	}
	if err != nil {
		return fmt.Errorf("create Pod %s: %w", pod.Name, err)
	}
	return nil
}
