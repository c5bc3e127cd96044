package plan

import (
	"cmp"
	"slices"
)

// Response is what one server has reported of itself and of the cluster, before it is judged.
type Response struct {
	Answer
	// Term is its raft term.
	Term uint64
	// Read is the result of its linearizable read, nil if there was none or it failed.
	Read *Read
}

// Read is what one server reports as the quorum's view.
type Read struct {
	ClusterID uint64
	Members   []Member
	// Revision is 0 if etcd refuses to read keys.
	Revision int64
}

// Electorate is the set of voters as known before any server was queried. An answer alone proves nothing: anyone who may create
// pods can create one that answers whatever they like. What a majority of the voters known from before confirms counts as their
// quorum's view, provided that a majority of them is genuine.
type Electorate struct {
	// ClusterID is the cluster's own, 0 as long as it has none: no server is believed then.
	ClusterID uint64
	// Voters are the names of the voters.
	Voters []string
	// Next are the voters after a change that was committed to status before it was made, nil if none was.
	Next []string
	// Guessed is true if status does not name the voters: Voters are then all possible ones, and those that report to be
	// learners are left out.
	Guessed bool
}

// Electorate returns the initial members before the cluster ID was recorded, and the voters in status after that. If the status
// was lost, or volumes of an earlier cluster are adopted, it consists of all members that have data of the cluster.
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

// ExpectedID returns the cluster ID that the members must answer with, 0 if it is not known yet.
func (r Record) ExpectedID() uint64 {
	if r.ID == 0 && r.Bootstrap != nil {
		return r.Bootstrap.ClusterID
	}
	return r.ID
}

// vanished reports whether neither a pod nor data of that name exists: it can never vote again, and none of its data can be
// destroyed by mistake.
func (o Observed) vanished(name string) bool {
	return !slices.ContainsFunc(o.Pods, func(p Pod) bool { return p.Name == name && o.Cluster.CurrentPod(p) }) &&
		!slices.ContainsFunc(o.Volumes, func(c Volume) bool { return c.Name == name && o.holds(c) })
}

// holds reports whether a member's data is on the volume.
func (o Observed) holds(c Volume) bool {
	return c.Owned && c.MemberID != 0 && !c.Lost && o.Cluster.currentVolume(c)
}

