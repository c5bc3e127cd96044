package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// moving is a cluster of so many voters that is to have size, of which one is being moved.
func moving(voters, size, moved int, mode Mode) Observed {
	o := healthyCluster(voters, true)
	o.Cluster.Size, o.Cluster.Autopilot.Relocation, o.MayDisturb, o.Budget.MinAvailable = size, mode, true, voters
	o.Cluster.Relocation = Relocation{Member: id(moved), Name: name(moved), Node: o.Pods[moved].Node, Since: now.Add(-time.Minute)}
	return o
}

// TestWhoeverIsDownGoes has no cluster stay with one member too many, of which one is down, until that comes back.
func TestWhoeverIsDownGoes(t *testing.T) {
	for title, o := range map[string]Observed{
		"c-3 took the place of c-1, and crashes on its node": silent(moving(4, 3, 1, ModeOn), 3),
		"the user scales from 5 to 3":                        silent(moving(5, 3, 1, ModeOn), 4),
	} {
		down := len(o.Pods) - 1
		o.Cluster.Relocation.Since, o.Cluster.Relocation.Successor = now.Add(-time.Hour), id(3)
		o.Pods[down].Ready, o.Pods[down].ReadyChanged, o.Pods[down].Created = false, now.Add(-pendingLimit), now.Add(-time.Hour)
		if got := newView(o).NextToRemove; got.Name != name(down) {
			t.Errorf("%s: one is down, and %q goes: %#v", title, got.Name, Next(o))
		}
		o.Pods[down].ReadyChanged = now.Add(-time.Second)
		if got := newView(o).NextToRemove; (got.ID != 0) != (len(o.Pods) == 5) {
			t.Errorf("%s: one is down since a moment, and %q goes: %#v", title, got.Name, Next(o))
		}
		o.Pods[down].ReadyChanged, o.Pods[down].Created = time.Time{}, now.Add(-time.Second)
		if got := newView(o).NextToRemove; (got.ID != 0) != (len(o.Pods) == 5) {
			t.Errorf("%s: the pod of one was just made anew, and %q goes: %#v", title, got.Name, Next(o))
		}
	}
}

// TestGivenUpMemberStays has the new member go, whatever it is called and wherever it is, if a relocation is given up once that votes.
func TestGivenUpMemberStays(t *testing.T) {
	lowest := moving(4, 3, 3, ModeOff) // c-0, c-2, c-3 ran: the new one has the lowest free name, c-1
	zones := moving(4, 3, 1, ModeOff)
	for i, zone := range []string{"a", "b", "a", "c"} {
		zones.Pods[i].Zone = zone
	}
	lowest.Cluster.Relocation.Successor, zones.Cluster.Relocation.Successor = id(1), id(3)
	for newest, o := range map[string]Observed{"c-1": lowest, "c-3": zones} {
		o.Cluster.Record = o.Cluster.Apply(Next(o), o)
		if goes := newView(o).NextToRemove.Name; goes != newest {
			t.Errorf("%s stays, because %s: %s goes, not %s", o.Cluster.Relocation.Name, o.Cluster.Relocation.GivenUp, goes, newest)
		}
	}
}

