package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// backupName is that of the backup and of its volume, restoredName that of the cluster which starts from it.
const (
	backupName   = name + "-backup"
	restoredName = name + "-restored"
)

// ifVolumes makes a step that is skipped where no StorageClass makes volumes of itself.
func (d *demo) ifVolumes(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		classes := &storagev1.StorageClassList{}
		if err := d.List(ctx, classes); err != nil {
			return fmt.Errorf("list the StorageClasses: %w", err)
		}
		if !slices.ContainsFunc(classes.Items, func(c storagev1.StorageClass) bool {
			return c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
		}) {
			return errSkipped
		}
		return do(ctx)
	}
}

// backup writes a snapshot to a volume: there is one on every cluster. Mostly it would be a bucket.
func (d *demo) backup(ctx context.Context) error {
	claim, storage := harness.BackupVolume(namespace, backupName)
	if err := d.Create(ctx, claim); err != nil {
		return err
	}
	if err := d.Create(ctx, &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: backupName},
		Spec: v1beta2.EtcdBackupSpec{
			EtcdCluster: &v1beta2.EtcdClusterRef{Name: name}, Verify: v1beta2.VerifyRestore, Storage: storage,
		},
	}); err != nil {
		return err
	}
	return harness.Await(ctx, "a good backup", limit, func(ctx context.Context) (string, bool) {
		b := &v1beta2.EtcdBackup{}
		if err := d.Get(ctx, client.ObjectKey{Namespace: namespace, Name: backupName}, b); err != nil {
			return err.Error(), false
		}
		said := ""
		if c := meta.FindStatusCondition(b.Status.Conditions, v1beta2.ConditionBackedUp); c != nil {
			said = c.Reason + ": " + c.Message
		}
		return said, b.Status.Succeeded
	})
}

// restore starts another cluster from the backup.
func (d *demo) restore(ctx context.Context) error {
	restored, err := d.NewCluster(ctx, namespace, restoredName, v1beta2.EtcdClusterSpec{
		Size: 3, RestoreFrom: &v1beta2.RestoreSource{Backup: &v1beta2.EtcdBackupRef{Name: backupName}},
	})
	if err != nil {
		return err
	}
	return restored.Healthy(ctx, limit)
}

// cleanBackup removes what they have left.
func (d *demo) cleanBackup(ctx context.Context) error {
	restored := &harness.Cluster{Env: d.Env, Namespace: namespace, Name: restoredName}
	if err := restored.Remove(ctx, limit); err != nil {
		return err
	}
	object := metav1.ObjectMeta{Namespace: namespace, Name: backupName}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: object}
	for _, left := range []client.Object{&v1beta2.EtcdBackup{ObjectMeta: object}, claim} {
		if err := d.Delete(ctx, left); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return harness.Await(ctx, "the backup's volume gone", limit, func(ctx context.Context) (string, bool) {
		err := d.Get(ctx, client.ObjectKeyFromObject(claim), claim)
		return fmt.Sprint(err), err != nil && client.IgnoreNotFound(err) == nil
	})
}
