package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// slowed is a calm cluster in which the disks of these members have been slow for an hour.
func slowed(size int, slow ...int) Observed {
	o := healthyCluster(size, true)
	o.Cluster.Autopilot.Relocation, o.MayDisturb = ModeOn, true
	for i := range size {
		o.Etcd.Histories = append(o.Etcd.Histories, DiskHistory{Pod: name(i), PodUID: o.Pods[i].UID, Samples: HistorySamples})
	}
	for _, i := range slow {
		o.Etcd.Histories[i].Slow = HistorySamples
		if len(slow) < size {
			o.Etcd.Histories[i].Alone = HistorySamples
		}
	}
	return o
}

// heldRelocation is what is held of relocations, by reason and message.
func heldRelocation(known Assessment) string {
	for _, h := range known.Held {
		if h.Feature == FeatureRelocation {
			return h.Reason + " " + h.Message
		}
	}
	return ""
}

// TestRelocate moves a member off a slow disk while all is calm, and says why not where it does not.
func TestRelocate(t *testing.T) {
	begun := Relocation{Member: id(1), Name: "c-1", Node: "n1", Since: now}
	before := func(ago time.Duration, givenUp string) Relocation {
		return Relocation{Name: "c-4", Node: "n4", Since: now.Add(-ago), GivenUp: givenUp}
	}
	for title, c := range map[string]struct {
		o          Observed
		want       Relocation
		held, says string
	}{
		"one disk is slow":           {slowed(3, 1), begun, "", ""},
		"two are, one is quick":      {slowed(3, 1, 2), begun, "", ""},
		"the leader's and another's": {slowed(3, 0, 1), begun, "", ""},
		"only the leader's":          {slowed(3, 0), Relocation{Member: id(0), Name: "c-0", Node: "n0", Since: now}, "", ""},
		"none is":                    {slowed(3), Relocation{}, "", ""},
		"all are":                    {slowed(3, 0, 1, 2), Relocation{}, v1beta2.ReasonRelocationHeld, "the disks of all members"},
		"in ten of twelve samples":   {edit(slowed(3, 1), func(o *Observed) { o.Etcd.Histories[1].Alone = 10 }), begun, "", ""},
		"in nine of them":            {edit(slowed(3, 1), func(o *Observed) { o.Etcd.Histories[1].Alone = 9 }), Relocation{}, "", ""},
		"not for an hour yet":        {edit(slowed(3, 1), func(o *Observed) { o.Etcd.Histories[1].Samples-- }), Relocation{}, "", ""},
		"of another pod of that name": {
			edit(slowed(3, 1), func(o *Observed) { o.Etcd.Histories[1].PodUID = "of before" }), Relocation{}, "", "",
		},
		"of two members": {slowed(2, 1), Relocation{}, v1beta2.ReasonRelocationHeld, "three voters"},
		"as it shrinks":  {edit(slowed(3, 1), func(o *Observed) { o.Cluster.Size = 1 }), Relocation{}, v1beta2.ReasonRelocationHeld, "three voters"},
		"one was moved today": {
			edit(slowed(3, 1), func(o *Observed) { o.Cluster.Relocation = before(23*time.Hour, "") }),
			Relocation{},
			v1beta2.ReasonRelocationHeld,
			"that of c-4 off node n4 began",
		},
		"one was moved yesterday": {edit(slowed(3, 1), func(o *Observed) { o.Cluster.Relocation = before(24*time.Hour, "") }), begun, "", ""},
		"it was given up today": {
			edit(slowed(3, 1), func(o *Observed) { o.Cluster.Relocation = before(time.Hour, "there is no node") }),
			Relocation{},
			v1beta2.ReasonRelocationHeld, "there is no node",
		},
		"it was given up yesterday": {
			edit(slowed(3, 1), func(o *Observed) { o.Cluster.Relocation = before(25*time.Hour, "there is no node") }), begun, "", "",
		},
		"it was moved there": {
			edit(slowed(3, 1), func(o *Observed) { o.Pods[1].Avoids = "n4" }), Relocation{}, v1beta2.ReasonRelocationHeld, "away from node n4",
		},
		"one of two was moved there": {
			edit(slowed(3, 1, 2), func(o *Observed) { o.Pods[2].Avoids = "n4" }), begun, "", "",
		},
		"a backup is under way": {
			edit(slowed(3, 1), func(o *Observed) { o.Cluster.BackingUp = "EtcdBackup nightly" }),
			Relocation{},
			v1beta2.ReasonRelocationHeld,
			"EtcdBackup nightly",
		},
		"etcd has an alarm": {
			edit(slowed(3, 1), func(o *Observed) {
				for i := range o.Etcd.Answers {
					o.Etcd.Answers[i].Alarms = []Alarm{{Kind: AlarmNoSpace, Member: id(0)}}
				}
			}), Relocation{}, v1beta2.ReasonRelocationHeld, "NOSPACE",
		},
		"the window is closed": {
			edit(slowed(3, 1), func(o *Observed) { o.Cluster.Autopilot.Window.Set = true }), Relocation{}, v1beta2.ReasonWaitingForWindow, "c-1",
		},
		"others have their turn": {edit(slowed(3, 1), func(o *Observed) { o.MayDisturb = false }), Relocation{}, v1beta2.ReasonWaitingForBrake, "c-1"},
		"the mode is Advise": {
			edit(slowed(3, 1), func(o *Observed) { o.Cluster.Autopilot.Relocation = ModeAdvise }), Relocation{}, v1beta2.ReasonAutopilotAdvises, "c-1",
		},
		"the mode is Off":     {edit(slowed(3, 1), func(o *Observed) { o.Cluster.Autopilot.Relocation = ModeOff }), Relocation{}, "", ""},
		"a voter is down":     {edit(slowed(3, 1), func(o *Observed) { o.Etcd.Answers = o.Etcd.Answers[:2] }), Relocation{}, "", ""},
		"it is down itself":   {edit(slowed(3, 2), func(o *Observed) { o.Etcd.Answers = o.Etcd.Answers[:2] }), Relocation{Member: id(2), Name: "c-2", Node: "n2", Since: now}, "", ""},
		"it is not Ready":     {edit(slowed(3, 1), func(o *Observed) { o.Pods[1].Ready = false }), begun, "", ""},
		"another one is not":  {edit(slowed(3, 1), func(o *Observed) { o.Pods[2].Ready = false }), Relocation{}, "", ""},
		"a roll is under way": {edit(slowed(3, 1), func(o *Observed) { o.Pods[2].Drift.Template = true }), Relocation{}, "", ""},
		"a member is quarantined": {
			edit(slowed(3, 1), func(o *Observed) { o.Cluster.Quarantined = Quarantined{Member: id(2), Name: "c-2"} }), Relocation{}, "", "",
		},
		"it is to hibernate": {edit(slowed(3, 1), func(o *Observed) { o.Cluster.Hibernate = true }), Relocation{}, "", ""},
	} {
		got, _ := Next(c.o).(CommitRelocation)
		if got.Relocation != c.want {
			t.Errorf("%s: %#v, want %#v", title, Next(c.o), c.want)
		}
		held := heldRelocation(Assess(c.o))
		if reason, _, _ := strings.Cut(held, " "); reason != c.held || !strings.Contains(held, c.says) {
			t.Errorf("%s: held is %q, want %s with %q", title, held, c.held, c.says)
		}
	}
}

