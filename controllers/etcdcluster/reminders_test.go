package etcdcluster_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestKubeletMissesPermit holds that a pod whose kubelet has missed that it got a permit is changed again soon, and then less and less
// often, and that nobody is reminded of a pod that answers.
func TestKubeletMissesPermit(t *testing.T) {
	w := newIdleWorld(t)
	clock := clocktesting.NewFakeClock(time.Now().Add(time.Hour))
	w.operator.Clock = clock
	name := types.NamespacedName{Namespace: namespace, Name: "missed"}
	w.cluster(t, name)
	missing := client.ObjectKey{Namespace: namespace, Name: "missed-1"}
	permitted, reminded := time.Time{}, []time.Duration{}
	for permitted.IsZero() || clock.Since(permitted) < 3*time.Minute {
		result, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
		pod := &corev1.Pod{}
		if w.api.Get(t.Context(), missing, pod) == nil && pod.Annotations[member.PermitAnnotation] != "" {
			if permitted.IsZero() {
				permitted = clock.Now()
			}
			at, err := time.Parse(time.RFC3339Nano, pod.Annotations[resources.AnnotationReminded])
			if err == nil && at.Equal(clock.Now()) {
				reminded = append(reminded, at.Sub(permitted).Round(time.Second))
			}
		}
		w.kubelet(t, missing.Name)
		clock.Step(min(max(result.RequeueAfter, 10*time.Millisecond), time.Second))
	}
	want := []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second}
	if len(reminded) != len(want) {
		t.Fatalf("reminded after %v, want %v", reminded, want)
	}
	for i := range want {
		if late := reminded[i] - want[i]; late < 0 || late > time.Duration(i+1)*time.Second {
			t.Errorf("reminded after %v, want %v", reminded, want)
		}
	}
	for _, other := range []string{"missed-0", "missed-2"} {
		pod := &corev1.Pod{}
		must(t, w.api.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: other}, pod))
		if at := pod.Annotations[resources.AnnotationReminded]; at != "" {
			t.Errorf("the kubelet of %s, which answers, was reminded at %s", other, at)
		}
	}
}
