package agentpod

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// Create creates the pod of an attempt. The problem says why there can be no such pod: the attempt has failed.
func Create(ctx context.Context, c client.Client, live client.Reader, owner client.Object, pod *corev1.Pod) (*failure.Problem, error) {
	err := c.Create(ctx, pod, client.FieldOwner(resources.FieldOwner))
	if reconcile.Exists(err) {
		taken, getErr := nameTaken(ctx, live, owner, pod)
		if getErr != nil {
			return nil, fmt.Errorf("read Pod %s: %w", pod.Name, getErr)
		}
		if taken != nil {
			return taken, nil
		}
	}
	if problem := refusal(err); problem != nil {
		return problem, nil
	}
	if err != nil {
		return nil, fmt.Errorf("create Pod %s: %w", pod.Name, err)
	}
	return nil, nil
}

// nameTaken says why the pod of an attempt cannot be created: another pod has its name. It is nil if that is the wanted pod, which
// an earlier pass created without recording it, or if the name is free by now: the next pass sees which.
func nameTaken(ctx context.Context, live client.Reader, owner client.Object, wanted *corev1.Pod) (*failure.Problem, error) {
	pod := &corev1.Pod{}
	if err := live.Get(ctx, client.ObjectKeyFromObject(wanted), pod); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	kind := wanted.OwnerReferences[0].Kind
	switch {
	case !metav1.IsControlledBy(pod, owner):
		return &failure.Problem{Reason: v1beta2.ReasonNameTaken, Message: fmt.Sprintf(
			"Pod %s belongs to %s, and %s %s needs that name: delete it, or give the %s another name",
			pod.Name, reconcile.HolderOf(pod), kind, owner.GetName(), kind)}, nil
	case !found(pod, wanted):
		return &failure.Problem{Reason: v1beta2.ReasonNameTaken, Message: fmt.Sprintf(
			"Pod %s has lost the labels that the operator finds it by: delete it", pod.Name)}, nil
	}
	return nil, nil
}

// refusal says why the API server rejects a pod with this spec.pod, or in this namespace: a quota, a policy, a webhook, or an invalid
// field. It is nil if the request failed for another reason, such as that the namespace is being deleted, that the API server has just started, or that
// a webhook is not reached: that ends by itself, and a restore has few attempts.
func refusal(err error) *failure.Problem {
	if !reconcile.Refused(err) || outage.Starting(err) || apierrors.IsInternalError(err) && !reconcile.Denied(err) {
		return nil
	}
	return &failure.Problem{
		Reason: v1beta2.ReasonPodCannotStart, Message: "the API server rejects the pod: " + err.Error(),
	}
}

// found reports whether the pod has the labels that select it.
func found(pod, wanted *corev1.Pod) bool {
	for _, key := range []string{resources.LabelApp, resources.LabelBackup, resources.LabelRestore} {
		if pod.Labels[key] != wanted.Labels[key] {
			return false
		}
	}
	return true
}