// TestRelocation follows one from the decision until the former member is gone.
func TestRelocation(t *testing.T) {
	o := slowed(3, 1)
	o.Cluster.Record = o.Cluster.Apply(Next(o), o)
	wants := func(title string, o Observed, want Action) {
		t.Helper()
		if got := Describe(Next(o)); got.Action != Describe(want).Action || !strings.Contains(got.Message, Describe(want).Message) {
			t.Errorf("%s: %#v, want %#v", title, Next(o), want)
		}
	}
	wants("a volume first", o, CreateVolumes{Names: []string{"c-3"}})
	wants("also while it is down", edit(o, func(o *Observed) { o.Etcd.Answers = slices.Delete(slices.Clone(o.Etcd.Answers), 1, 2) }), CreateVolumes{Names: []string{"c-3"}})
	if a, waits := Next(edit(o, func(o *Observed) { o.Etcd.Answers = o.Etcd.Answers[:2] })).(Wait); !waits {
		t.Errorf("not while another one is: %#v", a)
	}
	o.Volumes = append(o.Volumes, Volume{Name: name(3), UID: "v3", Incarnation: 1, Owned: true})
	if a, ok := Next(o).(CreatePods); !ok || a.Pods[0].Avoid != (Avoidance{Node: "n1", Strictly: true}) {
		t.Errorf("the new member's pod: %#v", Next(o))
	}
	o.Pods = append(o.Pods, waitingPod(3))
	o.Pods[3].Persistent, o.Pods[3].Avoids, o.Pods[3].Node = true, "n1", "n3"
	wants("it joins", o, AddLearner{Name: "c-3", PeerURL: o.Cluster.PeerURL("c-3")})
	voting := started(withLearner(slowed(3, 1), 3))
	voting.Cluster.Record = o.Cluster.Record
	voting.Cluster.Relocation.Successor = id(3)
	if a, ok := Next(edit(voting, func(o *Observed) { o.Budget.MinAvailable = 3 })).(Promote); !ok || a.Name != "c-3" {
		t.Errorf("it is promoted: %#v", a)
	}
	for i := range voting.Etcd.Members {
		voting.Etcd.Members[i].Learner = false
	}
	voting.Etcd.Answers[3].Learner, voting.Pods[3].Ready, voting.Pods[3].InService = false, true, true
	voting.Cluster.Voters, voting.Budget.MinAvailable = []string{"c-0", "c-1", "c-2", "c-3"}, 4
	wants("the former one leaves the Service", voting, RemoveFromService{Pod: "c-1"})
	out := edit(voting, func(o *Observed) {
		o.Pods[1].InService, o.Pods[1].LeftService = false, now.Add(-time.Minute)
		o.Cluster.NextVoters = []string{"c-0", "c-2", "c-3"}
	})
	if a, ok := Next(out).(RemoveMember); !ok || a.Name != "c-1" || a.Why != v1beta2.ReasonRelocating {
		t.Errorf("then it goes: %#v", Next(out))
	}
	justNow := func(o *Observed) {
		for i := range o.Pods {
			o.Pods[i].ReadyChanged = now
		}
	}
	for title, change := range map[string]func(*Observed){
		"the new one is down": func(o *Observed) { o.Etcd.Answers = o.Etcd.Answers[:3] },
		"another one is down": func(o *Observed) { o.Etcd.Answers = slices.Delete(slices.Clone(o.Etcd.Answers), 0, 1) },
		"the new one is behind": func(o *Observed) {
			o.Etcd.Answers[3].Applied = 0
			o.Etcd.Answers[0].Committed, o.Etcd.Answers[1].Committed, o.Etcd.Answers[2].Committed = 9999, 9999, 9999
		},
	} {
		if o := edit(out, change, justNow); newView(o).NextToRemove.ID != 0 {
			t.Errorf("%s: %#v", title, Next(o))
		}
	}
	if o := edit(out, func(o *Observed) { o.Etcd.Answers = slices.Delete(slices.Clone(o.Etcd.Answers), 1, 2) }); newView(o).NextToRemove.Name != "c-1" {
		t.Errorf("it is down itself: %#v", Next(o))
	}
	if o := edit(out, func(o *Observed) { o.Cluster.Autopilot.Relocation = ModeOff }); Describe(Next(o)).Reason != v1beta2.ReasonRelocationGivenUp {
		t.Errorf("nobody wants it any more: %#v", Next(o))
	}
	gone := edit(voting, func(o *Observed) { o.Etcd.Members = append(o.Etcd.Members[:1:1], o.Etcd.Members[2:]...) })
	r := gone.Cluster.Apply(nil, gone).Relocation
	if want := (Relocation{Name: "c-1", Node: "n1", Since: now}); r != want {
		t.Errorf("once it is gone: %#v", r)
	}
	gone.Cluster.Relocation = r
	if got := newView(gone).podFor(gone.Volumes[0]).Avoid; got != (Avoidance{Node: "n1"}) {
		t.Errorf("a pod that is made anew avoids %#v", got)
	}
	gone.Now = now.Add(relocateEvery)
	if got := newView(gone).podFor(gone.Volumes[0]).Avoid; got != (Avoidance{}) {
		t.Errorf("the next day it avoids %#v", got)
	}
}

