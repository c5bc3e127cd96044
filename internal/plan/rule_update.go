package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const (
	// stepLimit is how long a member may take to get healthy after it was updated, until that is called stopped.
	stepLimit = 2 * time.Minute
	// lagLimit is how many raft entries a member may be behind before another one is restarted. A member that catches up
	// by entries keeps well below it: etcd sends a snapshot from 5000 on (SnapshotCatchUpEntries in its server).
	lagLimit = 1000
)

// Change is what has to be done to a member to bring it to the spec, without what is done in place with no restart.
type Change int

// Changes.
const (
	ChangeNone Change = iota
	// ChangeRestart changes the image in place: the container starts again in the same pod.
	ChangeRestart
	// ChangeRecreate makes the pod again on its volume.
	ChangeRecreate
	// ChangeReplace adds another member first and then takes this one out: its data cannot move, or the rest would have no
	// quorum while it is away.
	ChangeReplace
)

// String is the change in a word.
func (c Change) String() string { return [...]string{"none", "restart", "recreate", "replace"}[c] }

// stops tells whether the member stays and stops for the change.
func (c Change) stops() bool { return c == ChangeRestart || c == ChangeRecreate }

// change tells what has to be done to a listed member.
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
	c, template := v.volumes[p.Name], p.Drift.Template || p.Unfit
	switch {
	case v.down(p) && template && p.Persistent:
		return ChangeRecreate
	case v.down(p):
		return ChangeRestart // nobody can take its place before it is down; the rest comes afterwards
	case p.Persistent != v.Cluster.Persistent, p.Persistent && (c.Deleting || c.Lost || c.Drift || c.Fixed && c.Requested < v.Cluster.VolumeSize):
		return ChangeReplace
	case template && !p.Persistent:
		return ChangeReplace
	case !template && !v.otherImage(p):
		return ChangeNone
	case Quorum(v.Size) > v.Size-1:
		return ChangeReplace // of one or two voters none can be missed
	case template:
		return ChangeRecreate
	}
	return ChangeRestart
}

// otherVersion tells whether the pod is to run another version than it does.
func (v *view) otherVersion(p Pod) bool {
	target := v.Versions.Target
	return target != "" && p.Version != target
}

// versionFor is the version that a member's pod is to run after its update.
func (v *view) versionFor(p Pod) string {
	return cmp.Or(v.Versions.Target, p.Version)
}

// replacing tells whether a member has to be replaced.
func (v *view) replacing() bool {
	return slices.ContainsFunc(v.Etcd.Members, func(m Member) bool { return v.change(m) == ChangeReplace })
}

// updating tells whether a member has any change before it that disturbs it.
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

// adjust does what disturbs nobody: labels, resources and bigger volumes.
func adjust(v *view) Action {
	for _, m := range v.Etcd.Members {
		p, ok := v.pods[m.Name]
		if !ok || p.Deleting || p.Drift.Template {
			continue
		}
		if p.Drift.Metadata {
			return SetMetadata{Name: p.Name, UID: p.UID}
		}
		if p.Drift.Resources {
			return Resize{Name: p.Name, UID: p.UID}
		}
	}
	var small []string
	for _, c := range v.Volumes {
		_, listed := v.members[c.Name]
		if listed && !c.Fixed && !c.Deleting && !c.Drift && c.Requested < v.Cluster.VolumeSize && v.Cluster.Persistent {
			small = append(small, c.Name)
		}
	}
	if len(small) > 0 {
		return Expand{Names: small}
	}
	return nil
}

// mend updates a member that is down anyway: so a bad update is taken back, or mended, where it has stopped.
func mend(v *view) Action {
	for _, m := range v.Etcd.Members {
		p := v.pods[m.Name]
		if v.healthy(m) || p.Deleting || v.Versions.DowngradeFirst {
			continue
		}
		if v.change(m).stops() && v.pulled(p) {
			return v.update(m)
		}
	}
	return nil
}

// steady holds an update back until every member can be counted on: one at a time is out of order. The budget stays closed
// until the last one can.
func steady(v *view) Action { return v.Update.Blocker }

func (v *view) blocker() Action {
	if !v.updating() && !v.closed() {
		return nil
	}
	if p := v.Alarm; p != nil && p.Reason == v1beta2.ReasonCorrupt {
		return Blocked(*p)
	}
	for _, m := range v.voters {
		p := v.pods[m.Name]
		if !v.healthy(m) || !p.Ready || !v.follows(m) {
			return v.waitForMember(m, p)
		}
	}
	if !v.updating() {
		return nil
	}
	if v.UnderWay != nil {
		return v.UnderWay
	}
	return v.awaitVersion()
}

