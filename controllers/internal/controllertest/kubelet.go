package controllertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Kubelet says of agents' pods what a kubelet would say.
type Kubelet struct{ client.Client }

// Runs is for a pod whose container runs.
func (k Kubelet) Runs(t *testing.T, pod *corev1.Pod, ip string) {
	t.Helper()
	pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, ip
	pod.Status.PodIPs = []corev1.PodIP{{IP: ip}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "agent", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}
	Must(t, k.Status().Update(t.Context(), pod))
}

// Ends is for a pod whose agent has ended with this result.
func (k Kubelet) Ends(t *testing.T, pod *corev1.Pod, result task.Result) {
	t.Helper()
	message, err := json.Marshal(result)
	Must(t, err)
	state := corev1.ContainerStateTerminated{Reason: "Completed", Message: string(message)}
	if result.Failure != nil {
		state.Reason, state.ExitCode = "Error", 1
	}
	k.Dies(t, pod, state)
}

// Dies is for a pod whose container has ended in some way.
func (k Kubelet) Dies(t *testing.T, pod *corev1.Pod, state corev1.ContainerStateTerminated) {
	t.Helper()
	pod.Status.Phase = corev1.PodSucceeded
	if state.ExitCode != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "agent", Image: "operator:test", State: corev1.ContainerState{Terminated: &state},
	}}
	Must(t, k.Status().Update(t.Context(), pod))
}

// ServeProgress says what an agent says, on an address of its own, until the test ends.
func ServeProgress(t *testing.T, ip string, progress task.Progress) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("%s:%d", ip, task.ProgressPort))
	Must(t, err)
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == task.ProgressPath {
				_ = json.NewEncoder(w).Encode(progress)
			}
		})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		Must(t, server.Close())
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}
