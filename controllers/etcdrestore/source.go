package etcdrestore

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// observeSource finds out where the snapshot is, unless status says so: what becomes of the EtcdBackup then is of no
// interest.
func observeSource(ctx context.Context, reader client.Reader, p *restorePass) error {
	if p.source != nil || p.observed.AnsweredBefore {
		return nil
	}
	spec := &p.object.Spec
	if spec.Backup == nil {
		p.source, p.observed.Source = directSource(spec)
		return nil
	}
	backup := &v1beta2.EtcdBackup{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: p.object.Namespace, Name: spec.Backup.Name}, backup)
	if apierrors.IsNotFound(err) || err == nil && !backup.DeletionTimestamp.IsZero() {
		p.observed.Source = unresolved(false, v1beta2.ReasonBackupMissing,
			"spec.backup: there is no EtcdBackup %s: create it, or create another EtcdRestore with spec.storage", spec.Backup.Name)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read EtcdBackup %s: %w", spec.Backup.Name, err)
	}
	p.source, p.observed.Source = backupSource(spec, backup)
	return nil
}

// directSource is for a spec that says itself where the snapshot is.
func directSource(spec *v1beta2.EtcdRestoreSpec) (*v1beta2.RestoredFrom, *failure.Problem) {
	storage, object, err := resources.StorageOf(spec.Storage, spec.BackupStorageType, spec.BackupStorage)
	if err != nil {
		return nil, unresolved(true, v1beta2.ReasonStorageMisconfigured, "%v", err)
	}
	switch {
	case spec.Storage != nil:
		object = spec.Snapshot
	case spec.Snapshot != "" || spec.Before != nil:
		return nil, unresolved(true, v1beta2.ReasonStorageMisconfigured, "spec.snapshot and spec.before choose among the snapshots"+
			" of spec.backup or spec.storage, and a path of spec.backupStorageType is one snapshot: leave them out, or use spec.storage")
	case object == "":
		return nil, unresolved(true, v1beta2.ReasonStorageMisconfigured,
			"the path of spec.backupStorageType names no object: it is bucket/key, and the key is the snapshot's")
	}
	return &v1beta2.RestoredFrom{Storage: storage, EncryptionSecretRef: spec.EncryptionSecretRef, Object: object}, nil
}

// backupSource is where an EtcdBackup writes. A snapshot that is named may be that of an earlier EtcdBackup of the same name:
// after a disaster there is no other.
func backupSource(spec *v1beta2.EtcdRestoreSpec, b *v1beta2.EtcdBackup) (*v1beta2.RestoredFrom, *failure.Problem) {
	storage, _, err := resources.StorageOf(b.Spec.Storage, b.Spec.StorageType, b.Spec.BackupStorage)
	if err != nil {
		return nil, unresolved(false, v1beta2.ReasonStorageMisconfigured, "EtcdBackup %s: %v", b.Name, err)
	}
	source := &v1beta2.RestoredFrom{
		Storage: storage, EncryptionSecretRef: spec.EncryptionSecretRef, Object: spec.Snapshot,
	}
	if source.EncryptionSecretRef.Name == "" {
		source.EncryptionSecretRef = b.Spec.EncryptionSecretRef
	}
	if source.Object == "" {
		source.WriterUID = string(b.UID)
	}
	return source, nil
}

func unresolved(terminal bool, reason, format string, args ...any) *failure.Problem {
	return &failure.Problem{Reason: reason, Message: fmt.Sprintf(format, args...), Terminal: terminal}
}
