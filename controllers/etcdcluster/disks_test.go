package etcdcluster_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// A leader with a slow disk is looked at again soon, silently, until it is sure; then it hands over, once.
func TestSlowDiskDoesNotLead(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "slow"}
	w.cluster(t, name)
	pass := func() time.Duration {
		result, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
		return result.RequeueAfter
	}
	for pass() < time.Minute {
		w.kubelet(t)
	}
	w.makeReady(t)
	leader := w.leads()
	for pod, server := range w.servers {
		server.flush.Store(int64(time.Millisecond))
		server.read.Store(int64(300 * time.Millisecond))
		if pod == leader {
			server.flush.Store(int64(300 * time.Millisecond))
		}
	}
	pass() // it notes that the pods are Ready

	limit := time.After(time.Minute)
	for w.leads() == leader {
		select {
		case <-limit:
			t.Fatalf("%s leads as ever; events: %s", leader, w.recordedEvents())
		case <-time.After(pass()):
		}
	}
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), name, c))
	if moved := c.Status.LeaderMoved; moved == nil || moved.Member != leader || moved.MoveTime.IsZero() {
		t.Errorf("leaderMoved is %+v, want %s", moved, leader)
	}
	if recorded := w.recordedEvents(); !strings.Contains(recorded, v1beta2.ReasonDiskSlow) || strings.Count(recorded, leader+" is slow") != 1 {
		t.Errorf("events: %s", recorded)
	}
}

// leads is the pod of the member that leads.
func (w *idleWorld) leads() string {
	to := uint64(0)
	for _, s := range w.servers {
		to = max(to, s.moved.Load())
	}
	for _, s := range w.servers {
		s.moved.Store(to) // they do not talk
	}
	for pod, s := range w.servers {
		if s.header.GetMemberId() == s.leader() {
			return pod
		}
	}
	return ""
}

// recordedEvents are the events since the last time, a line each.
func (w *idleWorld) recordedEvents() string {
	var out strings.Builder
	for len(w.recorder.Events) > 0 {
		fmt.Fprintln(&out, <-w.recorder.Events)
	}
	return out.String()
}

// makeReady makes the pods Ready, and lets their servers tell their metrics.
func (w *idleWorld) makeReady(t *testing.T) {
	t.Helper()
	pods := &corev1.PodList{}
	must(t, w.api.List(t.Context(), pods))
	for i := range pods.Items {
		pod := &pods.Items[i]
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		must(t, w.api.Status().Update(t.Context(), pod))
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("%s:%d", pod.Status.PodIP, member.MetricsPort))
		must(t, err)
		server := &http.Server{Handler: w.servers[pod.Name], ReadHeaderTimeout: time.Second}
		go func() { _ = server.Serve(l) }() // it ends with Close
		t.Cleanup(func() { _ = server.Close() })
	}
}
