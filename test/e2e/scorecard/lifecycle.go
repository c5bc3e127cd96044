package main

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// keys is how many are written before the backup, and lost is how many after it.
const keys, lost = 100, 50

// fullLifecycle backs a cluster up and restores it, and grows and shrinks it. The backup is on a volume, so that nothing
// outside of the Kubernetes cluster is needed.
func fullLifecycle(ctx context.Context, t *trial) error {
	c, err := t.cluster(ctx, &v1beta2.EtcdCluster{Spec: v1beta2.EtcdClusterSpec{Size: 3}})
	if err != nil {
		return err
	}
	if err := t.puts(ctx, c, "before", keys); err != nil {
		return err
	}
	if err := t.backup(ctx); err != nil {
		return err
	}
	if err := t.puts(ctx, c, "after", lost); err != nil {
		return err
	}
	if err := t.restore(ctx, c); err != nil {
		return err
	}
	for _, size := range []int32{5, 3} {
		if err := t.resize(ctx, c, size); err != nil {
			return err
		}
	}
	return nil
}

// backup takes one into a volume of its own, and has it restored on trial.
func (t *trial) backup(ctx context.Context) error {
	claim, storage := harness.BackupVolume(t.namespace, t.name)
	if err := t.add(ctx, claim); err != nil {
		return err
	}
	backup := backupOf(t.name, storage)
	if err := t.add(ctx, backup); err != nil {
		return err
	}
	return t.succeeds(ctx, backup, func() bool { return backup.Status.Succeeded && len(backup.Status.Snapshots) > 0 })
}

// backupOf is a backup of a cluster, of the same name.
func backupOf(name string, storage *v1beta2.Storage) *v1beta2.EtcdBackup {
	return &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1beta2.EtcdBackupSpec{
			EtcdCluster: &v1beta2.EtcdClusterRef{Name: name}, Verify: v1beta2.VerifyRestore, Storage: storage,
		},
	}
}

// restore puts the backup back: what was written before it is there, and what was written after it is not.
func (t *trial) restore(ctx context.Context, c *harness.Cluster) error {
	restore := restoreOf(t.name)
	if err := t.add(ctx, restore); err != nil {
		return err
	}
	if err := t.succeeds(ctx, restore, func() bool { return restore.Status.Succeeded }); err != nil {
		return err
	}
	if err := c.Healthy(ctx, limit); err != nil {
		return err
	}
	if err := t.has(ctx, c, "before", keys); err != nil {
		return err
	}
	return t.has(ctx, c, "after", 0)
}

// restoreOf is a restore of that backup.
func restoreOf(name string) *v1beta2.EtcdRestore {
	return &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1beta2.EtcdRestoreSpec{
			EtcdCluster:   v1beta2.EtcdClusterRef{Name: name},
			RestoreSource: v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: name}},
		},
	}
}

// succeeds waits until an object has the wanted status.
func (t *trial) succeeds(ctx context.Context, object client.Object, done func() bool) error {
	what := fmt.Sprintf("%T %s succeeds", object, object.GetName())
	err := harness.Await(ctx, what, limit, func(ctx context.Context) (string, bool) {
		if err := t.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err.Error(), false
		}
		text, err := json.Marshal(object)
		return fmt.Sprintf("%s, %v", text, err), done()
	})
	if err == nil {
		t.note("%s", what)
	}
	return err
}

// resize brings a cluster to another size, with all its data.
func (t *trial) resize(ctx context.Context, c *harness.Cluster, size int32) error {
	if err := c.Edit(ctx, func(s *v1beta2.EtcdClusterSpec) { s.Size = size }); err != nil {
		return err
	}
	if err := c.Healthy(ctx, limit); err != nil {
		return err
	}
	t.note("%d members", size)
	return t.has(ctx, c, "before", keys)
}
