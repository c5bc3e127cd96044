package resources

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

// AgentResult reads the result of the pod's container; ok is false if it left none that can be read, or is still running.
func AgentResult(pod *corev1.Pod) (task.Result, bool) {
	return InitResult(agentStatus(pod))
}

// InitResult is AgentResult for a container of restoreContainer, which is started again after a failure.
func InitResult(status corev1.ContainerStatus) (task.Result, bool) {
	ended := status.State.Terminated
	if ended == nil && status.State.Waiting != nil {
		ended = status.LastTerminationState.Terminated
	}
	if ended == nil {
		return task.Result{}, false
	}
	return task.ParseResult(ended.Message, ended.ExitCode)
}

func agentStatus(pod *corev1.Pod) corev1.ContainerStatus {
	i := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == AgentContainer })
	if i < 0 {
		return corev1.ContainerStatus{}
	}
	return pod.Status.ContainerStatuses[i]
}

// starting are the reasons of a waiting container that pass by themselves.
var starting = []string{"", "ContainerCreating", "PodInitializing"}

// oomKilled is the reason of a container that ran out of memory.
const oomKilled = "OOMKilled"

// AgentProblem says why the pod does not run, or how it failed, and what to do if that is known. It is empty if nothing is known,
// or if the agent has left a Result.
func AgentProblem(pod *corev1.Pod) string {
	if _, ok := AgentResult(pod); ok {
		return ""
	}
	status := agentStatus(pod)
	waiting, ended := status.State.Waiting, status.State.Terminated
	switch {
	case pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "": // evicted, over its deadline, its node gone
		return fmt.Sprintf("the pod failed: %s: %s", pod.Status.Reason, pod.Status.Message)
	case ended != nil && ended.Reason == oomKilled:
		return "the pod ran out of memory (OOMKilled): raise spec.pod.resources.limits.memory, which a restore needs for all keys"
	case ended != nil:
		return fmt.Sprintf("the container exited with code %d and left no result: %s", ended.ExitCode,
			cmp.Or(panicOf(ended.Message), ended.Reason, "check its log"))
	case waiting != nil && !slices.Contains(starting, waiting.Reason):
		return fmt.Sprintf("the pod does not start: %s: %s", waiting.Reason, waiting.Message)
	}
	return scheduling(pod)
}

// panicOf is the line of a log with the panic of a Go program.
func panicOf(log string) string {
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// scheduling says why the pod cannot be scheduled, or why it was evicted.
func scheduling(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		switch {
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable:
			return "the pod cannot be scheduled: " + c.Message
		case c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue:
			return fmt.Sprintf("the pod was evicted from its node: %s: %s", c.Reason, c.Message)
		}
	}
	return ""
}
