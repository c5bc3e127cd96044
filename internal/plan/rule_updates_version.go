package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Image returns the etcd image of that version.
func (c Cluster) Image(v string) string { return c.Pinned.Image(c.Repository, v) }

// refusal returns which part of the spec cannot be carried out, and why; nil if all of it can. The cluster is managed all the
// same.
func (v *view) rejectedSpec() *failure.Problem {
	if p := v.Cluster.Invalid; p != nil {
		return p
	}
	return v.Versions.Refused
}

func (v *view) versions() Versions {
	running := v.runningVersions()
	known := Versions{Target: v.Cluster.Version, Lowest: v.Cluster.Version}
	if len(running) > 0 {
		known.Lowest = running[0]
	}
	for _, of := range running {
		if of == v.Cluster.Version {
			continue
		}
		if _, err := version.Step(of, v.Cluster.Version); err != nil {
			known.Target, known.Refused = "", &failure.Problem{Reason: v1beta2.ReasonVersionRefused, Message: err.Error()}
			break
		}
	}
	known.DowngradeFirst = v.downgradeFirst(known.Target)
	known.SnapshotsFirst = v.snapshotsFirst(known)
	return known
}

// runningVersions returns the versions of the listed members that answer, lowest first.
func (v *view) runningVersions() []string {
	var all []string
	for _, m := range v.Etcd.Members {
		if a, ok := v.answer(m); ok {
			all = append(all, v.Runs(a))
		}
	}
	all = slices.DeleteFunc(all, func(of string) bool { return of == "" })
	slices.SortFunc(all, version.Compare)
	return slices.Compact(all)
}

// anyDowngrade reports whether a member still runs a higher minor version than the target.
func (v *view) anyDowngrade(target string) bool {
	return slices.ContainsFunc(v.Etcd.Members, func(m Member) bool { return isDowngrade(v.pods[m.Name], target) })
}

// downgraded reports whether the pod's minor version has to be lowered.
func (v *view) downgraded(p Pod) bool { return isDowngrade(p, v.Versions.Target) }

func isDowngrade(p Pod, target string) bool {
	return target != "" && p.Version != target && version.Compare(version.Minor(p.Version), version.Minor(target)) > 0
}

// downgradeFirst reports whether etcd's downgrade has to be enabled before any member runs the target version: no member runs
// the target's minor version yet, and the data has a newer schema. If one does, as when an upgrade is reverted halfway, the
// cluster version was never raised.
func (v *view) downgradeFirst(to string) bool {
	if !v.anyDowngrade(to) {
		return false
	}
	target := version.Minor(to)
	lowered := true
	for _, m := range v.Etcd.Members {
		a, ok := v.answer(m)
		if !ok {
			continue
		}
		atMost := func(running string) bool { return version.Compare(version.Minor(running), target) <= 0 }
		if target == "" || a.Version != "" && atMost(a.Version) && atMost(v.pods[m.Name].Version) {
			return false
		}
		lowered = lowered && a.Downgrade == target && a.Storage == target
	}
	return !lowered
}

// canRunSpecVersion reports, without a quorum to ask, whether the pod can run the spec's minor version on its data: its own
// minor version is the same, or the spec's is the lowest one that any member was to run, so that the cluster version cannot be
// above it.
func (v *view) canRunSpecVersion(p Pod) bool {
	target := version.Minor(v.Cluster.Version)
	if target == "" || v.Cluster.Invalid != nil {
		return false
	}
	minors := []string{version.Minor(p.Version)}
	for _, c := range v.Volumes {
		if v.usable(c) && c.Version != "" {
			minors = append(minors, version.Minor(c.Version))
		}
	}
	for _, other := range v.Pods {
		if other.Permit != nil && !other.Persistent {
			minors = append(minors, version.Minor(other.Version))
		}
	}
	return target == minors[0] || target == slices.MinFunc(minors, version.Compare)
}

// snapshotsFirst reports whether the members are about to run etcd 3.7 while their logs may still hold entries written by 3.5:
// 3.7 panics on those at every start. A log is replayed from the last snapshot on. This may be the first pass in which all
// members run 3.6.
func (v *view) snapshotsFirst(known Versions) bool {
	due := v.Cluster.SnapshotDue || version.Minor(v.Cluster.LowestVersion) == "3.5"
	return due && version.Minor(known.Target) == "3.7" && version.Minor(known.Lowest) == "3.6"
}

// snapshotBeforeUpgrade makes every member write a snapshot. etcd 3.6 does so immediately only when the cluster version is
// lowered (ClusterVersionSet in its server), so a downgrade is enabled, and canceled once the snapshots are written.
func snapshotBeforeUpgrade(v *view) Action {
	const below = "3.5"
	switch {
	case !v.Versions.SnapshotsFirst:
		return nil
	case v.downgradeTarget() == "":
		return EnableDowngrade{Version: below}
	}
	for _, m := range v.Etcd.Members {
		if a, ok := v.answer(m); !ok || a.Storage != below {
			return Wait{
				Reason: v1beta2.ReasonWaitingForVersion, After: 5 * pollFast,
				Message: "waiting until " + m.Name + " has written a snapshot: etcd 3.7 cannot read log entries of 3.5",
			}
		}
	}
	return CancelDowngrade{Version: below, Snapshot: true}
}

// enableDowngrade makes etcd lower its storage version before any member is started with a lower minor version.
func enableDowngrade(v *view) Action {
	target := version.Minor(v.Versions.Target)
	switch {
	case !v.Versions.DowngradeFirst:
		return nil
	case v.downgradeTarget() == "":
		return EnableDowngrade{Version: target}
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForVersion, After: 5 * pollFast,
		Message: "waiting for etcd to lower the storage version of every member to " + target,
	}
}

// waitForStorageVersion waits before the next minor version until the storage version is that of the version that every member
// runs.
func (v *view) waitForStorageVersion() Action {
	if v.Versions.Lowest == v.Versions.Target {
		return nil
	}
	lowest := version.Minor(v.Versions.Lowest)
	if version.Compare(version.Minor(v.Versions.Target), lowest) <= 0 {
		return nil
	}
	for _, m := range v.Etcd.Members {
		a, ok := v.answer(m)
		if ok && a.Storage != "" && a.Downgrade == "" && version.Compare(a.Storage, lowest) < 0 {
			return Wait{
				Reason: v1beta2.ReasonWaitingForVersion, After: pollSlow,
				Message: fmt.Sprintf("waiting for etcd to raise the storage version of %s from %s to %s", m.Name, a.Storage, lowest),
			}
		}
	}
	return nil
}
