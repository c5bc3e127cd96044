package plan

import (
	"slices"
	"testing"
)

// said is what the i-th of three voters says, who all agree.
func said(i int) Response {
	var members []Member
	for j := range 3 {
		members = append(members, Member{ID: id(j), Name: name(j), PeerURL: "http://" + name(j), Published: true})
	}
	return Response{Answer: answerOf(i), Term: 5, Read: &Read{ClusterID: recordedID, Members: members, Revision: 100}}
}

// forged is what somebody says in a pod of that name who wants to be the only one.
func forged(pod string) Response {
	w := Response{Answer: Answer{
		Pod: pod, PodUID: "forged", MemberID: id(2), ClusterID: recordedID, Leader: id(2), Committed: 1 << 40,
	}, Term: 1 << 40}
	w.Read = &Read{ClusterID: recordedID, Members: []Member{{ID: id(2), Name: pod}}, Revision: 1 << 40}
	return w
}

// but is a word with a difference.
func but(w Response, edits ...func(*Response)) Response {
	read := *w.Read
	read.Members = slices.Clone(read.Members)
	w.Read = &read
	for _, edit := range edits {
		edit(&w)
	}
	return w
}

func silentOn(i int) Response {
	w := said(i)
	w.Read = nil
	return w
}

func TestJudge(t *testing.T) {
	three := Electorate{ClusterID: recordedID, Voters: []string{"c-0", "c-1", "c-2"}}
	two := Electorate{ClusterID: recordedID, Voters: []string{"c-0", "c-1"}}
	without := func(i int) func(*Response) {
		return func(w *Response) { w.Read.Members = slices.Delete(w.Read.Members, i, i+1) }
	}
	revision := func(n int64) func(*Response) { return func(w *Response) { w.Read.Revision = n } }
	for title, c := range map[string]struct {
		electorate       Electorate
		words            []Response
		contact          Contact
		members, answers int
		revision, newest int64
	}{
		"all agree":           {three, []Response{said(0), said(1), said(2)}, ContactQuorum, 3, 3, 100, 100},
		"two of three":        {three, []Response{said(0), said(1)}, ContactQuorum, 3, 2, 100, 100},
		"one of three":        {three, []Response{said(0), silentOn(1)}, ContactMinority, 0, 2, 0, 0},
		"no ID is known yet":  {Electorate{Voters: three.Voters}, []Response{said(0), said(1)}, ContactMinority, 0, 2, 0, 0},
		"another cluster's":   {Electorate{ClusterID: 1, Voters: three.Voters}, []Response{said(0), said(1)}, ContactMinority, 0, 2, 0, 0},
		"a forged pod alone":  {three, []Response{forged("c-7")}, ContactNone, 0, 0, 0, 0},
		"beside all":          {three, []Response{forged("c-7"), said(0), said(1), said(2)}, ContactQuorum, 3, 3, 100, 100},
		"in a voter's place":  {three, []Response{said(0), said(1), forged("c-2")}, ContactQuorum, 3, 3, 100, 100},
		"while others start":  {three, []Response{silentOn(0), forged("c-2")}, ContactMinority, 0, 2, 0, 0},
		"with a late word":    {three, []Response{said(0), but(said(2), revision(1<<40))}, ContactQuorum, 3, 2, 100, 1 << 40},
		"with an early word":  {three, []Response{but(said(2), revision(1)), said(0)}, ContactQuorum, 3, 2, 1, 100},
		"three revisions":     {three, []Response{but(said(2), revision(1)), said(0), but(said(1), revision(120))}, ContactQuorum, 3, 3, 100, 100},
		"revisions untold":    {three, []Response{but(said(0), revision(0)), but(said(1), revision(0))}, ContactQuorum, 3, 2, 0, 0},
		"removed by hand":     {three, []Response{but(said(0), without(2)), but(said(1), without(2))}, ContactQuorum, 2, 2, 100, 100},
		"of two, one is gone": {two, []Response{but(said(0), without(2), without(1))}, ContactMinority, 0, 1, 0, 0},
		"as it was declared": {
			Electorate{ClusterID: recordedID, Voters: two.Voters, Next: []string{"c-0"}},
			[]Response{but(said(0), without(2), without(1))},
			ContactQuorum, 1, 1, 100, 100,
		},
		"a third, as declared": {
			Electorate{ClusterID: recordedID, Voters: two.Voters, Next: three.Voters},
			[]Response{said(0), said(2)},
			ContactQuorum, 3, 2, 100, 100,
		},
		"the one that is to go cannot say so of the other": {
			Electorate{ClusterID: recordedID, Voters: two.Voters, Next: []string{"c-0"}},
			[]Response{forged("c-1")},
			ContactMinority, 0, 1, 0, 0,
		},
		"voters guessed, one of them learns": {
			Electorate{ClusterID: recordedID, Voters: two.Voters, Guessed: true},
			[]Response{said(0), learning()},
			ContactQuorum, 3, 2, 100, 100,
		},
	} {
		t.Run(title, func(t *testing.T) {
			got := c.electorate.Judge(c.words)
			if got.Contact != c.contact || len(got.Members) != c.members || len(got.Answers) != c.answers ||
				got.Revision != c.revision || got.RevisionCeiling != c.newest {
				t.Errorf("judged %+v", got)
			}
		})
	}
}

// learning is the second one's word, who says that it learns.
func learning() Response {
	w := silentOn(1)
	w.Learner = true
	return w
}

