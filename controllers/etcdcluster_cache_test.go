package controllers

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestTrimPod checks that an observation of a trimmed pod is that of the whole one.
func TestTrimPod(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c", UID: "u"}}
	options := resources.PodOptions{OperatorImage: "operator", EtcdVersion: "3.6.16", Persistent: true}
	permit := &member.Permit{Mode: member.ModeResume, ClusterID: 1, MemberID: 2}
	pod, err := resources.Pod(c, "c-0", 1, permit, options)
	if err != nil {
		t.Fatal(err)
	}
	pod.UID, pod.Spec.NodeName, pod.Labels[resources.LabelServing] = "p", "node", "true"
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
	pod.Spec.Containers = append([]corev1.Container{{Name: "injected", Image: "mesh:v9"}}, pod.Spec.Containers...)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.0.0.1",
		Conditions: []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Unix(1, 0)),
		}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: resources.EtcdContainer, ContainerID: "id"}},
	}
	revision, err := resources.RevisionOf(c, options)
	if err != nil {
		t.Fatal(err)
	}
	whole, drift := podOf(pod), revision.Drift(pod, "")
	trimmed, err := TrimPod(pod.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	small, ok := trimmed.(*corev1.Pod)
	if !ok {
		t.Fatalf("a pod becomes %T", trimmed)
	}
	if got := podOf(small); !reflect.DeepEqual(got, whole) {
		t.Errorf("trimmed: %+v\nwhole: %+v", got, whole)
	}
	if got := revision.Drift(small, ""); got != drift {
		t.Errorf("drift of the trimmed pod: %+v, of the whole: %+v", got, drift)
	}
	if small.Size() > pod.Size()*2/3 {
		t.Errorf("of %d bytes %d are left", pod.Size(), small.Size())
	}
}
