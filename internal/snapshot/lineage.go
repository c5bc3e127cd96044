package snapshot

import (
	"cmp"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/task"
)

// Lineage is the snapshots of one etcd cluster ID. Within a lineage the revision only increases, so it decides which snapshot is
// newer, whatever the clocks said. Across lineages neither revision nor time decides: a cluster that was recreated empty, with the
// name of a deleted one, has the later times.
type Lineage struct {
	// Cluster is the cluster that the data is of.
	Cluster task.Cluster
	// Snapshots are its own, the newest first.
	Snapshots []Manifest
}

// Lineages groups snapshots by lineage, in the order of the cluster IDs.
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
		if last.Cluster.UID == "" { // it was taken by endpoints: another one may know more of the cluster
			last.Cluster = m.Cluster
		}
	}
	return all
}

// newestFirst sorts snapshots of one lineage: by revision, and at the same one those that were taken with quorum first. The time
// decides between two if nothing was written between them. The name only makes the order deterministic.
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

// Head returns the lineage that descends from all the others that have snapshots, and false if there is none. One descends from
// another if it was restored from its newest snapshot, or has replaced it in the same EtcdCluster by a restore: then the data that
// it replaced was given up deliberately. A cluster that was restored from an older snapshot elsewhere is a branch, as a copy of
// production for tests is: only a user knows which of the two to restore.
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

// follow collects the IDs of a lineage and of all that it descends from.
func follow(l Lineage, all []Lineage, seen map[string]bool) {
	seen[task.ClusterID(l.Cluster.ID)] = true
	for _, other := range all {
		if !seen[task.ClusterID(other.Cluster.ID)] && goesOn(l, other) {
			follow(other, all, seen)
		}
	}
}

// goesOn reports whether this lineage descends from the other one, so that it lacks nothing of it, or only what a restore was to
// replace.
func goesOn(l, other Lineage) bool {
	own, theirs := l.Cluster, other.Cluster
	restored := own.ParentRevision > 0
	replaced := own.UID != "" && own.UID == theirs.UID && own.Incarnation > theirs.Incarnation
	whole := own.Parent != "" && task.SameCluster(own.Parent, theirs.ID) &&
		(len(other.Snapshots) == 0 || other.Snapshots[0].Revision <= own.ParentRevision)
	return restored && (replaced || whole)
}

// Strangers are the lineages that are unrelated to a cluster: neither its own, nor one that it descends from, nor another one of the
// same EtcdCluster, or of one that it descends from. The given ancestors are known by their IDs; others are found by the snapshots'
// manifests.
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
	for { // until no further relative is found
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
