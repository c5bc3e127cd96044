package etcdcluster_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// callsOff wants a restore to come to nothing when it is deleted, when the snapshot cannot be restored, and when a later one is
// there; and the cluster to go back to its own members each time.
func (e *env) callsOff(t *testing.T) {
	e.cluster(t, "off", v1beta2.EtcdClusterSpec{Size: 3})
	e.podsOf(t, "off", 3)
	first := e.asks(t, "deleted")
	e.restoring(t, "off", first, 900)
	must(t, e.Delete(t.Context(), first))
	e.wentBack(t, "off", "deleted", v1beta2.ReasonRestoreCalledOff)
	e.podsOf(t, "off", 3)

	e.restoring(t, "off", e.asks(t, "damaged"), 900+task.RevisionBump)
	e.cannotRestore(t, "off")
	e.wentBack(t, "off", "damaged", v1beta2.ReasonSnapshotDamaged)
	e.podsOf(t, "off", 3)

	e.restoring(t, "off", e.asks(t, "older"), 900+2*task.RevisionBump)
	newer := e.asks(t, "younger") // if in the same second its name decides
	e.restoring(t, "off", newer, 900+3*task.RevisionBump)
	s := e.read(t, "off").Status
	if off := s.Restores[1].CalledOff; off == nil || off.Reason != v1beta2.ReasonRestoreSuperseded || s.Restores[1].Name != "older" {
		t.Errorf("the records are %+v", s.Restores)
	}
	if s.Bootstrap.Incarnation != 5 || s.Incarnations.Attempts != 2 || s.Former.Bootstrap.Incarnation != 1 {
		t.Errorf("the attempts are %+v, %+v, of %+v", s.Bootstrap, s.Incarnations, s.Former)
	}
	must(t, e.Delete(t.Context(), newer))
	e.wentBack(t, "off", "younger", v1beta2.ReasonRestoreCalledOff)
}

// asks makes an EtcdRestore of that cluster whose snapshot was verified.
func (e *env) asks(t *testing.T, name string) *v1beta2.EtcdRestore {
	t.Helper()
	restore := e.restoreOf("off", name)
	must(t, e.Create(t.Context(), restore))
	e.verified(t, restore)
	return restore
}

// cannotRestore has the init container of the restoring pod say that another attempt cannot go better.
func (e *env) cannotRestore(t *testing.T, cluster string) {
	t.Helper()
	pods := &corev1.PodList{}
	must(t, e.List(t.Context(), pods, client.InNamespace(namespace), client.MatchingLabels{"etcd_cluster": cluster}))
	i := slices.IndexFunc(pods.Items, func(p corev1.Pod) bool { return p.Annotations[resources.AnnotationRestore] != "" })
	words, err := task.Result{Failure: &failure.Problem{
		Reason: v1beta2.ReasonSnapshotDamaged, Message: "it has changed since", Terminal: true,
	}}.Encode()
	must(t, err)
	pod := &pods.Items[i]
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: resources.RestoreContainerName, Image: "operator",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: string(words)}},
	}}
	must(t, e.Status().Update(t.Context(), pod))
}

// wentBack wants status to tell again what it recorded before the restore.
func (e *env) wentBack(t *testing.T, cluster, restore, reason string) {
	t.Helper()
	await(t, "the end of "+restore, func() error {
		s := e.read(t, cluster).Status
		if s.Former != nil || len(s.Restores) == 0 || s.Restores[0].Name != restore || s.Restores[0].CalledOff == nil ||
			s.Restores[0].CalledOff.Reason != reason || s.Bootstrap == nil || s.Bootstrap.Restore != "" {
			return fmt.Errorf("status %+v, %+v, %+v", s.Restores, s.Bootstrap, s.Former)
		}
		return nil
	})
}
