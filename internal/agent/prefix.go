package agent

import (
	"context"
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
)

// exclusive keeps the first backup out of storage that holds somebody else's. It is asked with what etcd says whose data it
// is, before anything is written. Who has backups there already goes on: a stranger who came later takes nothing away.
func (r *runner) exclusive(ctx context.Context, source snapshot.Source) (snapshot.Source, error) {
	if r.Backup.Shared {
		return source, nil
	}
	others, err := r.others(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (*snapshot.Stream, error) {
		s, err := source(ctx)
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

// others are the backups of others, none if there are any of the writer's own: then it does not matter. A name that is given,
// as coreos/etcd-operator does for a backup that is taken once, is written over, so that whose data it is matters anyway.
func (r *runner) others(ctx context.Context) ([]snapshot.Manifest, error) {
	if r.Backup.LegacyKey != "" && !r.Backup.Periodic {
		m, found, err := snapshot.Find(ctx, r.bucket, r.Backup.LegacyKey)
		switch {
		case isDamaged(err): // nobody can use what is there
			return nil, nil
		case err != nil || !found:
			return nil, err
		}
		return []snapshot.Manifest{m}, nil
	}
	others, own, err := snapshot.Others(ctx, r.bucket, r.Backup.LegacyKey, r.Writer.UID)
	if own {
		return nil, nil
	}
	return others, err
}

// strangers are the lineages that have nothing to do with the cluster that is backed up. What EtcdRestores have saved is
// nobody's "latest", and is left out.
func (r *runner) strangers(clusterID string, listed []snapshot.Manifest) (strangers []snapshot.Lineage) {
	of := r.Backup.Cluster
	of.ID = clusterID
	for _, l := range snapshot.Strangers(of, r.Backup.Ancestors, listed) {
		l.Snapshots = byBackups(l.Snapshots)
		if len(l.Snapshots) > 0 {
			strangers = append(strangers, l)
		}
	}
	return strangers
}

func byBackups(all []snapshot.Manifest) (kept []snapshot.Manifest) {
	for _, m := range all {
		if m.Writer.Kind != snapshot.KindRestore {
			kept = append(kept, m)
		}
	}
	return kept
}

func (r *runner) foreign(strangers []snapshot.Lineage) error {
	return &snapshot.Error{Reason: v1beta2.ReasonForeignBackups, Lasting: true, Message: fmt.Sprintf(
		"%s holds backups of a cluster that this one does not descend from, and nothing is written beside them: give another URL, "+
			"or start the cluster from them, with restoreFrom, or set spec.prefixPolicy to Shared. These are: %s",
		r.Storage.URL, describeAll(strangers))}
}

// tellStrangers warns of backups of other clusters beside those that are kept here.
func (r *runner) tellStrangers(clusterID string, listed []snapshot.Manifest) {
	if strangers := r.strangers(clusterID, listed); len(strangers) > 0 && !r.Backup.Shared {
		r.warn("%s holds backups of other clusters than this one descends from, which are kept for themselves: a restore of the "+
			"latest has to say whose, by spec.clusterID. These are: %s", r.Storage.URL, describeAll(strangers))
	}
}
