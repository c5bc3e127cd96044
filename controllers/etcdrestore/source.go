package etcdrestore

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/recipient"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// observeSource resolves where the snapshot is, unless status has it: then later changes of the EtcdBackup do not matter.
func observeSource(ctx context.Context, reader client.Reader, p *restorePass) error {
	if p.source != nil || p.observed.AnsweredBefore {
		return nil
	}
	spec := &p.object.Spec
	if former := spec.Renamed(); former != "" {
		p.observed.Source = unresolved(true, v1beta2.ReasonStorageMisconfigured, "%s: create another EtcdRestore that has it so", former)
		return nil
	}
	if spec.Backup == nil {
		p.source, p.observed.Source = directSource(spec)
		return nil
	}
	backup := &v1beta2.EtcdBackup{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: p.object.Namespace, Name: spec.Backup.Name}, backup)
	if apierrors.IsNotFound(err) || err == nil && !backup.DeletionTimestamp.IsZero() {
		p.observed.Source = unresolved(false, v1beta2.ReasonBackupMissing,
			"spec.backup: EtcdBackup %s not found: create it, or create another EtcdRestore with spec.storage", spec.Backup.Name)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read EtcdBackup %s: %w", spec.Backup.Name, err)
	}
	p.source, p.observed.Source = backupSource(spec, backup)
	return nil
}

// directSource is for a spec that names the storage itself.
func directSource(spec *v1beta2.EtcdRestoreSpec) (*v1beta2.RestoredFrom, *failure.Problem) {
	storage, object, err := resources.StorageOf(spec.Storage, spec.BackupStorageType, spec.BackupStorage)
	if err != nil {
		return nil, unresolved(true, v1beta2.ReasonStorageMisconfigured, "%v", err)
	}
	switch {
	case spec.Storage != nil:
		object = spec.Snapshot
	case spec.Snapshot != "" || spec.Before != nil:
		return nil, unresolved(true, v1beta2.ReasonStorageMisconfigured, "spec.snapshot and spec.before select among the snapshots"+
			" of spec.backup or spec.storage, but a path of spec.backupStorageType is a single snapshot: remove them, or use spec.storage")
	case object == "":
		return nil, unresolved(true, v1beta2.ReasonStorageMisconfigured,
			"the path of spec.backupStorageType names no object: set it to bucket/key, where key is the snapshot's")
	}
	return &v1beta2.RestoredFrom{
		Storage: storage, EncryptionSecretRef: spec.EncryptionSecretRef, IdentitySecretRef: spec.IdentitySecretRef, Object: object,
	}, nil
}

// backupSource is where an EtcdBackup writes. A snapshot that is named may be that of an earlier EtcdBackup of the same name:
// after a disaster no other is left.
func backupSource(spec *v1beta2.EtcdRestoreSpec, b *v1beta2.EtcdBackup) (*v1beta2.RestoredFrom, *failure.Problem) {
	storage, _, err := resources.StorageOf(b.Spec.Storage, b.Spec.StorageType, b.Spec.BackupStorage)
	if err != nil {
		return nil, unresolved(false, v1beta2.ReasonStorageMisconfigured, "EtcdBackup %s: %v", b.Name, err)
	}
	if former := b.Spec.Renamed(); former != "" {
		return nil, unresolved(false, v1beta2.ReasonStorageMisconfigured, "EtcdBackup %s: %s: give it that name", b.Name, former)
	}
	if spec.SafetySnapshot != v1beta2.SafetySnapshotSkip {
		if _, err := recipient.Parse(b.Spec.EncryptionRecipients); err != nil {
			return nil, unresolved(false, v1beta2.ReasonEncryptionKeyRefused, "EtcdBackup %s: %v", b.Name, err)
		}
	}
	source := &v1beta2.RestoredFrom{
		Storage: storage, EncryptionSecretRef: spec.EncryptionSecretRef, IdentitySecretRef: spec.IdentitySecretRef,
		Recipients: b.Spec.EncryptionRecipients, Object: spec.Snapshot,
	}
	if source.EncryptionSecretRef.Name == "" && source.IdentitySecretRef.Name == "" {
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
