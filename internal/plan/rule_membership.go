package plan

import (
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// deleteOutdatedWaitingPod deletes a pod that was made from an older spec and holds no data yet: it waits for a permit, or its
// configuration is invalid. In a running cluster so is one whose volume is of an older spec: another volume is made, too.
func deleteOutdatedWaitingPod(v *view) Action {
	var all []Action
	for _, p := range v.Pods {
		empty := p.Permit == nil || p.Exit == ExitBadConfig
		old := v.outdated(p) || v.Cluster.ID != 0 && p.Persistent && v.misfit(v.volumes[p.Name])
		if _, listed := v.members[p.Name]; old && empty && !p.Deleting && !listed {
			all = append(all, DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonSpecChanged})
		}
	}
	return v.firstAllowed(all)
}

// removeLostMember removes members whose data is lost for good; createCandidates then adds new ones. Learners are removed
// first.
func removeLostMember(v *view) Action {
	for _, m := range slices.Concat(v.learners, v.voters) {
		if why := v.lostReason(m); why != "" && v.safeToRemove(m) {
			return RemoveMember{ID: m.ID, Name: m.Name, Why: why}
		}
	}
	return nil
}

// lostReason returns why a listed member can never come back as itself, or an empty string if it can.
func (v *view) lostReason(m Member) string {
	p, running := v.pods[m.Name]
	_, answers := v.answer(m)
	switch {
	case v.gotRefused(m) && !v.disputed():
		return v1beta2.ReasonSpecChanged // it has no vote yet, and a new one gets a release that works
	case answers:
		return "" // still voting, even if its pod is on its way out: wait until it stops
	case v.volumeReused(m):
		return v1beta2.ReasonForeignData
	case !m.Published:
		return v.neverStarted(m, p, running)
	case v.dataGone(m.Name), running && p.Persistent && v.volumes[m.Name].Deleting && p.startProblem() != "":
		return v1beta2.ReasonVolumeLost
	case running && p.Deleting && !p.Persistent:
		return v1beta2.ReasonPodLost
	case !running || v.disputed(): // its data is there, and may be what is right
		return ""
	}
	return v.lostWithData(m, p)
}

// lostWithData returns why a member whose data is there can never come back as itself, or an empty string if it can.
func (v *view) lostWithData(m Member, p Pod) string {
	switch {
	case v.overdue(p):
		return v1beta2.ReasonNodeLost
	case v.damaged(p):
		return v1beta2.ReasonDataDamaged
	case v.neverStarts(p), v.neverPrepared(m, p):
		return v1beta2.ReasonPodCannotStart
	}
	return ""
}

// neverStarts reports whether a member's pod has been unable to start for a long time. What a new pod would need as well, such as an image that cannot
// be pulled, gives no member up whose data is there.
func (v *view) neverStarts(p Pod) bool {
	return p.Phase == Pending && p.StartProblem != "" && v.pendingFor(p) > pendingLimit &&
		!(p.ProblemAnywhere && p.Persistent && v.usable(v.volumes[p.Name]))
}

// neverPrepared reports whether a member's node has not prepared its pod for a long time, and says nothing of why. Where volumes cannot be
// attached anywhere, a new member would not start either: so this gives up a learner, or one voter of a cluster that lacks none.
func (v *view) neverPrepared(m Member, p Pod) bool {
	return v.pendingTooLong(p) &&
		(m.Learner || v.healthyVoters(m.Name) == len(v.voters)-1 && len(v.voters) >= v.TargetSize)
}

// damaged reports whether a member's data is damaged for good. The other members have a copy: the guard ensures that they are a
// quorum. An etcd that is crash-looping has read its data at least twice. Its word counts only if a healthy member runs the same
// version: one that panics on every member's data would have them all replaced.
func (v *view) damaged(p Pod) bool {
	switch p.Exit {
	case ExitCorrupt:
		return slices.ContainsFunc(v.Pods, func(other Pod) bool {
			return other.Version == p.Version && slices.Contains(v.Healthy, other.Name)
		})
	case ExitUnreadable:
		return !p.Ready && !p.ReadyChanged.IsZero() && v.Now.Sub(p.ReadyChanged) > unreadableLimit
	default:
		return false
	}
}