// TestGiveUpRelocation has the member stay where no other can take its place in time, and records when: 24 hours begin then.
func TestGiveUpRelocation(t *testing.T) {
	waiting := func(since time.Duration, changes ...func(*Observed)) Observed {
		return edit(slowed(3, 1), append([]func(*Observed){func(o *Observed) {
			o.Cluster.Relocation = Relocation{Member: id(1), Name: "c-1", Node: "n1", Since: now.Add(-since)}
			o.Volumes = append(o.Volumes, Volume{Name: name(3), UID: "v3", Incarnation: 1, Owned: true})
			p := waitingPod(3)
			p.Persistent, p.Phase, p.IP, p.Node, p.Avoids, p.StartProblem = true, Pending, "", "", "n1", "cannot be scheduled"
			o.Pods = append(o.Pods, p)
		}}, changes...)...)
	}
	runs := func(o *Observed) { o.Pods[3].Phase, o.Pods[3].IP, o.Pods[3].StartProblem = Running, "10.0.0.4", "" }
	for title, c := range map[string]struct {
		o    Observed
		says string
	}{
		"after four minutes": {waiting(4 * time.Minute), ""},
		"after five":         {waiting(5 * time.Minute), "five minutes (cannot be scheduled)"},
		"its pod was never made": {
			waiting(5*time.Minute, func(o *Observed) {
				o.Pods = o.Pods[:3]
				o.Refused = []Refusal{{Target: Target{"create", KindPod, "c-3"}, Message: "exceeded quota", RetryAt: now.Add(time.Minute)}}
			}), "no pod of a new member could be made within five minutes (the API server refuses to create Pod c-3)",
		},
		"its pod runs":             {waiting(5*time.Minute, runs), ""},
		"its pod runs for an hour": {waiting(time.Hour, runs), "within an hour"},
		"nobody wants it any more": {waiting(time.Minute, func(o *Observed) { o.Cluster.Autopilot.Relocation = ModeAdvise }), "not On any more"},
		"it is paused":             {waiting(time.Hour, func(o *Observed) { o.Cluster.Paused = true }), ""},
		"there is no quorum":       {waiting(time.Hour, func(o *Observed) { o.Etcd = Etcd{Contact: ContactNone} }), ""},
		"another one is listed":    {waiting(time.Hour, func(o *Observed) { o.Etcd.Members[1].ID = 0xbad }), ""},
	} {
		got, gives := Next(c.o).(CommitRelocation)
		if gives != (c.says != "") || gives && (got.Member != 0 || !got.Since.Equal(now) || !strings.Contains(got.GivenUp, c.says)) {
			t.Errorf("%s: %#v", title, Next(c.o))
		}
	}
	o := waiting(5 * time.Minute)
	o.Cluster.Record = o.Cluster.Apply(Next(o), o)
	if got, ok := Next(o).(DeletePod); !ok || got.Name != "c-3" {
		t.Errorf("then the new member's pod goes: %#v", Next(o))
	}
	lost := edit(o, func(o *Observed) { o.Etcd.Members, o.Cluster.Voters = o.Etcd.Members[:2], []string{"c-0", "c-1"} })
	lost.Pods, lost.Volumes = append(lost.Pods[:2:2], lost.Pods[3]), append(lost.Volumes[:2:2], lost.Volumes[3])
	if got, ok := Next(lost).(DeletePod); !ok || got.Name != "c-3" {
		t.Errorf("where another member is missing, its pod is made anew, for any node: %#v", Next(lost))
	}
	lost.Pods = lost.Pods[:2]
	if got, ok := Next(lost).(CreatePods); !ok || got.Pods[0].Avoid != (Avoidance{}) {
		t.Errorf("and that avoids none: %#v", Next(lost))
	}
}

