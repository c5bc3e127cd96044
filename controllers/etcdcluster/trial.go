package etcdcluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// accepted reports whether the API server would accept the update that the action carries out or prepares for. If not, nothing of the
// action is done: the member stays as it is.
// It is asked at each step of an update, a few requests for each: a quota may be used up, or a policy changed, since the step before.
func (r *Reconciler) accepted(ctx context.Context, p *pass) (bool, error) {
	trial := plan.Trial(p.action, p.assessment)
	target := plan.TargetOfUpdate(trial)
	if target == (plan.Target{}) {
		return true, nil
	}
	err := r.dryRun(ctx, p, trial)
	if message, refused := r.refusalOf(ctx, p, err); refused {
		r.refuse(p, target, message)
		return false, nil
	} else if err != nil {
		return false, err
	}
	r.refusals.done(p.key(), target)
	return true, nil
}

// dryRun asks for every write of an update: one that is refused only once the others have taken effect would have the update prepared
// for, and called off, in turns.
func (r *Reconciler) dryRun(ctx context.Context, p *pass, update plan.Action) error {
	if err := r.dryRunPod(ctx, p, update); err != nil && !cannotTry(err) {
		return err
	}
	for _, effect := range plan.Effects(update, p.observed) {
		var err error
		switch e := effect.(type) {
		case plan.MarkVolume:
			err = r.markVolume(ctx, p, e, client.DryRunAll)
		case plan.ChangeImage:
			err = r.changeImage(ctx, p, e, client.DryRunAll)
		case plan.DeletePod:
			err = reconcile.DeleteExact(ctx, client.NewDryRunClient(r.Client), &corev1.Pod{}, p.cluster.Namespace, e.Name, e.UID)
		default: // no update has others
		}
		if err != nil && !cannotTry(err) {
			return err
		}
	}
	return nil
}

// dryRunPod checks by a dry run that the API server would accept a pod that is as the update leaves it, under another name: the present
// one has its own. That matters for a change in place, too: the pod may be lost later, and has to be created like that, from the
// previous spec if need be.
func (r *Reconciler) dryRunPod(ctx context.Context, p *pass, update plan.Action) error {
	switch a := update.(type) {
	case plan.Recreate:
		return r.dryRunNew(ctx, p, p.cluster, plan.NewPod{Name: a.Name, Version: a.Version, Persistent: true, Transport: p.transport.Served()})
	case plan.SetImage:
		pod := p.pods[a.Name]
		again := plan.NewPod{Name: a.Name, Version: a.Version, Persistent: resources.PodPersistent(pod), Transport: resources.PodTransport(pod)}
		err := r.dryRunNew(ctx, p, p.cluster, again)
		if err != nil && p.previousSpec != nil && r.dryRunNew(ctx, p, p.previousSpec, again) == nil {
			return nil
		}
		return err
	default:
		return nil
	}
}

func (r *Reconciler) dryRunNew(ctx context.Context, p *pass, spec *v1beta2.EtcdCluster, again plan.NewPod) error {
	pod, err := resources.Pod(spec, again.Name, 0, nil, r.optionsFor(p, again))
	if err != nil {
		return err
	}
	wanted := pod.DeepCopy()
	pod.Name += "-try"
	err = r.Client.Create(ctx, pod, client.DryRunAll)
	switch {
	case reconcile.Exists(err): // somebody's pod has that name
		return nil
	case exceedsQuota(err) && asksNoMore(wanted, p.pods[again.Name]): // there is room once the present pod is gone
		return nil
	case err != nil:
		return fmt.Errorf("try to create Pod %s: %w", again.Name, err)
	}
	return nil
}

func exceedsQuota(err error) bool {
	return apierrors.IsForbidden(err) && !reconcile.Denied(err) && strings.Contains(err.Error(), "exceeded quota: ")
}

// cannotTry reports whether a dry run failed only because a webhook declares side effects, so that it cannot be asked.
func cannotTry(err error) bool {
	return apierrors.IsBadRequest(err) && !reconcile.Denied(err) && strings.Contains(err.Error(), "does not support dry run")
}

// asksNoMore reports whether a new pod asks for no more than the present one, so that it fits into whatever quota that one fits into.
// What the API server fills in counts for the present one only.
func asksNoMore(wanted, present *corev1.Pod) bool {
	if present == nil || wanted.Spec.PriorityClassName != "" && wanted.Spec.PriorityClassName != present.Spec.PriorityClassName {
		return false
	}
	have := slices.Concat(present.Spec.InitContainers, present.Spec.Containers)
	for _, c := range slices.Concat(wanted.Spec.InitContainers, wanted.Spec.Containers) {
		i := slices.IndexFunc(have, func(p corev1.Container) bool { return p.Name == c.Name })
		if i < 0 || !within(c.Resources.Limits, have[i].Resources.Limits) ||
			!within(requested(c.Resources), have[i].Resources.Requests) {
			return false
		}
	}
	return true
}

// requested are a container's requests: what is only limited is requested in full.
func requested(r corev1.ResourceRequirements) corev1.ResourceList {
	all := r.Limits.DeepCopy()
	if all == nil {
		all = corev1.ResourceList{}
	}
	for name, quantity := range r.Requests {
		all[name] = quantity
	}
	return all
}

func within(want, have corev1.ResourceList) bool {
	for name, quantity := range want {
		if there, ok := have[name]; !ok || quantity.Cmp(there) > 0 {
			return false
		}
	}
	return true
}
