package etcdcluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/restore"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

const (
	// upkeepInterval is the time to the next pass while Auto Pilot waits for what takes seconds.
	upkeepInterval = time.Second
	// quotaInterval is the time to the next pass while a member is about to have no space.
	quotaInterval = 10 * time.Second
)

// observeDatabases looks at the members' databases if Auto Pilot may have to do with them, and remembers the revision for when it has.
func (r *Reconciler) observeDatabases(ctx context.Context, p *pass) error {
	key := p.key()
	c := &p.observed.Cluster
	options, _ := resources.Options(p.cluster, version.Normalize(p.cluster.Spec.Version)) // those with problems are reported elsewhere
	c.Quota = resources.Quota(options)
	if p.observed.Etcd.Contact == plan.ContactQuorum {
		p.observed.Etcd.PastRevision = r.Etcd.PastRevision(key.String(), p.observed.Etcd.Revision, p.observed.Now)
	}
	p.observed.Etcd.RoomMade = r.Etcd.DisarmedLastHour(key.String(), p.observed.Now)
	due := plan.DatabasesDue(p.observed)
	r.Etcd.Databases(ctx, key.String(), &p.observed.Etcd, endpoints(p.observed), due, plan.EvictionsBlocked(p.observed))
	stopsAgain := c.Hibernate && c.Hibernation == plan.Waking // without a quorum, too: the data that is left may be being saved
	if !due && !stopsAgain {
		return nil
	}
	var err error
	c.BackingUp, err = r.backingUp(ctx, p.cluster)
	return err
}

// backingUp names an EtcdBackup or EtcdRestore that has a snapshot of the cluster taken now, from a member of its choice; empty if none does.
func (r *Reconciler) backingUp(ctx context.Context, c *v1beta2.EtcdCluster) (string, error) {
	backups := &v1beta2.EtcdBackupList{}
	if err := r.Client.List(ctx, backups, client.InNamespace(c.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("list EtcdBackups: %w", err)
	}
	for i := range backups.Items {
		b := &backups.Items[i]
		if ref := b.Spec.EtcdCluster; ref != nil && ref.Name == c.Name && reads(b.Status.Run) {
			return "EtcdBackup " + b.Name, nil
		}
	}
	restores := &v1beta2.EtcdRestoreList{}
	if err := r.Client.List(ctx, restores, client.InNamespace(c.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("list EtcdRestores: %w", err)
	}
	for i := range restores.Items {
		if s := &restores.Items[i]; s.Spec.EtcdCluster.Name == c.Name && restore.Saves(s) && !over(s) {
			return "EtcdRestore " + s.Name, nil
		}
	}
	return "", nil
}

// reads reports whether a run may be reading a snapshot. One that has failed and waits for its next try is not.
func reads(run *v1beta2.BackupRun) bool {
	return run != nil && run.Task == v1beta2.BackupTaskBackup && run.RetryTime == nil
}

// defragment begins to defragment a member.
func (r *Reconciler) defragment(ctx context.Context, p *pass, e plan.Defragment) error {
	for _, endpoint := range endpoints(p.observed) {
		if endpoint.Pod == e.Name && endpoint.PodUID == e.UID {
			return r.Etcd.BeginDefragment(ctx, p.key().String(), p.clientConfig(), endpoint)
		}
	}
	return reconcile.ErrStale
}

// compact gives up history. What is known of pages that rest is of the time before that, whatever comes of the request.
func (r *Reconciler) compact(ctx context.Context, p *pass, e plan.Compact) error {
	r.Etcd.NoteCompaction(p.key().String(), time.Now())
	return p.session.Compact(ctx, e.Revision)
}

// disarm takes back an alarm, and remembers that there is room again.
func (r *Reconciler) disarm(ctx context.Context, p *pass, e plan.Disarm) error {
	if err := p.session.Disarm(ctx, e.Alarm); err != nil {
		return err
	}
	if e.Kind == plan.AlarmNoSpace {
		r.Etcd.NoteDisarmed(p.key().String(), r.Clock.Now())
	}
	return nil
}

// recordDefragmented tells of the defragmentations that are over.
func (r *Reconciler) recordDefragmented(p *pass) {
	for _, d := range r.Etcd.TakeFinished(p.key().String()) {
		took := d.Took.Round(time.Millisecond * 100)
		if d.Err != nil {
			reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeWarning, v1beta2.ReasonDefragmenting, "FinishDefragment",
				fmt.Sprintf("defragmenting %s has failed after %s: %v", d.Pod, took, d.Err))
			continue
		}
		const mebi = 1 << 20
		freed := resource.NewQuantity(max(d.Freed, 0)/mebi*mebi, resource.BinarySI)
		reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeNormal, v1beta2.ReasonDefragmenting, "FinishDefragment",
			fmt.Sprintf("%s is defragmented: it took %s, and has freed %s", d.Pod, took, freed))
	}
}

// upkeepAgain returns when the next pass is due for the databases' sake, and false if it does not matter.
func upkeepAgain(p *pass) (time.Duration, bool) {
	switch {
	case p.assessment.Room.Soon || p.assessment.Tidying.Soon:
		return upkeepInterval, true
	case plan.NearQuota(p.observed):
		return quotaInterval, true
	}
	return 0, false
}
