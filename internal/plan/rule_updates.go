package plan

import (
	"cmp"
	"slices"
	"time"
)

const (
	// stepLimit is how long a member may take to become healthy after its update before the update counts as stopped.
	stepLimit = 2 * time.Minute
	// LagLimit is how many raft entries a member may be behind before another one is restarted. A member that receives entries
	// stays well below it: etcd sends a snapshot from 5000 entries on (SnapshotCatchUpEntries in its server). kubectl etcd calls the same members
	// in sync.
	LagLimit = 1000
)

// Change is what it takes to bring a member to the spec, apart from changes in place that need no restart.
type Change int

// The changes.
const (
	ChangeNone Change = iota
	// ChangeRestart changes the image in place: the container restarts in the same pod.
	ChangeRestart
	// ChangeRecreate recreates the pod on its volume.
	ChangeRecreate
	// ChangeReplace adds another member first and then removes this one: its data cannot move to a new pod, or the other members
	// are no quorum without it.
	ChangeReplace
)

// String returns the change in one word.
func (c Change) String() string { return [...]string{"none", "restart", "recreate", "replace"}[c] }

// restartsPod reports whether the member stops for the change and comes back with its data.
func (c Change) restartsPod() bool { return c == ChangeRestart || c == ChangeRecreate }

// change returns the change that a listed member needs.
func (v *view) change(m Member) Change { return v.Changes[m.Name] }

func (v *view) changes() map[string]Change {
	all := map[string]Change{}
	for _, m := range v.Etcd.Members {
		if p, ok := v.pods[m.Name]; ok { // else it is made again first
			all[m.Name] = v.changeOf(p)
		}
	}
	return all
}

func (v *view) changeOf(p Pod) Change {
	c, template := v.volumes[p.Name], v.needsAnotherPod(p)
	switch {
	case v.downgraded(p) && template && p.Persistent:
		return ChangeRecreate
	case v.downgraded(p):
		return ChangeRestart // no replacement can join until the downgrade is complete
	case v.hasToGo(p.Name):
		return ChangeReplace
	case p.Persistent != v.Cluster.Persistent, p.Persistent && (c.Deleting || c.Lost || c.Drift || c.NotExpandable && c.Requested < v.Cluster.VolumeSize):
		return ChangeReplace
	case template && !p.Persistent:
		return ChangeReplace
	case !template && !v.changesImage(p):
		return ChangeNone
	case Quorum(v.TargetSize) > v.TargetSize-1:
		return ChangeReplace // of one or two voters none can be spared
	case template:
		return ChangeRecreate
	}
	return ChangeRestart
}

// needsAnotherPod reports whether the pod cannot be brought to the spec as long as etcd runs in it.
func (v *view) needsAnotherPod(p Pod) bool {
	return p.Drift.Template || v.unfit(p) || p.Drift.Resources && p.ResizeRestarts
}

// hasToGo reports whether the member of that name must be replaced even if its pod could be restarted or recreated: its data must not come back, or
// it is moved to another node.
func (v *view) hasToGo(name string) bool {
	return v.replacesQuarantined() && name == v.Quarantined.Name || v.Relocated.ID != 0 && name == v.Relocated.Name
}

// changesVersion reports whether the pod's etcd version has to change.
func (v *view) changesVersion(p Pod) bool {
	target := v.Versions.Target
	return target != "" && p.Version != target && !v.staysBehind(p)
}

// versionFor returns the version that a member's pod runs after its update.
func (v *view) versionFor(p Pod) string {
	if v.staysBehind(p) {
		return p.Version
	}
	return cmp.Or(v.Versions.Target, p.Version)
}

// replacing reports whether any member has to be replaced.
func (v *view) replacing() bool {
	return slices.ContainsFunc(v.Etcd.Members, func(m Member) bool { return v.change(m) == ChangeReplace })
}

// updating reports whether any member needs a change that disrupts it.
func (v *view) updating() bool {
	return slices.ContainsFunc(v.Etcd.Members, func(m Member) bool { return v.change(m) != ChangeNone })
}

func (v *view) updated() []string {
	var names []string
	for _, m := range v.Etcd.Members {
		if p, ok := v.pods[m.Name]; ok && v.change(m) == ChangeNone && !p.Drift.Any() {
			names = append(names, m.Name)
		}
	}
	return names
}

// updateInPlace applies changes that need no restart: labels, annotations, resources and volume sizes.
func updateInPlace(v *view) Action {
	var all []Action
	for _, m := range v.Etcd.Members {
		p, ok := v.pods[m.Name]
		if !ok || p.Deleting || p.Drift.Template {
			continue
		}
		if p.Drift.Metadata {
			all = append(all, SetMetadata{Name: p.Name, UID: p.UID})
		}
		if v.resizable(m, p) {
			all = append(all, Resize{Name: p.Name, UID: p.UID})
		}
	}
	var small []string
	for _, c := range v.Volumes {
		if _, listed := v.members[c.Name]; listed && v.tooSmall(c) {
			small = append(small, c.Name)
		}
	}
	if len(small) > 0 {
		all = append(all, Expand{Names: small})
	}
	return v.firstAllowed(all)
}

