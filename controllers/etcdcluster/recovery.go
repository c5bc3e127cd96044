package etcdcluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/restores"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// defaultDeadline is how long a quorum has to be lost before it is recovered automatically, if the spec does not say.
const defaultDeadline = 30 * time.Minute

// observeRecovery reads what was asked for in case of a lost quorum. It costs nothing while there is one.
func (r *Reconciler) observeRecovery(ctx context.Context, reader client.Reader, p *pass) error {
	c, seen := p.cluster, &p.observed.Cluster.Recovery
	if p.observed.Etcd.Contact == plan.ContactQuorum || c.Status.ClusterID == "" {
		return nil
	}
	seen.Confirmed, seen.Deadline = c.Annotations[v1beta2.AnnotationRecover], defaultDeadline
	if since := c.Status.QuorumLostSince; since != nil {
		seen.LostSince = since.Time
	}
	if spec := c.Spec.Recovery; spec != nil {
		seen.Automatic = spec.QuorumLoss == v1beta2.QuorumLossAutomatic
		if spec.Deadline != nil {
			seen.Deadline = spec.Deadline.Duration
		}
	}
	shown := plan.Assess(p.observed).Recovery
	if shown == nil {
		return nil
	}
	if err := observeRecoveryRestore(ctx, reader, p, shown.Hash); err != nil {
		return err
	}
	return r.observeRecoveryBackups(ctx, p)
}

// observeRecoveryRestore finds the EtcdRestore that carries out the plan, the latest if there are several.
func observeRecoveryRestore(ctx context.Context, reader client.Reader, p *pass, hash string) error {
	list, seen := &v1beta2.EtcdRestoreList{}, &p.observed.Cluster.Recovery
	if err := reader.List(ctx, list, client.InNamespace(p.cluster.Namespace)); err != nil {
		return fmt.Errorf("list EtcdRestores: %w", err)
	}
	var latest *v1beta2.EtcdRestore
	for i := range list.Items {
		restore := &list.Items[i]
		of := restore.Spec.Member
		if restore.Spec.EtcdCluster.Name == p.cluster.Name && of != nil && of.Plan == hash && (latest == nil || restores.Later(restore, latest)) {
			latest = restore
		}
	}
	if latest == nil {
		return nil
	}
	seen.Restore, seen.RestorePlan = latest.Name, hash
	if latest.Status.Phase == v1beta2.RestoreFailed {
		seen.RestoreFailed = latest.Status.Reason
	}
	return nil
}

// observeRecoveryBackups finds the newest backup that could be restored instead, and whether there is somewhere to keep the survivor's
// snapshot.
func (r *Reconciler) observeRecoveryBackups(ctx context.Context, p *pass) error {
	list, seen := &v1beta2.EtcdBackupList{}, &p.observed.Cluster.Recovery
	if err := r.Client.List(ctx, list, client.InNamespace(p.cluster.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list EtcdBackups: %w", err)
	}
	named := carrierOf(p.cluster)
	var carrier *v1beta2.EtcdBackup
	for i := range list.Items {
		backup := &list.Items[i]
		if named != nil && backup.Name == named.Name && backup.DeletionTimestamp.IsZero() {
			carrier = backup
		}
		if of := backup.Spec.EtcdCluster; of != nil && of.Name == p.cluster.Name {
			newestBackup(&seen.Backup, backup)
		}
	}
	switch {
	case named == nil && !resources.Persistent(p.cluster):
		seen.HeldBack = "set spec.recovery.backup to an EtcdBackup, in whose storage the survivor's snapshot is kept: members on an emptyDir have no " +
			"volume for it"
	case named != nil && carrier == nil:
		seen.HeldBack = fmt.Sprintf("create EtcdBackup %s, which spec.recovery.backup names, or name another one", named.Name)
	case named != nil && len(carrier.Spec.EncryptionRecipients) > 0:
		seen.HeldBack = fmt.Sprintf("name another EtcdBackup in spec.recovery.backup, or none: %s has encryptionRecipients, and what it encrypts "+
			"cannot be read here", named.Name)
	}
	return nil
}

// newestBackup keeps the newest of what is verified and complete. Within a cluster that is the one with the highest revision.
func newestBackup(newest *plan.RecoveryBackup, of *v1beta2.EtcdBackup) {
	for i := range of.Status.Snapshots {
		s := &of.Status.Snapshots[i]
		verified := s.Verification != "" && s.Verification != v1beta2.VerifyNone
		if verified && !s.Stale && (newest.Snapshot == "" || s.Revision > newest.Revision) {
			*newest = plan.RecoveryBackup{EtcdBackup: of.Name, Snapshot: s.Name, Revision: s.Revision, Taken: s.CreationTime.Time}
		}
	}
}

// carrierOf is the EtcdBackup in whose storage a survivor's snapshot is kept, nil for a volume of its own.
func carrierOf(c *v1beta2.EtcdCluster) *v1beta2.EtcdBackupRef {
	if c.Spec.Recovery == nil {
		return nil
	}
	return c.Spec.Recovery.Backup
}

// createRecovery creates the EtcdRestore of a recovery from a lost quorum, and the volume that the snapshot is kept on. That comes
// first: a pod that lacks it would only wait.
func (r *Reconciler) createRecovery(ctx context.Context, p *pass, a plan.CreateRestore) error {
	c := p.cluster
	restore := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Name: a.Name, Namespace: c.Namespace, OwnerReferences: []metav1.OwnerReference{resources.Owner(c)}},
		Spec: v1beta2.EtcdRestoreSpec{
			EtcdCluster: v1beta2.EtcdClusterRef{Name: c.Name},
			Member:      &v1beta2.RestoreMember{Name: a.Survivor, Plan: a.Plan},
			Pod:         restorePods(c.Spec.Pod),
		},
	}
	if restore.Spec.Backup = carrierOf(c); restore.Spec.Backup == nil {
		if err := r.createCarrier(ctx, c, a.Name); err != nil {
			return err
		}
		restore.Spec.Storage = &v1beta2.Storage{URL: "file:///etcd", PersistentVolumeClaim: a.Name}
	}
	if err := r.Client.Create(ctx, restore, client.FieldOwner(resources.FieldOwner)); err != nil {
		return fmt.Errorf("create EtcdRestore %s: %w", a.Name, err)
	}
	return nil
}

// createCarrier creates the volume for a survivor's snapshot. An earlier attempt at the same plan may have done so.
func (r *Reconciler) createCarrier(ctx context.Context, c *v1beta2.EtcdCluster, name string) error {
	err := r.Client.Create(ctx, resources.RecoveryVolume(c, name), client.FieldOwner(resources.FieldOwner))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	there := &corev1.PersistentVolumeClaim{}
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, there); err != nil {
		return fmt.Errorf("read PersistentVolumeClaim %s: %w", name, err)
	}
	if there.Annotations[resources.AnnotationClusterUID] != string(c.UID) {
		return fmt.Errorf("%w: PersistentVolumeClaim %s is not this cluster's, and a recovery needs that name: delete it", errNameTaken, name)
	}
	return nil
}

// planOf is the hash of the recovery's plan that an EtcdRestore carries out, empty if it restores a snapshot that was taken before.
func planOf(restore *v1beta2.EtcdRestore) string {
	if restore.Spec.Member == nil {
		return ""
	}
	return restore.Spec.Member.Plan
}
