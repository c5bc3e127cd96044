package snapshot

import (
	"cmp"
	"slices"
)

// Status is what a member said about itself.
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
	// Quorum is true if it has answered a linearizable read, which takes a quorum at its back. A learner cannot: etcd lets it
	// serve what it has, and nothing more.
	Quorum bool
}

// lagLimit is how many raft entries a member's data may be behind and still be taken: seconds of writing.
const lagLimit = 1000

// Choose returns the member to take a snapshot from: one with a quorum at its back, and of these a follower that has caught
// up, because the leader has enough to do, or else the leader; or else a learner, or whoever has most if there is no quorum.
// It returns false if none is fit.
//
// Without a quorum at its back a member may know of nothing that was written since: one that is cut off goes on answering
// for itself, and for a while calls itself a follower, or the leader.
//
// A full quota is no reason against a member: that is when a backup is needed.
func Choose(members []Status) (Status, bool) {
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

// rank is lower for a member that is to be preferred.
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