// TestNobodyGoesForABlip has a voter that is down, or only behind, not go before one that is one too many, unless it stays so.
func TestNobodyGoesForABlip(t *testing.T) {
	givenUp := func(o *Observed) {
		o.Cluster.Relocation.Member, o.Cluster.Relocation.GivenUp = 0, "the mode is not On any more"
	}
	down := func(since time.Duration) func(*Observed) {
		return func(o *Observed) {
			*o = silent(*o, 0)
			o.Pods[0].Ready, o.Pods[0].ReadyChanged = false, now.Add(-since)
		}
	}
	unheard := func(o *Observed) { *o = silent(*o, 0); o.Pods[0].ReadyChanged = now.Add(-5 * time.Hour) }
	behind := func(o *Observed) { o.Etcd.Answers[0].Behind = lagPatience }
	since := func(ago time.Duration) func(*Observed) {
		return func(o *Observed) { o.Cluster.Relocation.Since = now.Add(-ago) }
	}
	for title, c := range map[string]struct {
		changes []func(*Observed)
		goes    string
	}{
		"given up, and all are well":                     {[]func(*Observed){givenUp}, "c-3"},
		"given up, and one is down for a second":         {[]func(*Observed){givenUp, down(time.Second)}, ""},
		"given up, and one is down for five minutes":     {[]func(*Observed){givenUp, down(pendingLimit)}, "c-0"},
		"given up, and one has been behind for a while":  {[]func(*Observed){givenUp, behind}, ""},
		"given up, and the new one is down":              {[]func(*Observed){givenUp, func(o *Observed) { *o = silent(*o, 3) }}, "c-3"},
		"one is Ready, and does not answer":              {[]func(*Observed){unheard, since(119 * time.Minute)}, ""},
		"one comes and goes, and has for two hours":      {[]func(*Observed){givenUp, down(time.Second), since(2 * time.Hour)}, "c-0"},
		"one is Ready, and has not answered for so long": {[]func(*Observed){unheard, since(2 * time.Hour)}, "c-0"},
	} {
		o := moving(4, 3, 1, ModeOn)
		o.Cluster.Relocation.Successor, o.Etcd.Answers[3].Leader, o.Pods[3].Created = id(3), id(0), now.Add(-time.Hour)
		for i := range o.Pods {
			o.Pods[i].Created, o.Pods[i].ReadyChanged = now.Add(-6*time.Hour), now.Add(-6*time.Hour)
		}
		if got := newView(edit(o, c.changes...)).NextToRemove.Name; got != c.goes {
			t.Errorf("%s: %q goes, want %q", title, got, c.goes)
		}
	}
}

// TestNobodyIsUpdatedMeanwhile has no other member be updated while the one that is moved is down, and none be downgraded.
func TestNobodyIsUpdatedMeanwhile(t *testing.T) {
	o := silent(moving(5, 5, 1, ModeOn), 1)
	for i := range o.Pods {
		o.Pods[i].Drift.Template, o.Pods[i].InService = true, i != 2
	}
	o.Volumes = append(o.Volumes, Volume{Name: name(5), UID: "v5", Incarnation: 1, Owned: true})
	o.Refused = []Refusal{{Target: Target{"create", KindPod, "c-5"}, Message: "exceeded quota: pods", RetryAt: now.Add(time.Minute)}}
	if a, stops := Next(o).(Recreate); stops {
		t.Errorf("c-1 is down: %#v", a)
	}
	d := silent(moving(3, 3, 1, ModeOn), 1)
	d.Cluster.Version = "3.5.21"
	for i, n := range []string{"n0", "n1", "n2"} {
		d.PrepullPods = append(d.PrepullPods, PrepullPod{Node: n, Image: d.Cluster.Image("3.5.21"), Done: true})
		d.Pods[i].Node = n
	}
	if a, enables := Next(d).(EnableDowngrade); enables {
		t.Errorf("c-1 is down: %#v", a)
	}
}

// TestQuorumIsYoung gives members time after an outage that nobody has recorded, because it has taken the operator along.
func TestQuorumIsYoung(t *testing.T) {
	for _, lost := range []time.Time{{}, now.Add(-50 * time.Second)} {
		o := silent(healthyCluster(3, true), 2)
		o.Budget.MinAvailable, o.Cluster.QuorumLostSince, o.Cluster.NextVoters = 3, lost, []string{"c-0", "c-1"}
		for i := range o.Pods {
			o.Pods[i].Created, o.Pods[i].ReadyChanged = now.Add(-24*time.Hour), now
		}
		p := &o.Pods[2]
		p.Phase, p.IP, p.Ready, p.WaitsFor, p.ReadyChanged = Pending, "", false, "its volume is not attached", now.Add(-3*time.Hour)
		if a, removes := Next(o).(RemoveMember); removes {
			t.Errorf("the others are Ready since this second: %#v", a)
		}
	}
}