// volumeReused reports whether the member's volume belongs to another member: its own data is lost then.
func (v *view) volumeReused(m Member) bool {
	c, ok := v.volumes[m.Name]
	p, there := v.pods[m.Name]
	return (!there || p.Persistent) && ok && c.MemberID != 0 && c.MemberID != m.ID
}

// neverStarted returns why to remove a member that is listed but has not published its client URLs, or an empty string.
func (v *view) neverStarted(m Member, p Pod, running bool) string {
	switch {
	case !running || p.Deleting || p.Phase == Finished || p.Exit == ExitForeignData:
		return v1beta2.ReasonPodLost
	case m.Learner && v.outdated(p):
		return v1beta2.ReasonSpecChanged // another one is made from the current spec
	case m.Learner && p.Permit != nil && p.Permit.Mode == member.ModeResume && p.Exit.DataGone():
		return v1beta2.ReasonPodLost // it has no data to resume on, and must not start without
	case !m.Learner && p.Permit == nil:
		return v1beta2.ReasonNeverStarted // an initial member that was not permitted to start: it joins as a learner instead
	case p.Permit != nil && v.Now.Sub(p.PermittedAt) > publishLimit && p.Exit != ExitBadCertificates:
		return v1beta2.ReasonNeverStarted
	}
	return ""
}

// deleteOrphans deletes pods and volumes whose members the quorum does not list: pods first, because a volume cannot go before
// its pod. While it is not known whose data is right, no volume goes that was a member's.
func deleteOrphans(v *view) Action {
	var all []Action
	for _, p := range v.Pods {
		if _, listed := v.members[p.Name]; !listed && !p.Deleting && !v.candidate(p) {
			all = append(all, DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonNotAMember})
		}
	}
	for _, c := range v.Volumes {
		if v.vacant(c) && (c.MemberID != 0 && !v.keepsAll() || c.Lost) {
			all = append(all, DeleteVolume{Name: c.Name, UID: c.UID, Why: v1beta2.ReasonNotAMember})
		}
	}
	return v.firstAllowed(all)
}

// addToService adds healthy voters to the client Service, except one whose data is wrong, and one that is about to stop: Kubernetes reports
// its pod as ready for a moment longer, and clients that are routed there are refused and have to wait.
func addToService(v *view) Action {
	var pods []string
	for _, m := range v.voters {
		p, ok := v.pods[m.Name]
		if ok && v.healthy(m) && !p.InService && !v.aboutToStop(m) && m.ID != v.Quarantined.ID {
			pods = append(pods, m.Name)
		}
	}
	if len(pods) == 0 {
		return nil
	}
	return AddToService{Pods: pods}
}

// promoteLearner promotes a learner that has caught up, unless there are enough voters: then the surplus learner is removed. If the others
// are no quorum of one more, so that nothing is committed without it, it has to be as close to the leader as a voter before another one is stopped.
// One with a release that is on trial is none of the voters before the end of that: a cluster of one would need it from then on. One with a release
// that was rolled back never is, and none is while it is disputed whose data is right.
// The learner need not have published its client URLs: etcd retries that only every seven seconds.
func promoteLearner(v *view) Action {
	if len(v.voters) >= v.MaxMembers || v.disputed() {
		return nil
	}
	for _, m := range v.learners {
		if v.healthy(m) && v.caughtUp(m) && v.safeToPromote() && !v.tried(m) && !v.gotRefused(m) {
			return Promote{ID: m.ID, Name: m.Name}
		}
	}
	return nil
}

// caughtUp reports whether the learner has caught up. etcd compares its log with the leader's, and so does this: the learner's own committed index lags
// behind.
func (v *view) caughtUp(m Member) bool {
	a, _ := v.answer(m)
	spare := v.healthyVoters("") >= Quorum(len(v.voters)+1)
	return float64(a.Applied) >= learnerSyncShare*float64(v.committed()) && (spare || v.inSync(m))
}

// committed returns the end of the log as known to a majority of the voters.
func (v *view) committed() uint64 {
	var known []uint64
	for _, m := range v.voters {
		if a, ok := v.answer(m); ok {
			known = append(known, a.Committed)
		}
	}
	return Reached(len(v.voters), known)
}

// raiseBudget precedes addToService: the budget counts pods in the Service, and one that fits fewer voters would let an
// eviction break the quorum.
func raiseBudget(v *view) Action { return v.raiseBudgetTo(v.minAvailable()) }