// recent tells whether the pod has become Ready, or has ceased to be, within the time that an update may take.
func (v *view) recent(p Pod) bool { return p.Changed.IsZero() || v.Now.Sub(p.Changed) <= stepLimit }

// restarting are the pods of which that can be if they are down.
func (v *view) restarting() []string {
	if !v.closed() {
		return nil
	}
	var names []string
	for _, p := range v.Pods {
		if p.trouble() == "" && (p.Ready || v.recent(p)) {
			names = append(names, p.Name)
		}
	}
	return names
}

// follows tells whether the member follows the leader that the others follow, closely.
func (v *view) follows(m Member) bool {
	a, _ := v.answer(m)
	return a.Leader == v.Leader && a.Applied+lagLimit >= v.committed()
}

func (v *view) waitForMember(m Member, p Pod) Action {
	what := fmt.Sprintf("waiting until %s is healthy", m.Name)
	if v.updating() {
		what = fmt.Sprintf("the update goes on when %s is healthy", m.Name)
	}
	switch {
	case p.trouble() != "":
		return Wait{
			Reason: v1beta2.ReasonUpdateStopped, After: pollSlow,
			Message: fmt.Sprintf("%s: %s; mend that, or go back to the old spec if the update is to blame", what, p.trouble()),
		}
	case !p.Deleting && !p.Ready && !v.recent(p):
		return Wait{
			Reason: v1beta2.ReasonUpdateStopped, After: pollSlow,
			Message: what + ", which takes long: look at its log, or go back to the old spec if the update is to blame",
		}
	}
	return Wait{Reason: v1beta2.ReasonWaitingForMember, After: pollFast, Message: what}
}

// surge brings in a member as the spec asks before one that has to be replaced goes: shrink takes that out once the new
// one votes.
func surge(v *view) Action {
	if !v.replacing() || len(v.Etcd.Members)+len(v.Candidates) > v.Size {
		return nil
	}
	return v.newMembers(1, cmp.Or(v.Versions.Target, v.Versions.Lowest))
}

// next is the member to restart or to recreate next, if all is ready for that: followers first, and the leader last.
func (v *view) next() Member {
	if v.Versions.DowngradeFirst || v.Versions.SnapshotsFirst || v.Update.Blocker != nil || v.Update.Image != nil {
		return Member{}
	}
	last := Member{}
	for _, m := range v.voters {
		if !v.change(m).stops() {
			continue
		}
		if m.ID != v.Leader {
			return m
		}
		last = m
	}
	return last
}

// roll restarts one member. The leader hands over first, and clients leave it.
func roll(v *view) Action {
	m := v.Update.Next
	if m.ID == 0 {
		return nil
	}
	if m.ID == v.Leader {
		if to := v.heir(m); to != 0 {
			return MoveLeader{From: m.ID, To: to}
		}
	}
	if a := v.unserve(m); a != nil {
		return a
	}
	return v.update(m)
}

// awaitImage waits for what a restart needs. The kubelet ends a container before it pulls the new image: it must be there.
func awaitImage(v *view) Action { return v.Update.Image }

func (v *view) missingImage() Action {
	for _, m := range v.voters {
		p := v.pods[m.Name]
		if !v.change(m).stops() || v.pulled(p) {
			continue
		}
		if pull, _ := v.pull(p); pull.Problem != "" {
			return Wait{
				Reason: v1beta2.ReasonUpdateStopped, After: pollSlow,
				Message: fmt.Sprintf("%s cannot be fetched to node %s, and %s goes on as it is: %s",
					pull.Image, p.Node, p.Name, pull.Problem),
			}
		}
		return Wait{
			Reason: v1beta2.ReasonPullingImage, After: pollSlow,
			Message: fmt.Sprintf("waiting until %s is on node %s", v.Cluster.Image(v.versionFor(p)), p.Node),
		}
	}
	return nil
}

// update takes the step for one member.
func (v *view) update(m Member) Action {
	p := v.pods[m.Name]
	if v.change(m) == ChangeRecreate {
		return Recreate{Name: p.Name, UID: p.UID, Version: v.versionFor(p)}
	}
	return SetImage{Name: p.Name, UID: p.UID, Version: v.versionFor(p)}
}
