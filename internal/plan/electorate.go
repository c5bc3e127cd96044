package plan

import (
	"cmp"
	"slices"
)

// Response is what one server said of itself and of the cluster, before anybody has judged it.
type Response struct {
	Answer
	// Term is the raft term that it is in.
	Term uint64
	// Read is what it has read linearizably, nil if it has not, or could not.
	Read *Read
}

// Read is what one server says that the quorum agrees on.
type Read struct {
	ClusterID uint64
	Members   []Member
	// Revision is 0 where etcd refuses to read keys.
	Revision int64
}

// Electorate is whose word counts, as it was known before any server was asked. A pod that answers is no proof of
// anything: whoever may create pods can have one that answers whatever it likes. What a majority of the voters says
// who are known from before is what their quorum says, as long as a majority of them is what it seems.
type Electorate struct {
	// ClusterID is the cluster's own, 0 as long as it has none: nobody is believed then.
	ClusterID uint64
	// Voters are the names of those who vote.
	Voters []string
	// Next are the voters after a change that was committed to status before it was made, nil if none was.
	Next []string
	// Guessed is true where nobody has written down who votes: Voters are then all who may, and those are left out who
	// say that they do not.
	Guessed bool
}

// Electorate is whose word counts: before the cluster was first up its first members, and then the voters in status. After
// the status was lost, or for the volumes of an earlier cluster, it is whoever has data of the cluster.
func (o Observed) Electorate() Electorate {
	c := o.Cluster
	e := Electorate{ClusterID: c.ExpectedID()}
	switch {
	case c.ID == 0 && c.Bootstrap != nil:
		e.Voters = c.Bootstrap.Members
	case len(c.Voters) > 0:
		e.Next = c.NextVoters
		e.Voters = c.Voters
		if slices.ContainsFunc(c.Voters, o.vanished) {
			e.Voters = slices.DeleteFunc(slices.Clone(c.Voters), o.vanished)
		}
	default:
		e.Voters, e.Guessed = o.holders(), true
	}
	return e
}

// ExpectedID is the cluster ID that the members must answer with, 0 if that is not known yet.
func (r Record) ExpectedID() uint64 {
	if r.ID == 0 && r.Bootstrap != nil {
		return r.Bootstrap.ClusterID
	}
	return r.ID
}

// vanished tells whether neither a pod nor data of that name is there: it never votes again, and there is nothing of it
// that could be destroyed by mistake.
func (o Observed) vanished(name string) bool {
	return !slices.ContainsFunc(o.Pods, func(p Pod) bool { return p.Name == name && o.Cluster.CurrentPod(p) }) &&
		!slices.ContainsFunc(o.Volumes, func(c Volume) bool { return c.Name == name && o.holds(c) })
}

// holds tells whether a member's data is on the volume.
func (o Observed) holds(c Volume) bool {
	return c.Owned && c.MemberID != 0 && !c.Lost && o.Cluster.currentVolume(c)
}

// holders are the names of all who have data, or the leave to have some.
func (o Observed) holders() []string {
	var names []string
	for _, p := range o.Pods {
		if p.Permit != nil && o.Cluster.CurrentPod(p) {
			names = append(names, p.Name)
		}
	}
	for _, c := range o.Volumes {
		if o.holds(c) && c.ClusterID == o.Cluster.ID {
			names = append(names, c.Name)
		}
	}
	slices.SortFunc(names, CompareNames)
	return slices.Compact(names)
}

// Judge turns what the servers said into what holds: the member list and the revision that a majority of the voters
// confirms, each through a linearizable read of its own, and the answers of those who are voters or listed.
func (e Electorate) Judge(words []Response) Etcd {
	voters := e.voting(words)
	var out Etcd
	if by, majority := e.confirmed(words, voters); by != nil {
		out.Contact, out.ClusterID = ContactQuorum, e.ClusterID
		out.Members = agreed(by)
		out.Revision, out.RevisionCeiling = revisions(by, majority)
		for _, w := range by {
			out.Confirmed = append(out.Confirmed, w.Pod)
		}
	}
	for _, w := range words {
		if !e.counts(w.Pod) && !slices.ContainsFunc(out.Members, func(m Member) bool { return m.Name == w.Pod }) {
			continue
		}
		if w.Leader != 0 && deposed(w, words, voters) {
			w.Leader = 0
		}
		out.Answers = append(out.Answers, w.Answer)
		if w.Read != nil && out.Contact != ContactQuorum {
			out.Unconfirmed = append(out.Unconfirmed, w.Pod)
		}
	}
	if out.Contact == ContactNone && len(out.Answers) > 0 {
		out.Contact = ContactMinority
	}
	return out
}