// TestSlow judges a sample of a disk by the limits of a leader's.
func TestSlow(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		mean, quickest time.Duration
		slow, alone    bool
	}{
		{0, ms, false, false},
		{100 * ms, ms, false, false},
		{101 * ms, ms, true, true},
		{400 * ms, 100 * ms, true, true},
		{400 * ms, 101 * ms, true, false},
		{400 * ms, 0, true, false},
	} {
		if slow, alone := Slow(c.mean, c.quickest); slow != c.slow || alone != c.alone {
			t.Errorf("%s beside %s: %t, %t", c.mean, c.quickest, slow, alone)
		}
	}
}

// TestAvoidsStrictly has only the one that takes the member's place rather wait than be on that node.
func TestAvoidsStrictly(t *testing.T) {
	moving := func(o *Observed) {
		o.Cluster.Relocation = Relocation{Member: id(1), Name: "c-1", Node: "n1", Since: now, Successor: id(3)}
	}
	learner := edit(withLearner(slowed(3, 1), 3), moving)
	if got := newView(learner).podFor(learner.Volumes[3]).Avoid; got != (Avoidance{Node: "n1", Strictly: true}) {
		t.Errorf("the new member's pod, made anew, avoids %#v", got)
	}
	if got := newView(learner).podFor(learner.Volumes[0]).Avoid; got != (Avoidance{Node: "n1"}) {
		t.Errorf("a voter's pod, made anew, avoids %#v", got)
	}
	lacks := edit(slowed(3, 1), moving, func(o *Observed) {
		o.Etcd.Members, o.Etcd.Answers, o.Pods, o.Volumes = o.Etcd.Members[:2], o.Etcd.Answers[:2], o.Pods[:2], o.Volumes[:2]
		o.Cluster.Voters, o.Budget.MinAvailable = []string{"c-0", "c-1"}, 2
		o.Volumes = append(o.Volumes, Volume{Name: name(3), UID: "v3", Incarnation: 1, Owned: true})
	})
	if got, ok := newView(lacks).newMembers(1, "").(CreatePods); !ok || got.Pods[0].Avoid != (Avoidance{Node: "n1"}) {
		t.Errorf("the pod of one that is missing: %#v", got)
	}
}
