package install

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// regular is the EtcdBackup of the busy cluster, and interval the time between two of its backups.
const (
	regular  = "regular"
	interval = time.Minute
)

// backsUp has the busy cluster backed up again and again, and returns a snapshot that was taken.
func (c *clusters) backsUp() v1beta2.SnapshotStatus {
	c.s.t.Helper()
	ctx := c.s.t.Context()
	claim, storage := harness.BackupVolume(c.busy.Namespace, "backups")
	must(c.s.t, c.s.Create(ctx, claim))
	must(c.s.t, c.s.Create(ctx, &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.busy.Namespace, Name: regular},
		Spec: v1beta2.EtcdBackupSpec{
			EtcdCluster: &v1beta2.EtcdClusterRef{Name: c.busy.Name}, Storage: storage,
			BackupPolicy: &v1beta2.BackupPolicy{IntervalSeconds: int64(interval.Seconds()), TimeoutSeconds: 120},
		},
	}))
	return c.snapshot(func(v1beta2.SnapshotStatus) bool { return true })
}

// snapshot waits until the EtcdBackup lists a snapshot that is asked for.
func (c *clusters) snapshot(asked func(v1beta2.SnapshotStatus) bool) (found v1beta2.SnapshotStatus) {
	c.s.t.Helper()
	must(c.s.t, harness.Await(c.s.t.Context(), "a backup", limit, func(ctx context.Context) (string, bool) {
		object := &v1beta2.EtcdBackup{}
		err := c.s.Get(ctx, client.ObjectKey{Namespace: c.busy.Namespace, Name: regular}, object)
		for _, snapshot := range object.Status.Snapshots {
			if asked(snapshot) {
				found = snapshot
			}
		}
		return fmt.Sprintf("%+v, %v", object.Status, err), err == nil && object.Status.Succeeded && found.Name != ""
	}))
	return found
}

// backedUpSince waits until a snapshot was taken that was not there when the operator of now came.
func (c *clusters) backedUpSince(former v1beta2.SnapshotStatus) {
	c.s.t.Helper()
	since := time.Now()
	taken := c.snapshot(func(s v1beta2.SnapshotStatus) bool { return s.CreationTime.After(since) })
	c.s.t.Logf("the former operator has taken %s, and the new one %s", former.Name, taken.Name)
}

// restores makes a cluster of a snapshot that the former operator has taken.
func (c *clusters) restores(snapshot v1beta2.SnapshotStatus) {
	c.s.t.Helper()
	restored := c.s.cluster(c.busy.Namespace, "restored", v1beta2.EtcdClusterSpec{
		Size: 1, RestoreFrom: &v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: regular}, Snapshot: snapshot.Name},
	})
	must(c.s.t, restored.Healthy(c.s.t.Context(), limit))
	must(c.s.t, restored.Settled(c.s.t.Context(), limit))
	if err := restored.Has(c.s.t.Context(), "kept", 10); err != nil {
		c.s.t.Error(err)
	}
}
