package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// exclusive refuses the first backup if the storage holds those of another cluster, and any if endpoints lead to another cluster than when
// the last one was taken. That is decided by the cluster ID that etcd reports, before anything is written, and where it is known which ID is
// right, before a password is shown to anyone. An EtcdBackup of an EtcdCluster that already has backups there continues whatever was added
// later.
func (r *runner) exclusive(
	ctx context.Context, here *snapshot.Objects, there []snapshot.Manifest, config etcdclient.Config, expected uint64,
) (snapshot.Source, error) {
	if r.Backup.Shared {
		return snapshot.FromEtcd(config, expected), nil
	}
	others, err := r.others(ctx, here, there)
	if err != nil {
		return nil, err
	}
	last, known, err := r.last(ctx, here)
	if err != nil {
		return nil, err
	}
	if known {
		if expected, err = clusterID(last.Cluster.ID); err != nil {
			return nil, err
		}
	}
	source := snapshot.FromEtcd(config, expected)
	return func(ctx context.Context) (*snapshot.Stream, error) {
		s, err := source(ctx)
		if e, is := errors.AsType[*snapshot.ElsewhereError](err); is && known {
			return nil, r.exchanged(last, e.ClusterID)
		}
		if err != nil {
			return nil, err
		}
		if strangers := r.strangers(s.ClusterID, others); len(strangers) > 0 {
			_ = s.Body.Close()
			return nil, r.foreign(strangers)
		}
		return s, nil
	}, nil
}

// last is the writer's last backup of endpoints, and false if there is none. An EtcdCluster says itself which etcd cluster is its own, and
// may be restored; endpoints say nothing, and may lead to another etcd overnight, whose data would pass for a good backup of the first.
func (r *runner) last(ctx context.Context, here *snapshot.Objects) (snapshot.Manifest, bool, error) {
	if r.Backup.Cluster.Name != "" || r.once() {
		return snapshot.Manifest{}, false, nil
	}
	return here.Last(ctx, r.Writer.UID, r.Backup.LegacyKey, time.Now())
}

// others are the backups of other writers, none if the writer has any of its own: then they do not matter. An object at a fixed name,
// as for a single backup in coreos/etcd-operator's form, would be overwritten, so its origin matters in any case.
func (r *runner) others(ctx context.Context, here *snapshot.Objects, there []snapshot.Manifest) ([]snapshot.Manifest, error) {
	if r.Backup.LegacyKey != "" && !r.Backup.Periodic {
		return there, nil
	}
	others, own, err := here.Others(ctx, r.Writer.UID)
	if own {
		return nil, nil
	}
	return others, err
}

// strangers are the lineages here that are unrelated to the cluster that is backed up.
func (r *runner) strangers(clusterID string, listed []snapshot.Manifest) (strangers []snapshot.Lineage) {
	of := r.Backup.Cluster
	of.ID = clusterID
	for _, l := range snapshot.Strangers(of, r.Backup.Ancestors, listed) {
		l.Snapshots = slices.DeleteFunc(l.Snapshots, func(m snapshot.Manifest) bool { return !r.besides(m) })
		if len(l.Snapshots) > 0 {
			strangers = append(strangers, l)
		}
	}
	return strangers
}

// besides reports whether a backup is where those of the task are. The safety snapshot of an EtcdRestore never counts as the
// latest. With the keys of coreos/etcd-operator each EtcdBackup has the names that start with its own key.
func (r *runner) besides(m snapshot.Manifest) bool {
	key := r.Backup.LegacyKey
	switch {
	case m.Writer.Kind == task.KindRestore:
		return false
	case key == "":
		return true
	case r.Backup.Periodic:
		return snapshot.IsLegacyName(m.Object, key)
	}
	return m.Object == key
}

func (r *runner) foreign(strangers []snapshot.Lineage) error {
	return failure.New(failure.Problem{Reason: v1beta2.ReasonForeignBackups, Terminal: true, Message: fmt.Sprintf(
		"%s holds backups of a cluster that this one does not descend from, so no backup is written there%s. If they are "+
			"another cluster's, set another URL, or set spec.prefixPolicy to Shared, after which a restore must set spec.clusterID. These are: %s",
		r.Storage.URL, r.namesake(strangers), describeAll(strangers, r.Writer.Namespace))})
}

// exchanged refuses a cluster that endpoints did not lead to before.
func (r *runner) exchanged(last snapshot.Manifest, clusterID string) error {
	return failure.New(failure.Problem{Reason: v1beta2.ReasonForeignBackups, Terminal: true, Message: fmt.Sprintf(
		"spec.etcdEndpoints lead to the etcd cluster %s, but the last backup in %s, %s of %s, is of the etcd cluster %s, so no backup is "+
			"written there, and none is deleted. If they lead to the wrong etcd, correct them. If this is the right one, because etcd was "+
			"restored or created anew, set another URL, or set spec.prefixPolicy to Shared, after which each cluster's backups are retained "+
			"separately, and a restore must set spec.clusterID",
		task.ClusterID(clusterID), r.Storage.URL, last.Object, last.TakenAt.UTC().Format(time.RFC3339), task.ClusterID(last.Cluster.ID))})
}

// namesake says what to do if an unrelated lineage is of a cluster of the same name: the cluster was recreated, and has lost its
// data. Backing it up elsewhere would only hide that.
func (r *runner) namesake(strangers []snapshot.Lineage) string {
	own := r.Backup.Cluster
	for _, l := range strangers {
		if own.Name != "" && l.Cluster.Name == own.Name && l.Cluster.Namespace == own.Namespace {
			return fmt.Sprintf("; some are of an earlier cluster of the same name: to restore that data into this one, create an "+
				"EtcdRestore with spec.clusterID %s", l.Cluster.ID)
		}
	}
	return ""
}

// warnOfOthers warns of backups of other clusters in the same storage.
func (r *runner) warnOfOthers(clusterID string, listed []snapshot.Manifest) {
	if strangers := r.strangers(clusterID, listed); len(strangers) > 0 && !r.Backup.Shared {
		r.warn("%s also holds backups of clusters that this one does not descend from, which are retained separately: a restore of the "+
			"latest must set spec.clusterID%s. These are: %s", r.Storage.URL, r.namesake(strangers), describeAll(strangers, r.Writer.Namespace))
	}
}
