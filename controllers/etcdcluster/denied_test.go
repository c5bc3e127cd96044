package etcdcluster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
)

// deniedPod has a policy deny one of three pods, and ends it: the others are created, Degraded says who denies the third, and that one is
// created within 30 seconds.
func (e *env) deniedPod(t *testing.T) {
	end := controllertest.DenyPods(t, e.Client, "no-denied-1", "object.metadata.?name.orValue('') != 'denied-1'")
	await(t, "the policy", func() error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "denied-1"}}
		pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
		if err := e.Create(t.Context(), pod, client.DryRunAll); err == nil {
			return fmt.Errorf("it is not in force")
		}
		return nil
	})
	e.cluster(t, "denied", v1beta2.EtcdClusterSpec{Size: 3})
	const words = "the API server refuses to create Pod denied-1: pods \"denied-1\" is forbidden: ValidatingAdmissionPolicy 'no-denied-1'"
	await(t, "Degraded", func() error {
		got := meta.FindStatusCondition(e.read(t, "denied").Status.Conditions, v1beta2.ConditionDegraded)
		if got == nil || got.Reason != v1beta2.ReasonWriteRefused || !strings.Contains(got.Message, words) {
			return fmt.Errorf("it is %+v", got)
		}
		return nil
	})
	for _, pod := range e.podsOf(t, "denied", 2) {
		if pod.Name == "denied-1" {
			t.Error("it is there")
		}
	}
	ended := time.Now()
	end()
	e.podsOf(t, "denied", 3)
	if took := time.Since(ended); took > 35*time.Second {
		t.Errorf("the pod is there after %s", took)
	}
}
