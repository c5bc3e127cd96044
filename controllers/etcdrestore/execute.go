package etcdrestore

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan/restore"
	"github.com/etcdpilot/etcd-operator/internal/resources"
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

// createPod creates the pod of an attempt. If the API server rejects it, or its name is taken, the attempt has failed: the next
// one has another name.
func (r *Reconciler) createPod(ctx context.Context, p *restorePass) error {
	pod, err := r.agentPod(p)
	if err != nil {
		return err
	}
	err = r.Client.Create(ctx, pod, client.FieldOwner(resources.FieldOwner))
	if reconcile.Exists(err) {
		taken, getErr := agentpod.NameTaken(ctx, r.Live, p.object, pod)
		if getErr != nil {
			return fmt.Errorf("read Pod %s: %w", pod.Name, getErr)
		}
		if taken != nil {
			p.action = p.observed.Refused(*taken)
			return nil
		}
	}
	if refused := agentpod.Refused(err); refused != nil {
		p.action = p.observed.Refused(*refused)
		return nil
	}
	if err != nil {
		return fmt.Errorf("create Pod %s: %w", pod.Name, err)
	}
	return nil
}