// counts tells whether the pod of that name is one of the electorate.
func (e Electorate) counts(name string) bool {
	return slices.Contains(e.Voters, name) || slices.Contains(e.Next, name)
}

// Asks tells whether the one who said this is worth to be asked for a linearizable read. Learners refuse that.
func (e Electorate) Asks(w Response) bool {
	return e.counts(w.Pod) && w.Leader != 0 && !w.Learner && w.ClusterID == e.ClusterID && e.ClusterID != 0
}

// voting are the voters, without those who say that they are none where that had to be guessed.
func (e Electorate) voting(words []Response) []string {
	if !e.Guessed {
		return e.Voters
	}
	return slices.DeleteFunc(slices.Clone(e.Voters), func(name string) bool {
		return slices.ContainsFunc(words, func(w Response) bool { return w.Pod == name && w.Learner })
	})
}

// confirmed are the words of those who confirm one list, nil unless they are a majority: of the voters, or of those that
// the list consists of, if the operator had set out to make it so. Without the second a cluster of two could not be told
// from a half of it once the operator was stopped between a change and the note of it.
func (e Electorate) confirmed(words []Response, voters []string) (by []Response, majority int) {
	if e.ClusterID == 0 {
		return nil, 0
	}
	for i := range words {
		first := &words[i]
		if first.Read == nil || first.Read.ClusterID != e.ClusterID {
			continue
		}
		if by := e.agree(words, first.Read.Members, voters); len(by) >= Quorum(len(voters)) {
			return by, Quorum(len(voters))
		}
		if len(e.Next) > 0 && SameNames(votersOf(first.Read.Members), e.Next) {
			if by := e.agree(words, first.Read.Members, e.Next); len(by) >= Quorum(len(e.Next)) {
				return by, Quorum(len(e.Next))
			}
		}
	}
	return nil, 0
}

// agree are the words of those of these names who have read that list.
func (e Electorate) agree(words []Response, members []Member, names []string) []Response {
	var by []Response
	for _, w := range words {
		if w.Read != nil && w.Read.ClusterID == e.ClusterID && slices.Contains(names, w.Pod) &&
			sameMembers(w.Read.Members, members) {
			by = append(by, w)
		}
	}
	return by
}

// sameMembers compares who belongs to two lists, and who votes. Whether a member has published its client URLs may change
// from one read to the next.
func sameMembers(a, b []Member) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(m Member) bool {
		return !slices.ContainsFunc(b, func(n Member) bool {
			return m.ID == n.ID && m.Name == n.Name && m.PeerURL == n.PeerURL && m.Learner == n.Learner
		})
	})
}

// agreed is the list that all of them confirm. Who is said to have started has: to take it for one that has not costs a
// member its place.
func agreed(by []Response) []Member {
	members := slices.Clone(by[0].Read.Members)
	for i := range members {
		members[i].Published = slices.ContainsFunc(by, func(w Response) bool {
			return slices.ContainsFunc(w.Read.Members, func(m Member) bool { return m.ID == members[i].ID && m.Published })
		})
	}
	return members
}

// revisions are the highest revision that a majority of the voters has reached, and the lowest that a majority has not
// gone beyond; 0 if not so many say.
func revisions(by []Response, majority int) (reached, newest int64) {
	var known []int64
	for _, w := range by {
		known = append(known, w.Read.Revision)
	}
	slices.Sort(known)
	reached = known[len(known)-majority]
	known = slices.DeleteFunc(known, func(n int64) bool { return n == 0 })
	if len(known) >= majority {
		newest = known[majority-1]
	}
	return reached, newest
}

// deposed tells whether a majority of the voters follow a leader of a later term than this one names: one whose disk hangs
// goes on calling itself the leader. The word of one server deposes nobody.
func deposed(w Response, words []Response, voters []string) bool {
	later := 0
	for i := range words {
		o := &words[i]
		if o.Leader != 0 && o.ClusterID == w.ClusterID && o.Term > w.Term && slices.Contains(voters, o.Pod) {
			later++
		}
	}
	return later >= Quorum(len(voters))
}

func votersOf(members []Member) []string {
	var names []string
	for _, m := range members {
		if !m.Learner {
			names = append(names, m.Name)
		}
	}
	slices.SortFunc(names, CompareNames)
	return names
}

// SameNames compares two sets of names.
func SameNames(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}

// Reached is the highest index that a majority of n voters have at least, of those that they tell; the lowest of these if
// they are fewer, and 0 of none. So no single voter can pretend that all others stay behind.
func Reached(n int, indexes []uint64) uint64 {
	if len(indexes) == 0 {
		return 0
	}
	slices.SortFunc(indexes, func(a, b uint64) int { return cmp.Compare(b, a) })
	return indexes[min(Quorum(n), len(indexes))-1]
}
