package etcdcluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/controllers/internal/restores"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// observeRecovery reads what was asked for in case of a lost quorum. It costs nothing while there is one.
func (r *Reconciler) observeRecovery(ctx context.Context, reader client.Reader, p *pass) error {
	c, seen := p.cluster, &p.observed.Cluster.Recovery
	if p.observed.Etcd.Contact == plan.ContactQuorum || c.Status.ClusterID == "" {
		return nil
	}
	seen.Confirmed = c.Annotations[v1beta2.AnnotationRecover]
	if err := r.observeUnlisted(ctx, p); err != nil {
		return err
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

// observeUnlisted looks by name for pods and claims of voters that are not listed: without the cluster's labels they are there all the same,
// and no voter's data is lost because somebody has taken labels off.
func (r *Reconciler) observeUnlisted(ctx context.Context, p *pass) error {
	seen := &p.observed.Cluster.Recovery
	for _, name := range slices.Concat(p.observed.Cluster.Voters, p.observed.Cluster.NextVoters) {
		_, pod := p.pods[name]
		_, claim := p.claims[name]
		for _, o := range []struct {
			listed bool
			object client.Object
		}{{pod, &corev1.Pod{}}, {claim, &corev1.PersistentVolumeClaim{}}} {
			if o.listed {
				continue
			}
			err := r.Live.Get(ctx, client.ObjectKey{Namespace: p.cluster.Namespace, Name: name}, o.object)
			if client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("look for what is left of %s: %w", name, err)
			}
			if err == nil && !slices.Contains(seen.Unlisted, name) {
				seen.Unlisted = append(seen.Unlisted, name)
			}
		}
	}
	return nil
}

// observeRecoveryRestore finds the EtcdRestore that carries out the plan, the latest if there are several. While any other is at it, or is
// to be, nothing is begun beside it.
func observeRecoveryRestore(ctx context.Context, reader client.Reader, p *pass, hash string) error {
	list, seen := &v1beta2.EtcdRestoreList{}, &p.observed.Cluster.Recovery
	if err := reader.List(ctx, list, client.InNamespace(p.cluster.Namespace)); err != nil {
		return fmt.Errorf("list EtcdRestores: %w", err)
	}
	var latest *v1beta2.EtcdRestore
	for i := range list.Items {
		restore := &list.Items[i]
		of := restore.Spec.Member
		if restore.Spec.EtcdCluster.Name == p.cluster.Name && (of == nil || of.Plan != hash) && !over(restore) {
			seen.HeldBack = fmt.Sprintf("wait until EtcdRestore %s of this cluster is over, or delete it", restore.Name)
		}
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

// over reports whether an EtcdRestore is, or will never be carried out.
func over(restore *v1beta2.EtcdRestore) bool {
	s := &restore.Status
	return s.CompletionTime != nil || s.Phase == v1beta2.RestoreSucceeded || s.Phase == v1beta2.RestoreFailed ||
		s.Phase == "" && (s.Succeeded || s.Reason != "") // an earlier operator has answered it
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
	seen.HeldBack = cmp.Or(seen.HeldBack, unkeepable(p.cluster, named, carrier))
	return nil
}

// unkeepable says why a survivor's snapshot cannot be kept, empty if it can. The data goes only to where it is backed up to anyway: whoever
// made that EtcdBackup had the right to this cluster's data.
func unkeepable(c *v1beta2.EtcdCluster, named *v1beta2.EtcdBackupRef, carrier *v1beta2.EtcdBackup) string {
	switch {
	case named == nil && !resources.Persistent(c):
		return "set spec.recovery.backup to an EtcdBackup, in whose storage the survivor's snapshot is kept: members on an emptyDir have no " +
			"volume for it"
	case named == nil:
		return ""
	case carrier == nil:
		return fmt.Sprintf("create EtcdBackup %s, which spec.recovery.backup names, or name another one", named.Name)
	case carrier.Spec.EtcdCluster == nil || carrier.Spec.EtcdCluster.Name != c.Name:
		return fmt.Sprintf("name another EtcdBackup in spec.recovery.backup: %s is not one of this cluster (its spec.etcdCluster.name)", named.Name)
	case len(carrier.Spec.EncryptionRecipients) > 0:
		return fmt.Sprintf("name another EtcdBackup in spec.recovery.backup, or none: %s has encryptionRecipients, and what it encrypts "+
			"cannot be read here", named.Name)
	}
	if theirs := carrier.Spec.Pod; theirs != nil && theirs.ServiceAccountName != "" && lacksSecret(carrier) &&
		(c.Spec.Pod == nil || c.Spec.Pod.ServiceAccountName != theirs.ServiceAccountName) {
		return fmt.Sprintf("set spec.pod.serviceAccountName to %s, as which EtcdBackup %s gets at its storage, or name one that has a Secret: "+
			"the pods of a recovery, and the first new member, run as the members do", theirs.ServiceAccountName, named.Name)
	}
	return ""
}

// lacksSecret reports whether an EtcdBackup gets at its storage as its ServiceAccount.
func lacksSecret(b *v1beta2.EtcdBackup) bool {
	s, _, err := resources.StorageOf(b.Spec.Storage, b.Spec.StorageType, b.Spec.BackupStorage)
	return err == nil && s.CredentialsSecretRef.Name == "" && !strings.HasPrefix(s.URL, "file://")
}

// newestBackup keeps the newest of what is verified and complete. Within a cluster that is the one with the highest revision.
func newestBackup(newest *plan.RecoveryBackup, of *v1beta2.EtcdBackup) {
	for i := range of.Status.Snapshots {
		s := &of.Status.Snapshots[i]
		if complete(s) && (newest.Snapshot == "" || s.Revision > newest.Revision) {
			*newest = plan.RecoveryBackup{EtcdBackup: of.Name, Snapshot: s.Name, Revision: s.Revision, Taken: s.CreationTime.Time}
		}
	}
}

// complete reports whether a snapshot is verified, and has all that was acknowledged when it was taken.
func complete(s *v1beta2.SnapshotStatus) bool {
	return s.Verification != "" && s.Verification != v1beta2.VerifyNone && !s.Stale
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
	if !reconcile.Exists(err) {
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

// planOf is the hash of the recovery's plan that an EtcdRestore carries out, and the survivor that it names; empty if it restores a snapshot
// that was taken before.
func planOf(restore *v1beta2.EtcdRestore) (hash, survivor string) {
	if restore.Spec.Member == nil {
		return "", ""
	}
	return restore.Spec.Member.Plan, restore.Spec.Member.Name
}
