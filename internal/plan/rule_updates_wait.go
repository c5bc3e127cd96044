package plan

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// waitBeforeNextUpdate holds an update back until every member is healthy, so that one member is disrupted at a time.
// Evictions stay blocked until then.
func waitBeforeNextUpdate(v *view) Action { return v.Update.Blocker }

// updateBlocker is why, nil if nothing is. The voter with the ID but need not be healthy; 0 if all have to be.
func (v *view) updateBlocker(but uint64) Action {
	if !v.updating() && !v.evictionsBlocked() {
		return nil
	}
	if p := v.Alarm; p != nil && p.Reason == v1beta2.ReasonCorrupt {
		return Blocked(*p)
	}
	if v.disputed() && v.updating() {
		return Wait{Reason: v1beta2.ReasonDivergedMemberHeld, After: pollSlow, Message: "no member is updated, because " + v.whyKept()}
	}
	if waiting := v.waitForVoters(but); waiting != nil || !v.updating() {
		return waiting
	}
	if waiting := v.inProgress(but); waiting != nil {
		return waiting
	}
	return v.waitForStorageVersion()
}

// waitForVoters waits until all voters but the one with that ID, 0 if all count, are healthy, Ready, and in sync; nil if they are.
func (v *view) waitForVoters(but uint64) Action {
	for _, m := range v.voters {
		p := v.pods[m.Name]
		if m.ID == but || v.halted(m) {
			continue
		}
		if !v.healthy(m) || !p.Ready || !v.inSync(m) {
			return v.waitForMember(m, p)
		}
	}
	return nil
}

// halted reports whether a voter serves, its kubelet says that its pod is not Ready, and it is to be updated: the spec that it is to get may be the one
// that mends what keeps the pod from that, such as another container or a readiness gate. A pod that was Ready when its node fell silent is not halted: it
// could only be deleted, and its member would be replaced.
func (v *view) halted(m Member) bool {
	p := v.pods[m.Name]
	return v.healthy(m) && v.inSync(m) && v.change(m) != ChangeNone && !p.Deleting && p.NotReadyByKubelet && (p.StartProblem != "" || !v.readyChangedRecently(p))
}

// unproven reports whether a voter is halted although no other container is the reason: etcd answers the operator, and not its own probe.
func (v *view) unproven(m Member) bool { return v.halted(m) && !v.pods[m.Name].SidecarNotReady }

// readyChangedRecently reports whether the pod's Ready condition has changed within the time that an update may take.
func (v *view) readyChangedRecently(p Pod) bool {
	return p.ReadyChanged.IsZero() || v.Now.Sub(p.ReadyChanged) <= stepLimit
}

// restarting returns the pods that may be down because of an update.
func (v *view) downForUpdate() []string {
	if !v.evictionsBlocked() {
		return nil
	}
	var names []string
	for _, p := range v.Pods {
		if p.startProblem() == "" && (p.Ready || v.readyChangedRecently(p)) {
			names = append(names, p.Name)
		}
	}
	return names
}

// inSync reports whether the member closely follows the leader that the others follow.
func (v *view) inSync(m Member) bool {
	a, _ := v.answer(m)
	return a.Leader == v.Leader && a.Applied+LagLimit >= v.committed()
}

func (v *view) waitForMember(m Member, p Pod) Action {
	if v.isDefragmented(m) {
		return v.awaitDefragmented()
	}
	what := fmt.Sprintf("waiting for %s to become healthy", m.Name)
	if v.updating() {
		what = fmt.Sprintf("the update continues once %s is healthy", m.Name)
	}
	switch {
	case p.startProblem() != "":
		return Wait{
			Reason: v1beta2.ReasonUpdateStopped, After: pollSlow,
			Message: fmt.Sprintf("%s: %s; fix this, or revert the spec if the update is the cause", what, p.startProblem()),
		}
	case !p.Deleting && !p.Ready && !v.readyChangedRecently(p):
		return Wait{
			Reason: v1beta2.ReasonUpdateStopped, After: pollSlow,
			Message: what + ", which takes too long: check its log, or revert the spec if the update is the cause",
		}
	}
	if other := v.awaited(); other.ID != 0 { // that may take two hours
		return Wait{Reason: v1beta2.ReasonWaitingForMember, After: v.poll(), Message: v.awaitMessage(other)}
	}
	return Wait{Reason: v1beta2.ReasonWaitingForMember, After: pollFast, Message: what}
}
