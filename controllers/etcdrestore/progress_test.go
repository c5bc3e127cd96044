package etcdrestore

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// TestTrimMemberPod checks that the progress of a member's restore can be read from a trimmed pod.
func TestTrimMemberPod(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: resources.RestoreContainerName, RestartCount: 3,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(time.Unix(1, 0))}},
	}}
	if got, want := memberRestoreOf(controllertest.Trimmed(t, pod)), memberRestoreOf(pod); !reflect.DeepEqual(got, want) || got.Attempt != 4 {
		t.Errorf("the restore of the trimmed pod: %+v, of the whole: %+v", got, want)
	}
}
