package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/agent"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// agentPods are the pods that work for an EtcdBackup or an EtcdRestore.
type agentPods struct {
	// pod is that of the try under way, and seen what matters of it; nil if there is none.
	pod  *corev1.Pod
	seen *retry.Pod
	// result is what it has left, nil if nothing.
	result *agent.Result
	// strays are the other pods, of tries that are over.
	strays []retry.Pod
}

// agentLabels lead to the pods of an object, and have the cache hold them. A label has less room than a name.
func agentLabels(label string, owner client.Object) map[string]string {
	name := owner.GetName()
	if len(name) > validation.LabelValueMaxLength {
		name = string(owner.GetUID())
	}
	return map[string]string{resources.LabelApp: resources.AppValue, label: name}
}

// agentPodOf is what every pod of an object has, whatever it is to do.
func agentPodOf(owner client.Object, kind, label string) resources.AgentPod {
	return resources.AgentPod{
		Namespace: owner.GetNamespace(), Labels: agentLabels(label, owner), Task: agent.Task{Writer: writerOf(owner, kind)},
		Owner: *metav1.NewControllerRef(owner, v1beta2.GroupVersion.WithKind(kind)),
	}
}

// writerOf is who asks for what an agent does.
func writerOf(owner client.Object, kind string) snapshot.Writer {
	return snapshot.Writer{
		Kind: kind, Namespace: owner.GetNamespace(), Name: owner.GetName(), UID: string(owner.GetUID()),
	}
}

// observeAgents reads the pods of this very object, not of an earlier one of the same name. The run is the one under way,
// nil if none is.
func observeAgents(ctx context.Context, reader client.Reader, owner client.Object, label string, run *v1beta2.AgentRun) (
	a agentPods, err error,
) {
	pods := &corev1.PodList{}
	err = reader.List(ctx, pods, client.InNamespace(owner.GetNamespace()), client.MatchingLabels(agentLabels(label, owner)))
	if err != nil {
		return a, fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !metav1.IsControlledBy(pod, owner) {
			continue
		}
		seen, result := agentOf(pod)
		if run == nil || run.Pod != pod.Name {
			a.strays = append(a.strays, seen)
			continue
		}
		a.pod, a.seen, a.result = pod, &seen, result
	}
	return a, nil
}

// nameTaken says why a try cannot have its pod: another one has its name. It is nil if that is the pod that is wanted, which
// an earlier pass made and could not say so, or if the name is free by now: whoever looks again sees which.
func nameTaken(ctx context.Context, live client.Reader, owner client.Object, wanted *corev1.Pod) (*retry.Problem, error) {
	pod := &corev1.Pod{}
	if err := live.Get(ctx, client.ObjectKeyFromObject(wanted), pod); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	kind := wanted.OwnerReferences[0].Kind
	holder := "nobody"
	if ref := metav1.GetControllerOf(pod); ref != nil {
		holder = ref.Kind + " " + ref.Name
	}
	switch {
	case !metav1.IsControlledBy(pod, owner):
		return &retry.Problem{Reason: v1beta2.ReasonNameTaken, Message: fmt.Sprintf(
			"Pod %s belongs to %s, and %s %s needs that name: delete it, or give the %s another name",
			pod.Name, holder, kind, owner.GetName(), kind)}, nil
	case !found(pod, wanted):
		return &retry.Problem{Reason: v1beta2.ReasonNameTaken, Message: fmt.Sprintf(
			"Pod %s has lost the labels that it is found by: delete it", pod.Name)}, nil
	}
	return nil, nil
}

// reservedIn refuses labels and annotations that the operator itself goes by: they would make a member of the pod. The schema
// refuses them too, but not of objects that are older than that.
func reservedIn(pod *v1beta2.AgentPodPolicy) *retry.Problem {
	if pod == nil {
		return nil
	}
	key := resources.Reserved(pod.Labels, pod.Annotations)
	if key == "" {
		return nil
	}
	return &retry.Problem{
		Reason:  v1beta2.ReasonInvalidPod,
		Message: "spec.pod.labels and annotations: the key " + key + " is the operator's own: remove it",
	}
}

// podRefused says why Kubernetes does not take a pod as spec.pod has it, or not in this namespace: a quota, a policy, or a
// field that is not valid. It is nil if it failed for another reason, such as that the namespace is going away.
func podRefused(err error) *retry.Problem {
	refused := apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
	if !refused || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return &retry.Problem{
		Reason: v1beta2.ReasonPodCannotStart, Message: "Kubernetes does not take the pod: " + err.Error(),
	}
}

// found tells whether the pod has the labels that lead to it.
func found(pod, wanted *corev1.Pod) bool {
	for _, key := range []string{resources.LabelApp, resources.LabelBackup, resources.LabelRestore} {
		if pod.Labels[key] != wanted.Labels[key] {
			return false
		}
	}
	return true
}

// agentOf reads what matters of a pod, and what it has left, nil if nothing.
func agentOf(pod *corev1.Pod) (retry.Pod, *agent.Result) {
	phase := phaseOf(pod)
	seen := retry.Pod{
		Name: pod.Name, UID: string(pod.UID), Created: pod.CreationTimestamp.Time,
		Running: phase == plan.Running, Ended: phase == plan.Terminal, Problem: resources.AgentProblem(pod),
	}
	if pod.DeletionTimestamp != nil {
		seen.Deleting, seen.Deadline = true, pod.DeletionTimestamp.Time
	}
	result, ok := resources.AgentResult(pod)
	if !ok {
		return seen, nil
	}
	seen.Result = &retry.Result{}
	if f := result.Failure; f != nil {
		seen.Result.Failure = &retry.Problem{Reason: status.Reason(f.Reason), Message: f.Message}
		seen.Result.Hopeless = f.Lasting
	}
	return seen, &result
}
