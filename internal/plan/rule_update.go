package plan

import (
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

// change is what has to be done to a member to bring it to the spec, without what is done in place with no restart.
type change int

const (
	noChange change = iota
	// restarting changes the image in place: the container starts again in the same pod.
	restarting
	// recreating makes the pod again on its volume.
	recreating
	// replacing adds another member first and then takes this one out: its data cannot move, or the rest would have no
	// quorum while it is away.
	replacing
)

// stops tells whether the member stays and stops for the change.
func (c change) stops() bool { return c == restarting || c == recreating }

// change tells what has to be done to a listed member.
func (v *view) change(m Member) change {
	p, ok := v.pods[m.Name]
	if !ok {
		return noChange // it is made again first
	}
	c, template := v.volumes[m.Name], p.Drift.Template || p.Unfit
	switch {
	case v.down(p) && template && p.Persistent:
		return recreating
	case v.down(p):
		return restarting // nobody can take its place before it is down; the rest comes afterwards
	case p.Persistent != v.Cluster.Persistent, p.Persistent && (c.Deleting || c.Lost || c.Drift || c.Fixed && c.Requested < v.Cluster.VolumeSize):
		return replacing
	case template && !p.Persistent:
		return replacing
	case !template && !v.otherImage(p):
		return noChange
	case Quorum(v.size()) > v.size()-1:
		return replacing // of one or two voters none can be missed
	case template:
		return recreating
	}
	return restarting
}

// otherVersion tells whether the pod is to run another version than it does.
func (v *view) otherVersion(p Pod) bool {
	target := v.target()
	return target != "" && p.Version != target
}

// versionFor is the version that a member's pod is to run after its update.
func (v *view) versionFor(p Pod) string {
	if target := v.target(); target != "" {
		return target
	}
	return p.Version
}

// changing are the members that have that change before them.
func (v *view) changing(c change) []Member {
	return slices.DeleteFunc(slices.Clone(v.Etcd.Members), func(m Member) bool { return v.change(m) != c })
}

// updating tells whether a member has any change before it that disturbs it.
func (v *view) updating() bool { return len(v.changing(noChange)) < len(v.Etcd.Members) }

// Updated are the names of the members whose pods are as the spec asks.
func Updated(o Observed) []string {
	v := newView(o)
	var names []string
	for _, m := range v.Etcd.Members {
		if v.updated(m) {
			names = append(names, m.Name)
		}
	}
	return names
}

func (v *view) updated(m Member) bool {
	p, ok := v.pods[m.Name]
	return ok && v.change(m) == noChange && !p.Drift.Any()
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
		if v.healthy(m) || p.Deleting || v.stepsDown() {
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
func steady(v *view) Action {
	if !v.updating() && !v.closed() {
		return nil
	}
	if p := v.alarm(); p != nil && p.Reason == v1beta2.ReasonCorrupt {
		return Blocked(*p)
	}
	for _, m := range v.voters() {
		p := v.pods[m.Name]
		if !v.healthy(m) || !p.Ready || !v.follows(m) {
			return v.waitForMember(m, p)
		}
	}
	if !v.updating() {
		return nil
	}
	if a := await(v); a != nil {
		return a
	}
	return v.awaitVersion()
}

// recent tells whether the pod has become Ready, or has ceased to be, within the time that an update may take.
func (v *view) recent(p Pod) bool { return p.Changed.IsZero() || v.Now.Sub(p.Changed) <= stepLimit }

// Restarting tells whether a member that is down was disturbed by the operator and has time yet to come back.
func Restarting(o Observed, name string) bool {
	v := newView(o)
	p, ok := v.pods[name]
	return ok && v.closed() && p.trouble() == "" && (p.Ready || v.recent(p))
}

// follows tells whether the member follows the leader that the others follow, closely.
func (v *view) follows(m Member) bool {
	a, _ := v.answer(m)
	return a.Leader == v.leader() && a.Applied+lagLimit >= v.committed()
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
	if len(v.changing(replacing)) == 0 || len(v.Etcd.Members)+len(v.candidates()) > v.size() {
		return nil
	}
	target := v.target()
	if target == "" {
		target = v.lowest()
	}
	return v.newMembers(1, target)
}

// turn is the member to restart or to recreate next, if all is ready for that: followers first, and the leader last.
func (v *view) turn() (Member, bool) {
	if v.Etcd.Contact != ContactQuorum || v.stepsDown() || v.needsSnapshots() || steady(v) != nil ||
		v.awaitImages() != nil {
		return Member{}, false
	}
	last := Member{}
	for _, m := range v.voters() {
		if !v.change(m).stops() {
			continue
		}
		if m.ID != v.leader() {
			return m, true
		}
		last = m
	}
	return last, last.ID != 0
}

// roll restarts one member. The leader hands over first, and clients leave it.
func roll(v *view) Action {
	m, ok := v.turn()
	if !ok {
		return v.awaitImages()
	}
	if m.ID == v.leader() {
		if to := v.heir(m); to != 0 {
			return MoveLeader{From: m.ID, To: to}
		}
	}
	if a := v.unserve(m); a != nil {
		return a
	}
	return v.update(m)
}

// awaitImages waits for what a restart needs. The kubelet ends a container before it pulls the new image: it must be there.
func (v *view) awaitImages() Action {
	for _, m := range v.voters() {
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
	if v.change(m) == recreating {
		return Recreate{Name: p.Name, UID: p.UID, Version: v.versionFor(p)}
	}
	return SetImage{Name: p.Name, UID: p.UID, Version: v.versionFor(p)}
}