func TestJudgeDeposes(t *testing.T) {
	three := Electorate{ClusterID: recordedID, Voters: []string{"c-0", "c-1", "c-2"}}
	later := func(w *Response) { w.Term, w.Leader = 6, id(1) }
	for title, c := range map[string]struct {
		words []Response
		want  uint64 // whom c-0 follows
	}{
		"the others have elected another one": {[]Response{said(0), but(said(1), later), but(said(2), later)}, 0},
		"one alone deposes nobody":            {[]Response{said(0), said(1), but(said(2), later)}, id(0)},
		"nor does one who is no voter":        {[]Response{said(0), said(1), forged("c-7"), forged("c-8")}, id(0)},
	} {
		t.Run(title, func(t *testing.T) {
			if got := three.Judge(c.words).Answers[0]; got.Leader != c.want {
				t.Errorf("%s follows %x, want %x", got.Pod, got.Leader, c.want)
			}
		})
	}
}

// Who is said to have started by anybody has: the word of one costs nobody a member's place.
func TestJudgePublished(t *testing.T) {
	three := Electorate{ClusterID: recordedID, Voters: []string{"c-0", "c-1", "c-2"}}
	lie := but(said(2), func(w *Response) { w.Read.Members[1].Published = false })
	if got := three.Judge([]Response{lie, said(0)}); !got.Members[1].Published {
		t.Errorf("judged %+v", got.Members)
	}
}

func TestElectorate(t *testing.T) {
	running := healthyCluster(3, true)
	lost := func(o *Observed) { o.Cluster.Voters, o.Cluster.Bootstrap = nil, nil }
	for title, c := range map[string]struct {
		o    Observed
		want []string
	}{
		"the first members":                {bootstrapped(3, true), []string{"c-0", "c-1", "c-2"}},
		"the voters in status":             {running, []string{"c-0", "c-1", "c-2"}},
		"a pod is gone, its volume is not": {withoutPod(running, 1), []string{"c-0", "c-1", "c-2"}},
		"of one nothing is left": {
			edit(withoutPod(running, 1), func(o *Observed) { o.Volumes = slices.Delete(o.Volumes, 1, 2) }),
			[]string{"c-0", "c-2"},
		},
		"nor of its emptyDir": {withoutPod(healthyCluster(3, false), 2), []string{"c-0", "c-1"}},
		"the status was lost": {edit(running, lost), []string{"c-0", "c-1", "c-2"}},
		"and somebody has made more pods than members": {
			edit(running, lost, func(o *Observed) {
				for _, name := range []string{"c-50", "c-51", "c-52", "c-53"} {
					p := o.Pods[0]
					p.Name, p.UID = name, name
					o.Pods = append(o.Pods, p)
				}
			}), []string{"c-0", "c-1", "c-2"},
		},
		"the same, of members on emptyDirs": {edit(healthyCluster(3, false), lost), []string{"c-0", "c-1", "c-2"}},
		"and a claim is no one":             {edit(running, lost, func(o *Observed) { o.Pods, o.Volumes[1].Owned = nil, false }), []string{"c-0", "c-2"}},
	} {
		t.Run(title, func(t *testing.T) {
			if got := c.o.Electorate().Voters; !slices.Equal(got, c.want) {
				t.Errorf("the voters are %v, want %v", got, c.want)
			}
		})
	}
}

// TestNothingUnprovenIsDestroyed asks the guard itself: no rule that is added later passes it.
func TestNothingUnprovenIsDestroyed(t *testing.T) {
	whole := healthyCluster(3, true)
	foreign := edit(whole, func(o *Observed) { o.Volumes[1].Owned = false })
	mine, theirs := DeleteVolume{Name: "c-1", UID: "v1"}, DeleteVolume{Name: "c-1", UID: "another"}
	remove, pod := RemoveMember{ID: id(1), Name: "c-1"}, DeletePod{Name: "c-1", UID: "p1"}
	for title, c := range map[string]struct {
		o      Observed
		a      Action
		passes bool
	}{
		"a volume":                     {whole, mine, true},
		"one of another UID":           {whole, theirs, false},
		"a foreign one":                {foreign, mine, false},
		"a volume, without a quorum":   {noContact(whole), mine, false},
		"a member, without a quorum":   {noContact(whole), remove, false},
		"a pod, without a quorum":      {noContact(whole), pod, false},
		"a pod that has ended, though": {edit(noContact(whole), func(o *Observed) { o.Pods[1].Phase = Finished }), pod, true},
	} {
		t.Run(title, func(t *testing.T) {
			if got, by := newView(c.o).guarded(running.guards, c.a); (by == nil) != c.passes {
				t.Errorf("the guards answer %+v", got)
			}
		})
	}
}

// TestDeclareAfterALostNote: status is a change of the voters behind, for its last write failed. Another change made at once
// could leave fewer of those that status names than are needed to confirm the list, and nobody would be believed any more.
func TestDeclareAfterALostNote(t *testing.T) {
	o := healthyCluster(3, true)
	remove := RemoveMember{ID: id(2), Name: "c-2"}
	if got := commitVotersFirst(newView(o), remove); got != nil {
		t.Errorf("with all noted: %+v", got)
	}
	o.Cluster.Voters, o.Cluster.NextVoters = append(o.Cluster.Voters, "c-3"), o.Cluster.Voters
	if got, ok := commitVotersFirst(newView(o), remove).(CommitVoters); !ok || !sameNames(got.Voters, []string{"c-0", "c-1"}) {
		t.Errorf("status is behind: %+v", got)
	}
}