// holders returns the names of all members that have data of the cluster on a volume, but for quarantined ones; if none has, those of the pods that are
// permitted to have some. Whoever may create pods could outvote the members with pods that have no volume.
func (o Observed) holders() []string {
	var names []string
	for _, c := range o.Volumes {
		if o.holds(c) && c.ClusterID == o.Cluster.ID && !c.Quarantined {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		slices.SortFunc(names, CompareNames)
		return names
	}
	for _, p := range o.Pods {
		if p.Permit != nil && o.Cluster.CurrentPod(p) {
			names = append(names, p.Name)
		}
	}
	slices.SortFunc(names, CompareNames)
	return slices.Compact(names)
}

// Judge returns what is true according to a majority: the member list and the revision that a majority of the voters confirms,
// each by a linearizable read of its own, and the answers of those that are voters or listed. Without a quorum nobody can say who
// is listed, so the answers of all others are kept apart.
func (e Electorate) Judge(responses []Response) Etcd {
	voters := e.voting(responses)
	var out Etcd
	if by, majority := e.confirmed(responses, voters); by != nil {
		out.Contact, out.ClusterID = ContactQuorum, e.ClusterID
		out.Members = agreed(by)
		out.Revision, out.RevisionCeiling = revisions(by, majority)
		for _, w := range by {
			out.Confirmed = append(out.Confirmed, w.Pod)
		}
	}
	for _, w := range responses {
		if !e.Knows(w.Pod, out.Members) {
			if out.Contact != ContactQuorum {
				out.Others = append(out.Others, w.Answer)
			}
			continue
		}
		if w.Leader != 0 && deposed(w, responses, voters) {
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

// Knows reports whether the pod of that name is a voter or is listed: of any other one it means nothing how it answers, since anyone can
// create a pod.
func (e Electorate) Knows(pod string, listed []Member) bool {
	return e.counts(pod) || slices.ContainsFunc(listed, func(m Member) bool { return m.Name == pod })
}

// counts reports whether the pod of that name belongs to the electorate.
func (e Electorate) counts(name string) bool {
	return slices.Contains(e.Voters, name) || slices.Contains(e.Next, name)
}

// Asks reports whether the server that has sent this response can serve a linearizable read. Learners refuse it.
func (e Electorate) Asks(w Response) bool {
	return e.counts(w.Pod) && w.Leader != 0 && !w.Learner && w.ClusterID == e.ClusterID && e.ClusterID != 0
}

// voting returns the voters, without those that report to be learners if the voters had to be guessed.
func (e Electorate) voting(responses []Response) []string {
	if !e.Guessed {
		return e.Voters
	}
	return slices.DeleteFunc(slices.Clone(e.Voters), func(name string) bool {
		return slices.ContainsFunc(responses, func(w Response) bool { return w.Pod == name && w.Learner })
	})
}

// confirmed returns the responses that confirm one member list, nil unless they are a majority: of the voters, or of the voters
// on that list if the operator was about to make that change. Without the latter, a cluster of two could not be told from half
// of one if the operator crashed between a change and recording it.
func (e Electorate) confirmed(responses []Response, voters []string) (by []Response, majority int) {
	if e.ClusterID == 0 {
		return nil, 0
	}
	for i := range responses {
		first := &responses[i]
		if first.Read == nil || first.Read.ClusterID != e.ClusterID {
			continue
		}
		if by := e.agree(responses, first.Read.Members, voters); len(by) >= Quorum(len(voters)) {
			return by, Quorum(len(voters))
		}
		if len(e.Next) > 0 && sameNames(VotersOf(first.Read.Members), e.Next) {
			if by := e.agree(responses, first.Read.Members, e.Next); len(by) >= Quorum(len(e.Next)) {
				return by, Quorum(len(e.Next))
			}
		}
	}
	return nil, 0
}

// agree returns the responses, of the named pods, with that member list.
func (e Electorate) agree(responses []Response, members []Member, names []string) []Response {
	var by []Response
	for _, w := range responses {
		if w.Read != nil && w.Read.ClusterID == e.ClusterID && slices.Contains(names, w.Pod) &&
			sameMembers(w.Read.Members, members) {
			by = append(by, w)
		}
	}
	return by
}

// sameMembers compares who belongs to two lists, and who votes. Whether a member has published its client URLs may change from
// one read to the next.
func sameMembers(a, b []Member) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(m Member) bool {
		return !slices.ContainsFunc(b, func(n Member) bool {
			return m.ID == n.ID && m.Name == n.Name && m.PeerURL == n.PeerURL && m.Learner == n.Learner
		})
	})
}

// agreed returns the list that all of them confirm. A member that any of them reports as started has started: to mistake it for
// one that has not would cost it its membership.
func agreed(by []Response) []Member {
	members := slices.Clone(by[0].Read.Members)
	for i := range members {
		members[i].Published = slices.ContainsFunc(by, func(w Response) bool {
			return slices.ContainsFunc(w.Read.Members, func(m Member) bool { return m.ID == members[i].ID && m.Published })
		})
	}
	return members
}

// revisions returns the highest revision that a majority of the voters has reached, and the lowest that a majority has not
// exceeded; 0 if there are too few responses.
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

// deposed reports whether a majority of the voters follows a leader of a later term than the one that this server names: a
// leader whose disk hangs continues to report itself as the leader. A single response deposes no leader.
func deposed(w Response, responses []Response, voters []string) bool {
	later := 0
	for i := range responses {
		o := &responses[i]
		if o.Leader != 0 && o.ClusterID == w.ClusterID && o.Term > w.Term && slices.Contains(voters, o.Pod) {
			later++
		}
	}
	return later >= Quorum(len(voters))
}

// VotersOf are the names of the voters on a member list, sorted by CompareNames.
func VotersOf(members []Member) []string {
	var names []string
	for _, m := range members {
		if !m.Learner {
			names = append(names, m.Name)
		}
	}
	slices.SortFunc(names, CompareNames)
	return names
}

// sameNames compares two sets of names.
func sameNames(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}

// Reached returns the highest index that a majority of n voters has reached, from those that they report; the lowest of these
// if there are too few, and 0 if there are none. So no single voter can make all others look as if they lagged.
func Reached(n int, indexes []uint64) uint64 {
	if len(indexes) == 0 {
		return 0
	}
	slices.SortFunc(indexes, func(a, b uint64) int { return cmp.Compare(b, a) })
	return indexes[min(Quorum(n), len(indexes))-1]
}
