package etcdcluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

var bucket = v1beta2.Storage{URL: "s3://bucket/etcd", CredentialsSecretRef: v1beta2.SecretRef{Name: "keys"}}

// fromSnapshot wants a cluster with restoreFrom to have its EtcdRestore made, and to start nothing before that says so.
func (e *env) fromSnapshot(t *testing.T) {
	storage := bucket
	e.cluster(t, "born", v1beta2.EtcdClusterSpec{
		Size: 3, RestoreFrom: &v1beta2.RestoreSource{Storage: &storage}, Pod: &v1beta2.PodPolicy{ServiceAccountName: "reader"},
	})
	restore := &v1beta2.EtcdRestore{}
	await(t, "the EtcdRestore", func() error {
		return e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "born-restore"}, restore)
	})
	if owner := metav1.GetControllerOf(restore); owner == nil || owner.Name != "born" ||
		restore.Spec.EtcdCluster.Name != "born" || *restore.Spec.Storage != bucket || restore.Spec.Pod.ServiceAccountName != "reader" {
		t.Errorf("the EtcdRestore is %+v", restore)
	}
	e.says(t, "born", v1beta2.ReasonWaitingForRestore, "born-restore")
	e.podsOf(t, "born", 0)
	e.verified(t, restore)
	e.restoring(t, "born", restore, 900) // the snapshot's own
}

// replacesData wants the pods of a cluster to go, and one to come that restores.
func (e *env) replacesData(t *testing.T) {
	e.cluster(t, "back", v1beta2.EtcdClusterSpec{Size: 3})
	e.podsOf(t, "back", 3)
	e.hasBeenUp(t, "back")
	restore := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "to-monday"},
		Spec: v1beta2.EtcdRestoreSpec{
			EtcdCluster: v1beta2.EtcdClusterRef{Name: "back"}, RestoreSource: v1beta2.RestoreSource{Storage: bucket.DeepCopy()},
		},
	}
	must(t, e.Create(t.Context(), restore))
	restore.Status.SafetySnapshot = controllertest.SnapshotOf("safe")
	restore.Status.SafetySnapshot.Revision, restore.Status.SafetySnapshot.Stale = 5500, true
	await(t, "a revision in status", func() error {
		c := e.read(t, "back")
		c.Status.Revision = 5000
		return e.Status().Update(t.Context(), c)
	})
	e.verified(t, restore)
	e.restoring(t, "back", restore, 6000) // what would not have been recorded yet
	if b := e.read(t, "back").Status.Bootstrap; b.Incarnation != 2 || slices.Contains(b.Members, "back-0") {
		t.Errorf("the record of the start is %+v", b)
	}
	if why := e.read(t, "back").Status.Restores[0].Unsaved; !strings.Contains(why, "may be stale") {
		t.Errorf("without a quorum what it holds is taken for saved: %q", why)
	}
	// Before that is up, and anyone could say how far it has come, another one takes its place.
	must(t, e.Get(t.Context(), client.ObjectKeyFromObject(restore), restore))
	restore.Status.Phase = v1beta2.RestoreFailed
	must(t, e.Status().Update(t.Context(), restore))
	second := &v1beta2.EtcdRestore{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "to-tuesday"}, Spec: restore.Spec}
	must(t, e.Create(t.Context(), second))
	e.verified(t, second)
	await(t, "another record", func() error {
		records := e.read(t, "back").Status.Restores
		if len(records) != 2 || records[0].Name != second.Name || records[0].RevisionFloor != 6000+task.RevisionBump ||
			records[0].Unsaved != records[1].Unsaved {
			return fmt.Errorf("the records are %+v", records)
		}
		return nil
	})
}

// verified says what the EtcdRestore controller would once the snapshot is.
func (e *env) verified(t *testing.T, restore *v1beta2.EtcdRestore) {
	t.Helper()
	c := e.read(t, restore.Spec.EtcdCluster.Name)
	restore.Status.Phase, restore.Status.ClusterUID = v1beta2.RestoreReplacing, string(c.UID)
	restore.Status.ClusterID = c.Status.ClusterID
	restore.Status.Source = &v1beta2.RestoredFrom{
		Storage: bucket, IdentitySecretRef: v1beta2.SecretRef{Name: "identity"}, Object: "snapshot", SHA256: "abc",
	}
	restore.Status.Snapshot = controllertest.SnapshotOf("snapshot")
	restore.Status.Snapshot.ClusterID, restore.Status.Snapshot.Revision = "c0ffee", 900
	must(t, e.Status().Update(t.Context(), restore))
}

// restoring wants one pod, which builds its data from the snapshot, above the revision that was seen, and may start from that
// alone.
func (e *env) restoring(t *testing.T, cluster string, restore *v1beta2.EtcdRestore, floor int64) {
	t.Helper()
	var pod corev1.Pod
	await(t, "the pod that restores", func() error {
		pods := &corev1.PodList{}
		must(t, e.List(t.Context(), pods, client.InNamespace(namespace), client.MatchingLabels{"etcd_cluster": cluster}))
		if len(pods.Items) != 1 || pods.Items[0].Annotations[resources.AnnotationRestore] != restore.Name {
			return fmt.Errorf("%d pods, status %+v", len(pods.Items), e.read(t, cluster).Status.Conditions)
		}
		pod = pods.Items[0]
		return nil
	})
	task := restoreTaskOf(t, &pod)
	if r := task.Restore; r == nil || r.Object != "snapshot" || r.SHA256 != "abc" || r.Identity.Name != pod.Name ||
		r.RevisionFloor != floor || task.Storage != bucket || task.Writer.UID != string(restore.UID) {
		t.Errorf("the task is %+v, %+v", task, task.Restore)
	}
	if !task.Identity || task.Encrypted || !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Name == "agent-key" && v.Secret != nil && v.Secret.SecretName == "identity"
	}) {
		t.Errorf("the task is %+v, with volumes %+v", task, pod.Spec.Volumes)
	}
	e.runs(t, &pod, "127.0.0.99")
	await(t, "its permit", func() error {
		must(t, e.Get(t.Context(), client.ObjectKeyFromObject(&pod), &pod))
		permit, err := member.ParsePermit(pod.Annotations[member.PermitAnnotation])
		if err == nil && permit.Mode != member.ModeResume {
			t.Fatalf("the permit is %+v", permit)
		}
		return err
	})
	s := e.read(t, cluster).Status
	if len(s.Restores) == 0 || s.Former == nil || s.Restores[0].UID != string(restore.UID) || s.Restores[0].CompletionTime != nil ||
		s.Restores[0].SourceClusterID != "c0ffee" || s.Restores[0].SourceRevision != 900 ||
		s.Bootstrap.Restore != string(restore.UID) || s.ClusterID != "" || s.Restores[0].RevisionFloor != floor {
		t.Errorf("the status is %+v", s)
	}
}

func restoreTaskOf(t *testing.T, pod *corev1.Pod) task.Task {
	t.Helper()
	i := slices.IndexFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == resources.RestoreContainerName })
	if i < 0 {
		t.Fatalf("pod %s does not restore", pod.Name)
	}
	return controllertest.TaskIn(t, pod.Spec.InitContainers[i])
}