// TestSuccessor recognizes the member that takes the place of another by its pod.
func TestSuccessor(t *testing.T) {
	o := moving(4, 3, 1, ModeOn)
	next := func(changes ...func(*Observed)) uint64 {
		return o.Cluster.Relocation.next(edit(o, changes...)).Successor
	}
	made := func(o *Observed) { o.Pods[3].Avoids, o.Pods[3].Created = "n1", now }
	for title, c := range map[string]struct{ got, want uint64 }{
		"its pod is away from that node": {next(made), id(3)},
		"another one is":                 {next(func(o *Observed) { o.Pods[3].Avoids, o.Pods[3].Created = "n2", now }), 0},
		"one of an earlier relocation":   {next(made, func(o *Observed) { o.Pods[3].Created = now.Add(-relocateEvery) }), 0},
		"it is not listed":               {next(made, func(o *Observed) { o.Etcd.Members = o.Etcd.Members[:3] }), 0},
		"it was, and is gone":            {next(func(o *Observed) { o.Cluster.Relocation.Successor = 0xbad }), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: %x, want %x", title, c.got, c.want)
		}
	}
}

// TestNobodyGoesWhileOneIsBehind has neither the member that is moved go, nor its successor, while a voter is behind at a look; the former goes in the
// end.
func TestNobodyGoesWhileOneIsBehind(t *testing.T) {
	for _, c := range []struct {
		moved, successor int
		since            time.Duration
		goes             string
	}{{3, 1, time.Minute, ""}, {1, 3, time.Minute, ""}, {3, 1, 3 * time.Hour, "c-3"}, {1, 3, 3 * time.Hour, "c-1"}} {
		o := moving(4, 3, c.moved, ModeOn)
		o.Cluster.Relocation.Successor, o.Cluster.Relocation.Since = id(c.successor), now.Add(-c.since)
		for i := 1; i < len(o.Etcd.Answers); i++ {
			o.Etcd.Answers[i].Applied, o.Etcd.Answers[i].Committed = 50_000, 50_000
		}
		if got := newView(o).NextToRemove.Name; got != c.goes {
			t.Errorf("c-%d is moved, since %s, c-%d took its place, and c-0 is behind: %q goes, want %q", c.moved, c.since, c.successor, got, c.goes)
		}
	}
}

// TestAwaitedVoterIsTold says which voter the removal of a member that is moved waits for, and looks no more often than while anything is awaited.
func TestAwaitedVoterIsTold(t *testing.T) {
	for title, trouble := range map[string]func(*Observed){
		"c-0 is behind": func(o *Observed) {
			for i := 1; i < len(o.Etcd.Answers); i++ {
				o.Etcd.Answers[i].Applied, o.Etcd.Answers[i].Committed = 50_000, 50_000
			}
		},
		"c-0 does not answer": func(o *Observed) { *o = silent(*o, 0); o.Etcd.Answers[0].Leader = id(1) },
	} {
		o := moving(4, 3, 3, ModeOn)
		o.Cluster.Relocation.Successor = id(1)
		for i := range o.Pods {
			o.Pods[i].Created, o.Pods[i].ReadyChanged = now.Add(-6*time.Hour), now.Add(-6*time.Hour)
		}
		action, known := Decide(edit(o, trouble))
		const says = "c-3 is removed, which ends its move off node n0, once c-0 is healthy and not behind the leader"
		if held := heldRelocation(known); !strings.HasPrefix(held, v1beta2.ReasonRelocationHeld) || !strings.Contains(held, says) {
			t.Errorf("%s: held: %q", title, held)
		}
		if act, waits := action.(Wait); !waits || !strings.Contains(act.Message, says) || act.After < pollSlow {
			t.Errorf("%s: %#v", title, action)
		}
	}
}

// replacedAnother is a cluster in which c-3 votes in place of c-0, and then c-1 was down for long, and has gone instead.
func replacedAnother() Observed {
	o := moving(4, 3, 0, ModeOn)
	o.Cluster.Relocation.Since, o.Cluster.Relocation.Successor = now.Add(-time.Hour), id(3)
	o = withoutSecond(o)
	o.Pods, o.Volumes, o.Budget.MinAvailable = slices.Delete(o.Pods, 1, 2), slices.Delete(o.Volumes, 1, 2), 3
	return o
}

