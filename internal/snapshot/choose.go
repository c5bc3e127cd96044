package snapshot

import (
	"cmp"
	"slices"
)

// Status is what a member reports about itself.
type Status struct {
	Endpoint            string
	MemberID, ClusterID uint64
	// Leader is the member that it follows, 0 for none.
	Leader  uint64
	Learner bool
	// Applied is the raft index up to which its data goes.
	Applied uint64
	// Version is the server's, major.minor.patch.
	Version string
	// Corrupt is true if etcd has found its data to differ from the others'.
	Corrupt bool
	// Quorum is true if it has answered a linearizable read, which takes a quorum. A learner cannot: it serves only its own
	// data.
	Quorum bool
}

// lagLimit is how many raft entries a member's data may be behind and still be taken: seconds of writing. That the planner calls a member with
// as many in sync (plan.LagLimit) is another matter: here it is what a snapshot may lack.
const lagLimit = 1000

// choose returns the member to take a snapshot from: one with quorum, preferably a follower that has caught up, to spare the leader,
// else the leader; without quorum a learner, or the member with most data. It returns false if none is suitable.
//
// A member without quorum may lack later writes: one that is partitioned keeps answering for itself, and for a while still calls
// itself a follower, or the leader.
//
// A full quota does not disqualify a member: that is when a backup is needed.
func choose(members []Status) (Status, bool) {
	fit := slices.DeleteFunc(slices.Clone(members), func(m Status) bool { return m.Corrupt })
	var newest uint64
	for _, m := range fit {
		newest = max(newest, m.Applied)
	}
	best := func(a, b Status) int {
		rank, most := cmp.Compare(a.rank(newest), b.rank(newest)), cmp.Compare(b.Applied, a.Applied)
		switch {
		case a.Quorum && !b.Quorum:
			return -1
		case b.Quorum && !a.Quorum:
			return 1
		case !a.Quorum:
			rank, most = most, rank
		}
		return cmp.Or(rank, most, cmp.Compare(a.Endpoint, b.Endpoint))
	}
	if len(fit) == 0 {
		return Status{}, false
	}
	return slices.MinFunc(fit, best), true
}

// rank is lower for a better member.
func (m Status) rank(newest uint64) int {
	const (
		follower = iota
		leader
		learner
		alone
	)
	switch {
	case m.Applied+lagLimit < newest || m.Leader == 0:
		return alone
	case m.Learner:
		return learner
	case m.Leader == m.MemberID:
		return leader
	}
	return follower
}
