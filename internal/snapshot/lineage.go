package snapshot

import (
	"cmp"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Lineage is the snapshots of one etcd cluster ID. In a lineage the revision only goes up, so that it says which snapshot has
// more, whatever a clock said. Between lineages neither a revision nor a time says anything: a cluster that was created
// anew, empty, under the name of one that is gone has the later times.
type Lineage struct {
	// Cluster is whose data it is.
	Cluster task.Cluster
	// Snapshots are its own, the newest first.
	Snapshots []Manifest
}

// Lineages sorts snapshots by lineage, in the order of the cluster IDs.
func Lineages(snapshots []Manifest) []Lineage {
	sorted := slices.Clone(snapshots)
	slices.SortFunc(sorted, func(a, b Manifest) int {
		return cmp.Or(cmp.Compare(task.ClusterID(a.Cluster.ID), task.ClusterID(b.Cluster.ID)), newestFirst(a, b))
	})
	var all []Lineage
	for i, m := range sorted {
		if i == 0 || !task.SameCluster(m.Cluster.ID, sorted[i-1].Cluster.ID) {
			all = append(all, Lineage{Cluster: m.Cluster})
		}
		last := &all[len(all)-1]
		last.Snapshots = append(last.Snapshots, m)
		if last.Cluster.UID == "" { // it was taken by endpoints: another one may say more
			last.Cluster = m.Cluster
		}
	}
	return all
}

// newestFirst sorts snapshots of one lineage: by revision, and at the same one those that were taken with a quorum first. The
// time tells which of two is the later if nothing was written between them. The name only makes the order the same each
// time.
func newestFirst(a, b Manifest) int {
	return cmp.Or(cmp.Compare(b.Revision, a.Revision), rank(a)-rank(b), b.TakenAt.Compare(a.TakenAt),
		cmp.Compare(a.Object, b.Object))
}

func rank(m Manifest) int {
	if m.Stale {
		return 1
	}
	return 0
}

// Head returns the lineage that goes on with all the others that have snapshots, and false if they compete. One goes on with
// another if it was restored from its newest snapshot, or has replaced it in the same EtcdCluster by a restore: whoever asks
// for the latest has given up what was there then. A cluster that was restored from an older snapshot elsewhere is a
// branch, as a copy of production for tests is: which of the two is meant only people know.
func Head(all []Lineage) (Lineage, bool) {
	for _, l := range all {
		seen := map[string]bool{}
		follow(l, all, seen)
		missing := func(other Lineage) bool { return len(other.Snapshots) > 0 && !seen[task.ClusterID(other.Cluster.ID)] }
		if len(l.Snapshots) > 0 && !slices.ContainsFunc(all, missing) {
			return l, true
		}
	}
	return Lineage{}, false
}

// follow collects the IDs of a lineage and of all that it goes on with.
func follow(l Lineage, all []Lineage, seen map[string]bool) {
	seen[task.ClusterID(l.Cluster.ID)] = true
	for _, other := range all {
		if !seen[task.ClusterID(other.Cluster.ID)] && goesOn(l, other) {
			follow(other, all, seen)
		}
	}
}

// goesOn reports whether nothing of the other lineage is missing in this one, or only what its EtcdCluster was to lose.
func goesOn(l, other Lineage) bool {
	own, theirs := l.Cluster, other.Cluster
	restored := own.ParentRevision > 0
	replaced := own.UID != "" && own.UID == theirs.UID && own.Incarnation > theirs.Incarnation
	whole := own.Parent != "" && task.SameCluster(own.Parent, theirs.ID) &&
		(len(other.Snapshots) == 0 || other.Snapshots[0].Revision <= own.ParentRevision)
	return restored && (replaced || whole)
}

// Strangers are the lineages that have nothing to do with a cluster: they are neither its own, nor one that it descends from,
// nor another one of the same EtcdCluster, or of one that it descends from. The ancestors are those that are known already,
// by their IDs; the others are found by what the snapshots say.
func Strangers(of task.Cluster, ancestors []string, snapshots []Manifest) []Lineage {
	ids, uids := map[string]bool{}, map[string]bool{}
	add := func(c task.Cluster) {
		ids[task.ClusterID(c.ID)], ids[task.ClusterID(c.Parent)], uids[c.UID] = true, true, true
	}
	add(of)
	for _, id := range ancestors {
		ids[task.ClusterID(id)] = true
	}
	all := Lineages(snapshots)
	for { // until nobody is found to be a relative any more
		left := slices.DeleteFunc(slices.Clone(all), func(l Lineage) bool {
			related := ids[task.ClusterID(l.Cluster.ID)] || l.Cluster.UID != "" && uids[l.Cluster.UID]
			if related {
				add(l.Cluster)
			}
			return related
		})
		if len(left) == len(all) {
			return left
		}
		all = left
	}
}
