package plan

import (
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Relocation is a member that is moved off a node because its disk is slow there, or the last one that was.
type Relocation struct {
	// Member is the ID of the member that is being replaced, 0 once that is over.
	Member uint64 `json:",string"`
	// Name is that member's, and Node the node that it was on.
	Name, Node string
	// Since is when that was decided, or when it was given up.
	Since time.Time `json:",omitzero"`
	// Successor is the ID of the member that is to take its place, 0 as long as there is none, and once that is over, unless it was given up.
	Successor uint64 `json:",string"`
	// GivenUp says why the member stayed where it is; empty if it did not.
	GivenUp string `json:",omitempty"`
}

// DiskHistory is how the disk of a voter did in the last samples of its metrics: see Slow.
type DiskHistory struct {
	Pod, PodUID string
	// Samples is how many there are of the last hour and a half, HistorySamples at most; Slow in how many the disk was slow, and Alone in how many of these that of another voter was quick.
	Samples, Slow, Alone int
}

// Avoidance is a node that a pod is to stay away from: its disk is slow. Strictly means that the pod rather has no node than that one.
type Avoidance struct {
	Node     string
	Strictly bool `json:",omitempty"`
}

const (
	// HistorySamples is how many samples of a disk are judged: those of an hour, at one in five minutes.
	HistorySamples = 12
	// slowShare is in how many of a hundred samples a disk has to be slow.
	slowShare = 80
	// relocationVoters is how many voters there have to be: of fewer, none can be spared if the move goes wrong.
	relocationVoters = 3
	// successorLimit is how long the new member's pod may be without a node, or not start there, before the relocation is given up.
	successorLimit = 5 * time.Minute
	// relocationLimit is how long the new member may take to become a voter.
	relocationLimit = time.Hour
	// relocateEvery is how long no other member is moved after one was, or was to be. For as long, new pods prefer other nodes than that one:
	// a disk that was slow for an hour may be so the next hour, and after a day that is to be found out anew.
	relocateEvery = 24 * time.Hour
)

// Slow judges the mean time of an fsync in one sample by that of the quickest other voter, 0 if that is not known: whether the disk is slow, by the
// same limit as a leader's, and alone with that, because the other is four times as quick.
func Slow(mean, quickest time.Duration) (slow, alone bool) {
	slow = mean > slowFlush
	return slow, slow && quickest > 0 && quickest*minSpeedup <= mean
}

// relocationDue reports whether a member's disk has been slow for an hour. What a relocation depends on is looked at only then.
func relocationDue(o Observed) bool {
	return o.Cluster.Autopilot.Relocation != ModeOff && o.Etcd.Contact == ContactQuorum &&
		slices.ContainsFunc(o.Etcd.Histories, func(h DiskHistory) bool { return h.persists(h.Slow) })
}

// persists reports whether something was so in most of the samples of an hour.
func (h DiskHistory) persists(n int) bool {
	return h.Samples == HistorySamples && n*100 >= HistorySamples*slowShare
}

// relocate begins to move a member off a node whose disk is slow. It is recorded first, so that an operator that starts anew goes on with it. The
// rest is like any replacement (ChangeReplace): a new member joins, whose pod avoids that node, and then the former one goes.
func relocate(v *view) Action { return v.Relocation }

// giveUpRelocation has the member stay where it is if no other can take its place in time. The new member is then one too many, and goes.
func giveUpRelocation(v *view) Action {
	why := v.relocationFails()
	if why == "" {
		return nil
	}
	given := v.Cluster.Relocation
	given.Member, given.Since, given.GivenUp = 0, v.Now, why
	return CommitRelocation{given}
}

// relocated returns the member whose relocation is recorded and not over, the zero Member if there is none.
func (v *view) relocated() Member {
	m, listed := v.memberByID(v.Cluster.Relocation.Member)
	if !listed || m.Name != v.Cluster.Relocation.Name {
		return Member{}
	}
	return m
}

// relocation moves the member whose disk has been slow for an hour while another voter's was quick, as long as all is calm. That member need not be
// healthy just now: one with such a disk often is not.
func (v *view) relocation() Action {
	if other := v.awaited(); other.ID != 0 && v.Cluster.Autopilot.Relocation == ModeOn {
		v.held(FeatureRelocation, v1beta2.ReasonRelocationHeld, v.awaitMessage(other))
	}
	if v.Cluster.Relocation.Member != 0 || !relocationDue(v.Observed) {
		return nil
	}
	m := v.slowMember()
	if m.ID == 0 {
		if v.allSlow() {
			v.held(FeatureRelocation, v1beta2.ReasonRelocationHeld, "the disks of all members have been slow for an hour: to move one to another node "+
				"is unlikely to help; see to the storage that they share")
		}
		return nil
	}
	due := fmt.Sprintf("the disk of %s on node %s has been slow for an hour while that of another member was four times as fast, and a move to another node is due",
		m.Name, v.pods[m.Name].Node)
	if why := v.againstRelocating(m); why != "" {
		v.held(FeatureRelocation, v1beta2.ReasonRelocationHeld, due+", and held: "+why)
		return nil
	}
	if v.RejectedSpec != nil || v.Quarantined.ID != 0 || v.keepsAll() || v.Defragmented.ID != 0 || !v.calmBut(m.ID) {
		return nil
	}
	act := CommitRelocation{Relocation{Member: m.ID, Name: m.Name, Node: v.pods[m.Name].Node, Since: v.Now}}
	return v.tune(act, FeatureRelocation, due, false)
}

// slowMember is the voter to move, followers before the leader, and one that was moved before last; the zero Member if there is none.
func (v *view) slowMember() Member {
	var slow Member
	for _, m := range v.followersFirst(v.voters) {
		h := v.history(m)
		switch {
		case !h.persists(h.Alone):
		case v.pods[m.Name].Avoids == "":
			return m
		case slow.ID == 0:
			slow = m
		}
	}
	return slow
}

// allSlow reports whether the disks of all voters have been slow.
func (v *view) allSlow() bool {
	return !slices.ContainsFunc(v.voters, func(m Member) bool { h := v.history(m); return !h.persists(h.Slow) })
}

func (v *view) history(m Member) DiskHistory {
	for _, h := range v.Etcd.Histories {
		if h.Pod == m.Name && h.PodUID == v.pods[m.Name].UID {
			return h
		}
	}
	return DiskHistory{}
}

// againstRelocating is why that member may not be moved now, as the rest of a sentence; empty if it may be.
func (v *view) againstRelocating(m Member) string {
	last := v.Cluster.Relocation
	switch {
	case len(v.voters) < relocationVoters || v.TargetSize < relocationVoters:
		return "that takes three voters or more"
	case !last.Since.IsZero() && v.Now.Sub(last.Since) < relocateEvery && last.GivenUp != "":
		return fmt.Sprintf("to move %s was given up, because %s; that is tried again after 24 hours", last.Name, last.GivenUp)
	case !last.Since.IsZero() && v.Now.Sub(last.Since) < relocateEvery:
		return fmt.Sprintf("that of %s off node %s began less than 24 hours ago, and no more than one member is moved within that time", last.Name, last.Node)
	case len(v.Alarms) > 0:
		return fmt.Sprintf("etcd has raised an alarm (%s)", v.Alarms[0].Kind)
	case v.Cluster.BackingUp != "":
		return v.Cluster.BackingUp + " is taking a snapshot"
	case v.pods[m.Name].Avoids != "":
		return fmt.Sprintf("it was made there to be away from node %s, so another move is unlikely to help; see to the storage of both nodes",
			v.pods[m.Name].Avoids)
	case v.pods[m.Name].Node == "":
		return "it is not known which node that is"
	}
	return ""
}

// relocationFails says why a relocation that has begun is given up, empty if it is not. Once the new member votes it is only if nobody wants it any
// more, or if no voter is one too many: then the new member has taken another place, and a second one would have to be made for this move.
func (v *view) relocationFails() string {
	r := v.Cluster.Relocation
	took := v.Now.Sub(r.Since)
	switch {
	case v.Relocated.ID == 0 || v.Cluster.Paused:
		return ""
	case v.Cluster.Autopilot.Relocation != ModeOn:
		return "the mode is not On any more"
	case v.successorVotes() && len(v.voters) <= v.TargetSize:
		return "the new member is needed beside it: another member has gone, or spec.size was raised"
	case v.successorVotes():
		return ""
	case v.disputed():
		return "it is not known whose data is right: no new member gets a vote"
	case took >= relocationLimit:
		return "the new member has not become a voter within an hour"
	case took >= successorLimit && !v.successorStarts():
		return v.successorProblem()
	}
	return ""
}

func (a CommitRelocation) describe() Description {
	if a.GivenUp != "" {
		return Description{"CommitRelocation", v1beta2.ReasonRelocationGivenUp, fmt.Sprintf("%s stays on node %s, because %s; that is tried again "+
			"after 24 hours", a.Name, a.Node, a.GivenUp)}
	}
	return Description{"CommitRelocation", v1beta2.ReasonRelocating, fmt.Sprintf("moving %s off node %s, because its disk there has been slow for an "+
		"hour while that of another member was four times as fast: a new member joins on another node, and then it is removed", a.Name, a.Node)}
}
