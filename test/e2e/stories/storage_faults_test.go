package stories

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/lab"
)

// TestBackupFaults is told with TestFaults, not for every change.
func TestBackupFaults(t *testing.T) {
	t.Run("storage", storageFaults)
	t.Run("workers", workersKilled)
	t.Run("uploads", uploadsBroken)
	t.Run("schedules", schedules)
	t.Run("lineages", lineages)
	t.Run("phases", operatorKilledInPhases)
	t.Run("cases", restoreCases)
	t.Run("changing", restoredWhileChanging)
	t.Run("called off", restoresCalledOff)
	t.Run("legacy", legacyManifests)
}

// storageFaults takes backups while something is wrong with the storage: each says what, nothing is ever listed as good
// that is not, and a backup follows by itself once what can pass has passed.
func storageFaults(t *testing.T) {
	s := begin(t, "storage-faults", v1beta2.EtcdClusterSpec{Size: 3})
	s.settled()
	s.fill(8)
	storage := s.minio()
	s.healsAddon(lab.MinIO)
	s.secret("wrong", map[string]string{"access-key-id": "nobody", "secret-access-key": "nothing-at-all"})
	nowhere := s.gcs()
	nowhere.URL = "gs://nowhere/etcd"
	changed := func(change func(*v1beta2.Storage)) *v1beta2.Storage {
		other := *storage
		change(&other)
		return &other
	}
	for _, c := range []struct {
		name, reason string
		storage      *v1beta2.Storage
		breaks       func(context.Context, string) error
		passes       bool
	}{
		{name: "wrong-keys", reason: v1beta2.ReasonStorageCredentialsRefused, storage: changed(func(o *v1beta2.Storage) { o.CredentialsSecretRef.Name = "wrong" })},
		{name: "no-bucket", reason: v1beta2.ReasonNoSuchBucket, storage: nowhere},
		{name: "other-bucket", reason: v1beta2.ReasonStorageAccessDenied, storage: changed(func(o *v1beta2.Storage) { o.URL = "s3://theirs/etcd" })},
		{name: "no-authority", reason: v1beta2.ReasonStorageNotTrusted, storage: changed(func(o *v1beta2.Storage) { o.CABundleRef = v1beta2.CABundleRef{} })},
		{name: "read-only", reason: v1beta2.ReasonStorageReadOnly, storage: storage, breaks: nodes.Addons().Seal},
		{name: "full", reason: v1beta2.ReasonStorageFull, storage: storage, breaks: nodes.Addons().Fill},
		{name: "cut", reason: v1beta2.ReasonStorageUnreachable, storage: storage, breaks: cutMidway, passes: true},
		{name: "gone", reason: v1beta2.ReasonStorageUnreachable, storage: storage, breaks: nodes.Addons().Stop, passes: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			told := s.within(t)
			if c.breaks != nil {
				must(t, c.breaks(t.Context(), lab.MinIO))
			}
			told.backup(c.name, c.storage, func(spec *v1beta2.EtcdBackupSpec) { spec.Compression = v1beta2.CompressionNone })
			told.failsWith(c.name, c.reason)
			must(t, nodes.Addons().Heal(t.Context(), lab.MinIO))
			if c.passes {
				told.backedUp(c.name)
			}
		})
	}
	s.backup("after-all", storage, nil)
	if got := s.backedUp("after-all").Status.SnapshotCount; got != 1 {
		t.Errorf("%d snapshots of this EtcdBackup are listed, want 1", got)
	}
}

// cutMidway lets four of the eight megabytes through.
func cutMidway(ctx context.Context, addon string) error { return nodes.Addons().Cut(ctx, addon, 4<<20) }

// failsWith waits until a backup says why it failed, and checks that no snapshot is called good.
func (s *story) failsWith(name, reason string) {
	s.t.Helper()
	object := &v1beta2.EtcdBackup{}
	s.saysWhy(name, object, func() []metav1.Condition { return object.Status.Conditions }, v1beta2.ConditionBackedUp, reason)
	if len(object.Status.Snapshots) > 0 || object.Status.Succeeded || object.Status.LastSuccessDate != nil {
		s.t.Errorf("a backup that failed calls something good: %s", inJSON(object.Status))
	}
}

// fill writes so many megabytes that do not compress.
func (s *story) fill(megabytes int) {
	s.t.Helper()
	value := make([]byte, 1<<19)
	for i := range 2 * megabytes {
		_, _ = rand.Read(value) // it never fails
		must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Put(ctx, fmt.Sprintf("fill/%03d", i), string(value))
			return err
		}))
	}
}

// workersKilled kills who takes a backup, and who looks after it: there is one backup for each time that one was due.
func workersKilled(t *testing.T) {
	s := begin(t, "workers", v1beta2.EtcdClusterSpec{Size: 3})
	s.settled()
	s.fill(8)
	storage := s.minio()
	t.Run("the pod", func(t *testing.T) {
		told := s.within(t)
		told.backup("pod", storage, nil)
		pod := told.agent("pod")
		must(t, told.KillPod(t.Context(), pod.Name))
		object := told.backedUp("pod")
		if object.Status.SnapshotCount != 1 {
			t.Errorf("%d snapshots: %s", object.Status.SnapshotCount, inJSON(object.Status))
		}
	})
	t.Run("the operator", func(t *testing.T) {
		told := s.within(t)
		told.backup("operator", storage, nil)
		told.agent("operator")
		must(t, env.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(harness.OperatorNamespace), client.GracePeriodSeconds(0)))
		object := told.backedUp("operator")
		if object.Status.SnapshotCount != 1 {
			t.Errorf("%d snapshots: %s", object.Status.SnapshotCount, inJSON(object.Status))
		}
	})
	t.Run("the leader", func(t *testing.T) {
		told := s.within(t)
		leader, err := told.Leader(t.Context())
		must(t, err)
		told.backup("leader", storage, nil)
		told.agent("leader")
		must(t, told.KillPod(t.Context(), leader.Name))
		told.backedUp("leader")
		must(t, told.Recovered(t.Context(), leader.UID, limit))
	})
}

// agent waits for the pod that works for an EtcdBackup.
func (s *story) agent(backup string) corev1.Pod {
	s.t.Helper()
	pods := &corev1.PodList{}
	must(s.t, harness.Await(s.t.Context(), "a pod for "+backup, limit, func(ctx context.Context) (string, bool) {
		err := env.List(ctx, pods, client.InNamespace(s.Namespace), client.MatchingLabels{"etcd.database.coreos.com/backup": backup})
		return fmt.Sprintf("%d pods, %v", len(pods.Items), err), err == nil && len(pods.Items) > 0
	}))
	return pods.Items[0]
}
