package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Image is etcd's image of that version.
func (c Cluster) Image(v string) string { return version.Image(c.Repository, v) }

// Refusal is what of the spec is not carried out, and why; nil if all is. The cluster is cared for all the same.
func Refusal(o Observed) *failure.Problem { return newView(o).refusal() }

func (v *view) refusal() *failure.Problem {
	if p := v.Cluster.Invalid; p != nil {
		return p
	}
	return v.goal().refused
}

// goal is the version to bring the members to, and those that they run. It is worked out once for each view: every rule
// asks for it.
type goal struct {
	// target is empty while each member keeps the version that it has; refused says why.
	target  string
	refused *failure.Problem
	// running are the versions of the listed members that answer, the lowest first.
	running []string
}

func (v *view) goal() *goal {
	if v.known == nil {
		v.known = v.newGoal()
	}
	return v.known
}

func (v *view) newGoal() *goal {
	g := &goal{target: v.Cluster.Version}
	for _, m := range v.Etcd.Members {
		if a, ok := v.answer(m); ok && a.Version != "" {
			g.running = append(g.running, a.Version)
		}
	}
	slices.SortFunc(g.running, version.Compare)
	g.running = slices.Compact(g.running)
	for _, running := range g.running {
		if running == v.Cluster.Version {
			continue
		}
		if _, err := version.Step(running, v.Cluster.Version); err != nil {
			return &goal{running: g.running, refused: &failure.Problem{
				Reason: v1beta2.ReasonVersionRefused, Message: err.Error(),
			}}
		}
	}
	return g
}

func (v *view) target() string { return v.goal().target }

// lowest is the version that a new member can run whatever becomes of an update: the lowest of those that run. Before
// anything runs, that of the spec.
func (v *view) lowest() string {
	if running := v.goal().running; len(running) > 0 {
		return running[0]
	}
	return v.Cluster.Version
}

// goesDown tells whether a member has yet to go down to another minor version.
func (v *view) goesDown() bool {
	return slices.ContainsFunc(v.Etcd.Members, func(m Member) bool { return v.down(v.pods[m.Name]) })
}

// down tells whether the pod is to run a lower minor version than it does.
func (v *view) down(p Pod) bool {
	target := v.target()
	return target != "" && p.Version != target && version.Compare(version.Minor(p.Version), version.Minor(target)) > 0
}

// stepsDown tells whether etcd's own downgrade has to come before any member runs the target: no member runs the target's
// minor version, and the data has the schema of a later one. While one does, as in an upgrade that is taken back, the
// cluster's version never rose above it.
func (v *view) stepsDown() bool {
	if !v.goesDown() {
		return false
	}
	target := version.Minor(v.target())
	lowered := true
	for _, m := range v.Etcd.Members {
		a, ok := v.answer(m)
		if !ok {
			continue
		}
		atMost := func(running string) bool { return version.Compare(version.Minor(running), target) <= 0 }
		if target == "" || atMost(a.Version) && atMost(v.pods[m.Name].Version) {
			return false
		}
		lowered = lowered && a.Downgrade == target && a.Storage == target
	}
	return !lowered
}

// neverAbove tells, where no quorum can be asked, whether the pod's data can be of no later minor version than the spec's,
// and of none that is too early for it: the pod was to run that minor version, or another member was that has yet to be
// told to run a later one.
func (v *view) neverAbove(p Pod) bool {
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

// told is the version that etcd was told to go down to, empty if none.
func (v *view) told() string {
	for _, m := range v.Etcd.Members {
		if a, ok := v.answer(m); ok && a.Downgrade != "" {
			return a.Downgrade
		}
	}
	return ""
}

// stayUp takes a downgrade back when the spec does, and for the time in which somebody has to join: while it is enabled
// etcd calls every newcomer incompatible, whatever its version (allowedVersionRange in its server).
func stayUp(v *view) Action {
	told, target := v.told(), v.target()
	if told == "" {
		return nil
	}
	joining := len(v.Etcd.Members) < v.size() || len(v.learners()) > 0
	unwanted := target != "" && version.Minor(target) != told && !v.needsSnapshots()
	if joining || unwanted {
		return CancelDowngrade{Version: told}
	}
	return nil
}

// needsSnapshots tells whether the members are about to run etcd 3.7 while their logs may hold entries that 3.5 wrote. From
// those 3.7 panics at every start; a log is read from the last snapshot on. This may be the first pass to see that all run 3.6.
func (v *view) needsSnapshots() bool {
	due := v.Cluster.SnapshotDue || version.Minor(v.Cluster.Runs) == "3.5"
	return due && version.Minor(v.target()) == "3.7" && version.Minor(v.lowest()) == "3.6"
}

// snapshot has every member write one. etcd 3.6 does that out of turn only when the cluster's version goes down
// (ClusterVersionSet in its server), so it is told to go down, and no longer once all data is there.
func snapshot(v *view) Action {
	const below = "3.5"
	switch {
	case !v.needsSnapshots():
		return nil
	case v.told() == "":
		return EnableDowngrade{Version: below}
	}
	for _, m := range v.Etcd.Members {
		if a, ok := v.answer(m); !ok || a.Storage != below {
			return Wait{
				Reason: v1beta2.ReasonWaitingForVersion, After: 5 * pollFast,
				Message: "waiting until " + m.Name + " has written a snapshot: etcd 3.7 cannot read what 3.5 has left in its log",
			}
		}
	}
	return CancelDowngrade{Version: below, Snapshot: true}
}

// downgrade has etcd lower the data's schema before any member is started with a lower minor version.
func downgrade(v *view) Action {
	target := version.Minor(v.target())
	switch {
	case !v.stepsDown():
		return nil
	case v.told() == "":
		return EnableDowngrade{Version: target}
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForVersion, After: 5 * pollFast,
		Message: "waiting until etcd has lowered the data of every member to " + target,
	}
}

// awaitVersion waits before the next minor version until the data has the schema of the one that every member runs.
func (v *view) awaitVersion() Action {
	if v.lowest() == v.target() {
		return nil
	}
	lowest := version.Minor(v.lowest())
	if version.Compare(version.Minor(v.target()), lowest) <= 0 {
		return nil
	}
	for _, m := range v.Etcd.Members {
		a, ok := v.answer(m)
		if ok && a.Storage != "" && a.Downgrade == "" && version.Compare(a.Storage, lowest) < 0 {
			return Wait{
				Reason: v1beta2.ReasonWaitingForVersion, After: pollSlow,
				Message: fmt.Sprintf("waiting until etcd has raised the data of %s from %s to %s", m.Name, a.Storage, lowest),
			}
		}
	}
	return nil
}

// refused ends the list while something of the spec is not carried out.
func refused(v *view) Action {
	if p := v.refusal(); p != nil {
		return Blocked(*p)
	}
	return nil
}
