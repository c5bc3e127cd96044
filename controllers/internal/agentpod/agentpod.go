// Package agentpod builds and observes the pods that move backups for EtcdBackups and EtcdRestores.
package agentpod

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/status"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Pods are the pods that work for an EtcdBackup or an EtcdRestore.
type Pods struct {
	// Pod is that of the current attempt, and Seen what matters of it; nil if there is none.
	Pod  *corev1.Pod
	Seen *retry.Pod
	// Result is what it has left, nil if nothing.
	Result *task.Result
	// Orphaned are the other pods, of attempts that have ended.
	Orphaned []retry.Pod
}

// agentLabels select the pods of an object, and have the cache hold them. A label value may be shorter than a name.
func agentLabels(label string, owner client.Object) map[string]string {
	name := owner.GetName()
	if len(name) > validation.LabelValueMaxLength {
		name = string(owner.GetUID())
	}
	return map[string]string{resources.LabelApp: resources.AppValue, label: name}
}

// Base is what all pods of an object have in common.
func Base(owner client.Object, kind, label string) resources.AgentPod {
	return resources.AgentPod{
		Namespace: owner.GetNamespace(), Labels: agentLabels(label, owner), Task: task.Task{Writer: Writer(owner, kind)},
		Owner: *metav1.NewControllerRef(owner, v1beta2.GroupVersion.WithKind(kind)),
	}
}

// Writer identifies the object that an agent works for.
func Writer(owner client.Object, kind string) task.Writer {
	return task.Writer{
		Kind: kind, Namespace: owner.GetNamespace(), Name: owner.GetName(), UID: string(owner.GetUID()),
	}
}

// Observe reads the pods of this very object, not of an earlier one of the same name. The run is the current one, nil if there is
// none.
func Observe(ctx context.Context, reader client.Reader, owner client.Object, label string, run *v1beta2.AgentRun) (
	a Pods, err error,
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
			a.Orphaned = append(a.Orphaned, seen)
			continue
		}
		a.Pod, a.Seen, a.Result = pod, &seen, result
	}
	return a, nil
}

// Reserved refuses labels and annotations that the operator itself relies on: they would make the pod look like a member. The
// schema refuses them too, but not in objects that are older than that rule.
func Reserved(pod *v1beta2.AgentPodPolicy) *failure.Problem {
	if pod == nil {
		return nil
	}
	key := resources.Reserved(pod.Labels, pod.Annotations)
	if key == "" {
		return nil
	}
	return &failure.Problem{
		Reason:  v1beta2.ReasonInvalidPod,
		Message: "spec.pod.labels and annotations: the key " + key + " is the operator's own: remove it",
	}
}

// agentOf reads what matters of a pod, and what it has left, nil if nothing.
func agentOf(pod *corev1.Pod) (retry.Pod, *task.Result) {
	phase := pod.Status.Phase
	seen := retry.Pod{
		Name: pod.Name, UID: string(pod.UID), Created: pod.CreationTimestamp.Time,
		Running: phase == corev1.PodRunning, Ended: phase == corev1.PodSucceeded || phase == corev1.PodFailed, Problem: resources.AgentProblem(pod),
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
		seen.Result.Failure = &failure.Problem{Reason: status.Reason(f.Reason), Message: f.Message, Terminal: f.Terminal}
	}
	return seen, &result
}