// tooSmall reports whether the spec asks for a larger volume of the same kind, and Kubernetes has not refused to expand this one.
func (v *view) tooSmall(c Volume) bool {
	return v.Cluster.Persistent && !c.NotExpandable && !c.Deleting && !c.Drift && c.Requested < v.Cluster.VolumeSize
}

// updateUnavailableMember updates a member that is down anyway, so that a spec that was fixed or reverted reaches the member at
// which a bad update has stopped.
//
// While it is disputed whose data is right, a voter is restarted for an update only if it cannot run as it is (neverRuns) and is to run what the others do:
// its data stays either way, but one that runs may serve clients although the operator does not hear it, and the data of voters with different versions
// cannot be compared.
func updateUnavailableMember(v *view) Action {
	var all []Action
	for _, m := range v.Etcd.Members {
		p := v.pods[m.Name]
		if v.healthy(m) || p.Deleting || v.Versions.DowngradeFirst || v.Versions.SnapshotsFirst && v.versionFor(p) != p.Version {
			continue
		}
		if v.disputed() && !m.Learner && !(v.neverRuns(p) && v.runByOthers(v.versionFor(p))) {
			continue
		}
		if v.change(m).restartsPod() && v.imagePresent(p) {
			all = append(all, v.update(m))
		}
	}
	return v.firstAllowed(all)
}

// neverRuns reports whether etcd cannot run in a pod as it is: a reason is known, or none of its containers was started for as long as that may take. A
// pod that is being made runs before long.
func (v *view) neverRuns(p Pod) bool {
	_, answers := v.answers[p.Name]
	return v.unstartable(p) || !answers && p.Phase == Pending && !p.Deleting && p.WaitsFor != "" && v.pendingFor(p) > silentLimit
}

// runByOthers reports whether all healthy voters run that version.
func (v *view) runByOthers(version string) bool {
	return !slices.ContainsFunc(v.voters, func(m Member) bool { return v.healthy(m) && v.pods[m.Name].Version != version })
}

// addReplacement adds a member made from the current spec before one that has to be replaced is removed; scaleDown removes that
// one once the new one votes.
func addReplacement(v *view) Action {
	if !v.replacing() || len(v.Etcd.Members)+len(v.Candidates) > v.TargetSize {
		return nil
	}
	return v.newMembers(1, v.newVersion())
}

// turn orders the voters that are to be updated: those first whose etcd may not serve, then those that are halted otherwise, then the others; and of
// each the leader last.
func (v *view) turn(m Member) (turn int) {
	switch {
	case v.unproven(m):
	case v.halted(m):
		turn = 2
	default:
		turn = 4
	}
	if m.ID == v.Leader {
		turn++
	}
	return turn
}

// nextToUpdate returns the member to restart or recreate next, in their turn, and what updates it; the zero Member if
// none is due. While the API server refuses the update of one, none is: the next one would be refused as well, or the update would
// end with two specs.
func (v *view) nextToUpdate() (Member, Action) {
	if v.Versions.DowngradeFirst || v.Versions.SnapshotsFirst || v.Update.Blocker != nil || v.Update.MissingImage != nil {
		return Member{}, nil
	}
	due := slices.DeleteFunc(slices.Clone(v.voters), func(m Member) bool { return !v.change(m).restartsPod() })
	if len(due) == 0 || v.budgetRefused() || slices.ContainsFunc(due, func(m Member) bool { return v.refused(v.update(m)) }) {
		return Member{}, nil
	}
	slices.SortStableFunc(due, func(a, b Member) int { return v.turn(a) - v.turn(b) })
	if !v.unproven(due[0]) && slices.ContainsFunc(v.voters, v.unproven) {
		return Member{}, nil // it is to be replaced, and the others may need this one until then
	}
	return due[0], v.update(due[0])
}

// updateNextMember updates one member. The leader first hands over leadership, and the member leaves the client Service.
func updateNextMember(v *view) Action {
	m := v.Update.Next
	if m.ID == 0 {
		return nil
	}
	if m.ID == v.Leader {
		if to := v.nextLeader(m); to.ID != 0 {
			return MoveLeader{From: m.ID, To: to.ID, FromName: m.Name, ToName: to.Name}
		}
	}
	if a := v.removeFromService(m); a != nil {
		return a
	}
	return v.Update.Step
}

// update returns the action that updates one member.
func (v *view) update(m Member) Action {
	p := v.pods[m.Name]
	if v.change(m) == ChangeRecreate {
		return Recreate{Name: p.Name, UID: p.UID, Version: v.versionFor(p)}
	}
	return SetImage{Name: p.Name, UID: p.UID, Version: v.versionFor(p)}
}
