package agentpod

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestTrimAgentPod checks that what is said of an agent's pod is known of the trimmed one.
func TestTrimAgentPod(t *testing.T) {
	pod, err := resources.AgentPod{
		Namespace: "n", Name: "b-1", Labels: map[string]string{resources.LabelBackup: "b"}, Image: "operator",
	}.Pod()
	if err != nil {
		t.Fatal(err)
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "the node was low on memory"}
	whole, _ := agentOf(pod)
	small := controllertest.Trimmed(t, pod)
	if got, _ := agentOf(small); !reflect.DeepEqual(got, whole) || got.Problem == "" {
		t.Errorf("trimmed: %+v\nwhole: %+v", got, whole)
	}
	if len(small.Spec.Containers) > 0 {
		t.Errorf("left: %+v", small.Spec)
	}
}
