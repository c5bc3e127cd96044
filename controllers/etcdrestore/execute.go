package etcdrestore

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan/restore"
)

// execute carries out the one action of this pass. Changes of status take effect with the status write at its end, a
// compare-and-swap on the version that was read. The linter requires every action to be in the list.
func (r *Reconciler) execute(ctx context.Context, p *restorePass) error {
	switch a := p.action.(type) {
	// These consist of the status write alone.
	case restore.Idle, restore.Wait, restore.Blocked, restore.Enter, restore.Pin, restore.Start, restore.ResetTimer,
		restore.Retry, restore.Finish, restore.Replace, restore.SaveAgain, restore.Succeed, restore.Fail:
	case restore.CreatePod:
		return r.createPod(ctx, p)
	case restore.DeletePod:
		return reconcile.DeleteExact(ctx, r.Client, &corev1.Pod{}, p.object.Namespace, a.Name, a.UID)
	case restore.AddFinalizer:
		return reconcile.AddFinalizer(ctx, r.Client, p.object, restoreFinalizer)
	case restore.RemoveFinalizer:
		return reconcile.RemoveFinalizer(ctx, r.Client, p.object, restoreFinalizer)
	}
	return nil
}

// createPod creates the pod of an attempt. If there can be no such pod, the attempt has failed.
func (r *Reconciler) createPod(ctx context.Context, p *restorePass) error {
	pod, err := r.agentPod(p)
	if err != nil {
		return fmt.Errorf("build the pod: %w", err)
	}
	problem, err := agentpod.Create(ctx, r.Client, r.Live, p.object, pod)
	if problem != nil {
		p.action = p.observed.Refused(*problem)
	}
	return err
}
