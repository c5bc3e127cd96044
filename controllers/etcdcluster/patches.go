package etcdcluster

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// observeBackup finds the newest verified snapshot of the data that the cluster has now, if an update of etcd by Auto Pilot waits for one.
func (r *Reconciler) observeBackup(ctx context.Context, p *pass) error {
	if !plan.PatchDue(p.observed) {
		return nil
	}
	list := &v1beta2.EtcdBackupList{}
	if err := r.Client.List(ctx, list, client.InNamespace(p.cluster.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list EtcdBackups: %w", err)
	}
	for i := range list.Items {
		if of := list.Items[i].Spec.EtcdCluster; of != nil && of.Name == p.cluster.Name && list.Items[i].DeletionTimestamp.IsZero() {
			latestBackup(&p.observed.Cluster.Backup, &list.Items[i], p.cluster.Status.ClusterID, p.observed.Now.Add(time.Minute))
		}
	}
	return nil
}

// observeRefused finds out whether the release that may be followed was rolled back in another cluster. All of them say so in their statuses, so a
// process that starts knows it, too. Which one it was is nobody's business who has another one. That of the same version from elsewhere is
// another image, and is not judged by it.
func (r *Reconciler) observeRefused(ctx context.Context, p *pass) error {
	c := &p.observed.Cluster
	if !plan.PatchDue(p.observed) {
		return nil
	}
	release := c.NewestPatch
	if c.Tuned.Patch.InsteadOf != "" {
		release = c.Tuned.Patch.Version
	}
	list := &v1beta2.EtcdClusterList{}
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list EtcdClusters: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].UID == p.cluster.UID {
			continue
		}
		for _, refused := range status.RefusedPatches(&list.Items[i].Status) {
			same := refused.Version == release && refused.Image == c.Image(release)
			if same && plan.RefusedLately(refused.Since, p.observed.Now) && refused.Since.After(c.RefusedElsewhere) {
				c.RefusedElsewhere = refused.Since
			}
		}
	}
	return nil
}

// latestBackup keeps the latest of what is verified and complete of the data of that cluster ID: a cluster that was restored since has other
// data. One from the future was dated by a clock that is wrong.
func latestBackup(latest *plan.RecoveryBackup, of *v1beta2.EtcdBackup, clusterID string, future time.Time) {
	for i := range of.Status.Snapshots {
		s := &of.Status.Snapshots[i]
		if !s.CreationTime.Time.Before(future) {
			continue
		}
		if complete(s) && member.ParseID(s.ClusterID) == member.ParseID(clusterID) && (latest.Snapshot == "" || s.CreationTime.After(latest.Taken)) {
			*latest = plan.RecoveryBackup{EtcdBackup: of.Name, Snapshot: s.Name, Revision: s.Revision, Taken: s.CreationTime.Time}
		}
	}
}
