package agent

import (
	"context"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// prune deletes what the policy does not retain, and counts the rest. The backup itself succeeded, so failures are warnings.
func (r *runner) prune(ctx context.Context, taken snapshot.Manifest) {
	r.at.step(task.StepPruning)
	r.result.Total = 1
	// The list from before the backup may be minutes old: what to delete is decided on a new one.
	l, err := snapshot.List(ctx, r.bucket, r.Backup.LegacyKey)
	if err != nil {
		r.warn("the backup was taken, but the others could not be listed, so none was deleted: %v", err)
		return
	}
	r.warnOfDamaged(l.Damaged)
	r.warnOfOthers(taken.Cluster.ID, l.Snapshots)
	own := r.own(l)
	r.count(own, taken)
	if r.Backup.Doubt != "" {
		r.warn("no backup was deleted: %s", r.Backup.Doubt)
		return
	}
	if newest := newestOf(own, taken); !taken.Stale && newest.Revision > taken.Revision {
		// The new one would be deleted. A cluster with the same ID and a lower revision was changed outside the operator.
		r.warn("no backup was deleted: %s has revision %d, but %s, of the same cluster ID, had %d at %s. If etcd was rolled back, or "+
			"recreated with the same ID, set another URL for its backups, or delete the earlier ones", taken.Object, taken.Revision,
			newest.Object, newest.Revision, newest.TakenAt.Format(time.RFC3339))
		return
	}
	deleted, err := snapshot.Prune(ctx, r.bucket, l, r.Backup.Policy, taken, time.Now())
	if err != nil {
		r.warn("the backup was taken, but not all old ones could be deleted: %v", err)
	}
	for _, m := range deleted {
		r.result.Deleted = append(r.result.Deleted, m.Object)
	}
	r.count(slices.DeleteFunc(own, func(m snapshot.Manifest) bool { return slices.Contains(deleted, m) }), taken)
}

// own are the writer's backups, the newest of each lineage first.
func (r *runner) own(l snapshot.Listing) []snapshot.Manifest {
	return slices.DeleteFunc(slices.Clone(l.Snapshots), func(m snapshot.Manifest) bool { return m.Writer.UID != r.Writer.UID })
}

// newestOf is the newest one of a snapshot's lineage that had a quorum; without any that snapshot itself.
func newestOf(own []snapshot.Manifest, taken snapshot.Manifest) snapshot.Manifest {
	for _, m := range own {
		if !m.Stale && task.SameCluster(m.Cluster.ID, taken.Cluster.ID) {
			return m
		}
	}
	return taken
}

// count records how many there are, by lineage: the snapshot's first, then by time.
func (r *runner) count(own []snapshot.Manifest, taken snapshot.Manifest) {
	r.result.Total, r.result.Lineages = int32(min(len(own), 1<<30)), nil
	for _, l := range snapshot.Lineages(own) {
		newest := l.Snapshots[0]
		entry := v1beta2.BackupLineage{
			ClusterID: task.ClusterID(l.Cluster.ID), Count: int32(min(len(l.Snapshots), 1<<30)),
			Name: newest.Object, Revision: newest.Revision,
		}
		if entry.CreationTime.Time = newest.TakenAt; l.Cluster.Name != "" {
			entry.Cluster = nameOf(l.Cluster)
		}
		r.result.Lineages = append(r.result.Lineages, entry)
	}
	current := task.ClusterID(taken.Cluster.ID)
	slices.SortStableFunc(r.result.Lineages, func(a, b v1beta2.BackupLineage) int {
		switch current {
		case a.ClusterID:
			return -1
		case b.ClusterID:
			return 1
		}
		return b.CreationTime.Compare(a.CreationTime.Time)
	})
	r.result.Lineages = r.result.Lineages[:min(len(r.result.Lineages), lineagesListed)]
}

// lineagesListed is the maximum number of lineages in status.
const lineagesListed = 10
