package stories

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// uploadSize is what is in etcd while uploads are broken off: more than one part of an upload.
const uploadSize = 40 << 20

// uploadsBroken breaks what a backup needs when half of it is there.
func uploadsBroken(t *testing.T) {
	s := begin(t, "uploads", v1beta2.EtcdClusterSpec{Size: 3})
	s.settled()
	s.fill(uploadSize >> 20)
	s.healsAddon(lab.MinIO)
	wire, storage := s.plainMinIO()
	for name, breaks := range map[string]func(*story){
		"the storage hangs":     func(told *story) { told.storageHangs(wire, storage) },
		"the pod is killed":     func(told *story) { told.uploaderKilled(wire, storage) },
		"the folder is deleted": (*story).folderDeleted,
	} {
		t.Run(name, func(t *testing.T) { breaks(s.within(t)) })
	}
}

// storageHangs has MinIO take bytes and say nothing until the time for an attempt is up.
func (s *story) storageHangs(w *wire, storage *v1beta2.Storage) {
	s.holding(w, "hangs", storage, func(spec *v1beta2.EtcdBackupSpec) {
		spec.BackupPolicy = &v1beta2.BackupPolicy{TimeoutSeconds: 30}
	})
	must(s.t, nodes.Addons().Freeze(s.t.Context(), lab.MinIO))
	w.open()
	s.failsWith("hangs", v1beta2.ReasonTimeout)
	must(s.t, nodes.Addons().Heal(s.t.Context(), lab.MinIO))
	s.one("hangs")
}

// uploaderKilled kills the pod. What it has sent is held until the next one is there, so that it cannot be in time.
func (s *story) uploaderKilled(w *wire, storage *v1beta2.Storage) {
	s.holding(w, "killed", storage, func(*v1beta2.EtcdBackupSpec) {})
	object := &v1beta2.EtcdBackup{}
	s.until("killed", object, func() (string, bool) {
		run := object.Status.Run
		return inJSON(object.Status), run != nil && run.Bytes >= uploadSize/2
	})
	first := s.agent("killed")
	must(s.t, s.KillPod(s.t.Context(), first.Name))
	must(s.t, harness.Await(s.t.Context(), "another pod", limit, func(ctx context.Context) (string, bool) {
		pods := &corev1.PodList{}
		err := env.List(ctx, pods, client.InNamespace(s.Namespace), client.MatchingLabels{"etcd.database.coreos.com/backup": "killed"})
		return fmt.Sprintf("%d pods, %v", len(pods.Items), err), err == nil && slices.ContainsFunc(pods.Items,
			func(p corev1.Pod) bool { return p.UID != first.UID && p.Status.Phase == corev1.PodRunning })
	}))
	w.open()
	s.one("killed")
}

// folderDeleted deletes the target, which the next attempt makes again. The endpoints are given, so that the stream can be held
// on its way from etcd.
func (s *story) folderDeleted() {
	pods, err := s.Pods(s.t.Context())
	must(s.t, err)
	w, storage := s.wireFrom(pods[0]), s.volume()
	s.holding(w, "deleted", storage, func(spec *v1beta2.EtcdBackupSpec) {
		spec.EtcdCluster, spec.EtcdEndpoints = nil, []string{"http://" + w.address}
	})
	s.inStore("rm -rf ../etcd")
	w.open()
	s.failsWith("deleted", v1beta2.ReasonNoSuchBucket)
	s.one("deleted")
}

// one waits until a backup has succeeded, and checks that there is no other one.
func (s *story) one(name string) {
	s.t.Helper()
	object := s.backedUp(name)
	last := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionBackedUp)
	if object.Status.SnapshotCount != 1 || len(object.Status.Snapshots) != 1 || last == nil || last.Status != metav1.ConditionTrue {
		s.t.Errorf("there is not one snapshot: %s", inJSON(object.Status))
	}
}
