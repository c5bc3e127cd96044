package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// addSuccessor adds the member that takes the place of one that is moved. That one need not be healthy just now.
func addSuccessor(v *view) Action {
	if v.Relocated.ID == 0 || v.Versions.DowngradeFirst || len(v.Etcd.Members)+len(v.Candidates) > v.TargetSize || v.updateBlocker(v.Relocated.ID) != nil {
		return nil
	}
	return v.newMembers(1, v.newVersion())
}

// successorStarts reports whether the pod of a new member runs, or may be about to: one of a learner has run before.
func (v *view) successorStarts() bool {
	return slices.ContainsFunc(v.Candidates, func(p Pod) bool { return p.Phase == Running }) ||
		slices.ContainsFunc(v.learners, func(m Member) bool {
			p, ok := v.pods[m.Name]
			return ok && (p.Phase == Running || v.pendingFor(p) < successorLimit)
		})
}

// successorProblem is what is known of why it does not.
func (v *view) successorProblem() string {
	made, problem := false, ""
	for _, p := range v.Pods {
		if m, listed := v.members[p.Name]; !listed || m.Learner {
			made, problem = true, cmp.Or(problem, p.StartProblem)
		}
	}
	what := "the pod of a new member has not started on another node within five minutes"
	if !made {
		what = "no pod of a new member could be made within five minutes"
		for _, r := range v.Refused {
			if r.Verb == createVerb(NewPod{}) {
				problem = r.unquoted()
			}
		}
	}
	if problem != "" {
		what += " (" + problem + ")"
	}
	return what
}

// avoids is what the pod of the last of so many members stays away from, if it is made now. One that is to take the place of the member, and so is one
// too many, rather waits than runs where that is to get away from. Any other one only prefers another node: where it is the only one left, a
// member on a slow disk is better than none.
func (v *view) avoids(members int) Avoidance {
	r := v.Cluster.Relocation
	if r.Node == "" || r.GivenUp != "" || v.Now.Sub(r.Since) >= relocateEvery {
		return Avoidance{}
	}
	return Avoidance{Node: r.Node, Strictly: v.Relocated.ID != 0 && members > v.TargetSize}
}

// avoidsOn is that of a pod that is made anew on a member's volume: only the successor must not be there.
func (v *view) avoidsOn(c Volume) Avoidance {
	a := v.avoids(0)
	a.Strictly = a.Node != "" && v.Relocated.ID != 0 && v.isSuccessor(v.members[c.Name])
	return a
}

// isSuccessor reports whether a member was added to take the place of the one that is moved, or was to be.
func (v *view) isSuccessor(m Member) bool { return m.ID != 0 && m.ID == v.Cluster.Relocation.Successor }

func (v *view) successorVotes() bool { return slices.ContainsFunc(v.voters, v.isSuccessor) }

// dispensable reports whether a member that is moved can be removed, as far as the others are concerned: while any other voter is down, or, for as
// long as is worth waiting, behind, whoever answers is needed.
func (v *view) dispensable(m Member) bool {
	return !v.healthy(m) || v.inTrouble(m).ID == 0
}

// inTrouble is the first voter but that member that is down, or, for as long as is worth waiting, behind; the zero Member if there is none.
func (v *view) inTrouble(but Member) Member {
	i := slices.IndexFunc(v.voters, func(o Member) bool { return o.ID != but.ID && (!v.healthy(o) || v.worthWaiting() && !v.inSync(o)) })
	if i < 0 {
		return Member{}
	}
	return v.voters[i]
}

// worthWaiting reports whether a relocation began, or was given up, so short a time ago that a voter in trouble is waited for: twice the hour that the
// successor may take to vote.
func (v *view) worthWaiting() bool {
	since := v.Now.Sub(v.Cluster.Relocation.Since)
	return since >= -aheadAtMost && since < 2*relocationLimit
}

// awaitsOthers reports whether that member does not go yet, although there is one too many, until a voter is no longer behind: all are healthy, and
// the one that is moved is not dispensable. Whoever has to be replaced for another reason goes.
func (v *view) awaitsOthers(m Member) bool {
	another := m.ID == v.Quarantined.ID || m.ID != v.Relocated.ID && v.change(m) == ChangeReplace
	return !another && v.Relocated.ID != 0 && v.successorTooMany() && len(v.unhealthyVoters()) == 0 && !v.dispensable(v.Relocated)
}

// successorTooMany reports whether there is one member too many, only since the successor of one that is moved, or was to be, votes.
func (v *view) successorTooMany() bool {
	return v.successorVotes() && len(v.Etcd.Members) == v.TargetSize+1
}

// awaited is the voter that the removal of a member that is moved waits for, although the successor votes; the zero Member if there is none.
func (v *view) awaited() Member {
	if v.Relocated.ID == 0 || v.NextToRemove.ID != 0 || !v.successorTooMany() {
		return Member{}
	}
	return v.inTrouble(v.Relocated)
}

// awaitMessage says that the removal waits for that voter.
func (v *view) awaitMessage(other Member) string {
	r := v.Cluster.Relocation
	return fmt.Sprintf("%s is removed, which ends its move off node %s, once %s is healthy and not behind the leader", r.Name, r.Node, other.Name)
}

// mayRecover reports whether a voter is down, or behind, that would go because there is a successorTooMany, and it may recover: that is worth waiting
// for. It is not for long, for as long as it is down all others are needed: five minutes if its kubelet does not find it healthy either, and in all,
// if it comes and goes, or only the operator does not find it healthy, for as long as is worthWaiting.
func (v *view) mayRecover(m Member) bool {
	p, there := v.pods[m.Name]
	if !there || m.Learner || !v.successorTooMany() || v.change(m) == ChangeReplace ||
		v.Relocated.ID == 0 && v.isSuccessor(m) {
		return false
	}
	return v.worthWaiting() && (p.Ready || v.Now.Sub(p.ReadyChanged) < pendingLimit || v.Now.Sub(p.Created) < pendingLimit)
}

// staysAway reports whether a pod waits for a node because of a relocation that is over: one that may be on any node takes its place.
func (v *view) staysAway(p Pod) bool {
	return p.Avoids != "" && p.Phase == Pending && v.Relocated.ID == 0
}

// next is what is left of it after a pass with that observation: who the successor is, as far as its pod was made to be away from that node. It is
// over once a quorum does not list the member any more.
func (r Relocation) next(o Observed) Relocation {
	if o.Etcd.Contact != ContactQuorum || r.Node == "" {
		return r
	}
	if r.Member != 0 && !o.Etcd.lists(r.Member) {
		r.Member = 0
	}
	if !o.Etcd.lists(r.Successor) || r.Member == 0 && (r.GivenUp == "" || len(o.Etcd.Members) <= o.Cluster.Size) {
		r.Successor = 0
	}
	if r.Member != 0 && r.Successor == 0 {
		r.Successor = r.successor(o)
	}
	return r
}

// successor is the ID of the member whose pod was made to be away from that node since, 0 if there is none. No other relocation was within a day,
// so clocks need not agree.
func (r Relocation) successor(o Observed) uint64 {
	for _, p := range o.Pods {
		i := slices.IndexFunc(o.Etcd.Members, func(m Member) bool { return m.Name == p.Name })
		if i >= 0 && p.Avoids == r.Node && p.Created.Sub(r.Since) > -relocateEvery/2 && o.Cluster.CurrentPod(p) {
			return o.Etcd.Members[i].ID
		}
	}
	return 0
}