// unplaced has a second new member, c-4, be made to take the place of c-0, and find no node.
func unplaced(o *Observed) {
	p := waitingPod(4)
	p.Phase, p.Node, p.IP, p.Persistent, p.Created, p.Avoids, p.StartProblem = Pending, "", "", true, now, "n0", "cannot be scheduled"
	o.Pods, o.Volumes = append(o.Pods, p), append(o.Volumes, Volume{Name: name(4), UID: "v4", Incarnation: 1, Owned: true})
}

// TestAnotherHasGone gives a relocation up once its new member votes and is needed beside the one that is moved: no second one is made for it.
func TestAnotherHasGone(t *testing.T) {
	voting := moving(4, 3, 0, ModeOn)
	voting.Cluster.Relocation.Since, voting.Cluster.Relocation.Successor = now.Add(-time.Hour), id(3)
	gone := replacedAnother()
	for title, c := range map[string]struct {
		o     Observed
		given bool
	}{
		"nobody has gone":        {voting, false},
		"another one is down":    {silent(voting, 1), false},
		"the cluster is to grow": {edit(voting, func(o *Observed) { o.Cluster.Size = 5 }), true},
		"another one has gone":   {gone, true},
		"that is paused":         {edit(gone, func(o *Observed) { o.Cluster.Paused = true }), false},
		"a second new one waits": {edit(gone, unplaced), true},
		"a second one has begun": {withLearner(gone, 4), true},
	} {
		got, gives := Next(c.o).(CommitRelocation)
		if gives != c.given || gives && (got.Member != 0 || !got.Since.Equal(now) || !strings.Contains(got.GivenUp, "needed beside it")) {
			t.Errorf("%s: %#v", title, Next(c.o))
		}
	}
}

// TestSlowMemberStays has nobody go for a relocation that was given up because its new member is needed, updates go on, and no other one begin for a
// day.
func TestSlowMemberStays(t *testing.T) {
	o := edit(replacedAnother(), unplaced, func(o *Observed) { o.Pods[1].Drift.Template = true })
	o.Cluster.Record = o.Cluster.Apply(Next(o), o)
	if act, deletes := Next(o).(DeletePod); !deletes || act.Name != "c-4" {
		t.Errorf("a second new member's pod stays: %#v", Next(o))
	}
	o = edit(o, func(o *Observed) { o.Pods, o.Volumes = o.Pods[:3], o.Volumes[:3] })
	o.Cluster.Record = o.Cluster.Apply(nil, o)
	if goes := newView(o).NextToRemove; goes.ID != 0 || o.Cluster.Relocation.Successor != 0 {
		t.Errorf("%q goes, and %x is still the successor", goes.Name, o.Cluster.Relocation.Successor)
	}
	if act, updates := newView(o).Update.Step.(Recreate); !updates || act.Name != "c-2" {
		t.Errorf("nobody is updated: %#v", Next(o))
	}
	for ago, again := range map[time.Duration]bool{relocateEvery - time.Second: false, relocateEvery: true} {
		calm := slowed(3, 0)
		calm.Cluster.Relocation = o.Cluster.Relocation
		calm.Cluster.Relocation.Since = now.Add(-ago)
		if act, moves := Next(calm).(CommitRelocation); moves != again {
			t.Errorf("after %s: %#v", ago, act)
		}
	}
}

// TestMovedGoesFirst has the member that is moved go before others that are replaced, too: else its successor would take the place of one of them.
func TestMovedGoesFirst(t *testing.T) {
	o := moving(4, 3, 1, ModeOn)
	o.Cluster.Relocation.Successor = id(3)
	for i := range 3 { // the template was edited before the successor was made
		o.Pods[i].Persistent, o.Pods[i].Drift.Template = false, true
	}
	o.Pods[3].Persistent, o.Cluster.Persistent, o.Volumes = false, false, nil
	if goes := newView(o).NextToRemove.Name; goes != "c-1" {
		t.Errorf("%q goes: %#v", goes, Next(o))
	}
}
