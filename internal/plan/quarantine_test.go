package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// compared is a cluster on Auto Pilot whose voters' data was compared at two compactions: the hashes are in the voters' order.
func compared(o Observed, first, second []int64) Observed {
	return edit(o, func(o *Observed) {
		o.Cluster.Autopilot.Diverged, o.MayDisturb = ModeOn, true
		o.Etcd.Compared = nil
		for i, hashes := range [][]int64{first, second} {
			if hashes == nil {
				continue
			}
			c := Comparison{Revision: int64(100 * (i + 1))}
			for j, hash := range hashes {
				c.Hashes = append(c.Hashes, MemberHash{Member: id(j), Hash: hash})
			}
			o.Etcd.Compared = append(o.Etcd.Compared, c)
		}
	})
}

// differs has the voter with that index differ at both.
func differs(o Observed, i int) Observed {
	hashes := make([]int64, len(o.Etcd.Members))
	hashes[i] = 1
	return compared(o, hashes, hashes)
}

// quarantined is a cluster whose status says that the member is being replaced, and so does its volume.
func quarantined(o Observed, i int) Observed {
	return edit(differs(o, i), func(o *Observed) {
		if len(o.Volumes) > 0 {
			o.Volumes[i].Quarantined = true
		}
		o.Cluster.Quarantined = Quarantined{Member: id(i), Name: name(i), VolumeUID: "v" + string(rune('0'+i))}
	})
}

// mode has Auto Pilot go that far with members whose data differs.
func mode(o Observed, m Mode) Observed {
	return edit(o, func(o *Observed) { o.Cluster.Autopilot.Diverged = m })
}

// TestQuarantine is the order in which a member is replaced whose data differs.
func TestQuarantine(t *testing.T) {
	corrupt := Alarm{AlarmCorrupt, id(1)}
	gone := func(o Observed) Observed { // what is left once it is no member any more
		return edit(withoutSecond(o), func(o *Observed) { o.Cluster.Size = 2 })
	}
	for title, c := range map[string]struct {
		observed Observed
		want     Action
	}{
		"it is recorded first": {
			differs(healthyCluster(3, true), 1), Quarantine{Quarantined{id(1), name(1), "v1"}},
		},
		"on an emptyDir there is no volume to keep": {
			differs(healthyCluster(3, false), 2), Quarantine{Quarantined{id(2), name(2), ""}},
		},
		"etcd has found it out as well: one comparison is enough": {
			alarmed(compared(healthyCluster(3, true), nil, []int64{0, 1, 0}), corrupt), Quarantine{Quarantined{id(1), name(1), "v1"}},
		},
		"while a voter is down as well": {
			silent(differs(healthyCluster(3, true), 1), 2), Quarantine{Quarantined{id(1), name(1), "v1"}},
		},
		"while a member joins": {
			edit(withLearner(differs(healthyCluster(3, true), 1), 3), func(o *Observed) { o.Cluster.Size = 4 }), Quarantine{Quarantined{id(1), name(1), "v1"}},
		},
		"while a downgrade is enabled": {
			edit(differs(healthyCluster(3, true), 1), func(o *Observed) { o.Etcd.Answers[0].Downgrade = "3.5" }), Quarantine{Quarantined{id(1), name(1), "v1"}},
		},
		"although its pod is gone, and no other one is allowed": {
			edit(withoutPod(differs(healthyCluster(3, true), 1), 1), refuse(TargetOf(CreatePod{NewPod{Name: name(1)}}))), Quarantine{Quarantined{id(1), name(1), "v1"}},
		},
		"then its volume is marked": {
			unmarked(quarantined(healthyCluster(3, true), 1)), MarkQuarantined{Name: name(1), UID: "v1", Quarantined: true},
		},
		"it goes on if that is refused": {
			edit(unmarked(quarantined(healthyCluster(3, true), 1)), refuse(TargetOf(MarkQuarantined{Name: name(1)}))), RemoveFromService{Pod: name(1), UID: "p1"},
		},
		"the mark goes once the data is right again": {
			edit(compared(quarantined(healthyCluster(3, true), 1), []int64{0, 0, 0}, []int64{0, 0, 0}), func(o *Observed) { o.Cluster.Quarantined = Quarantined{} }),
			MarkQuarantined{Name: name(1), UID: "v1"},
		},
		"then no client is led to it": {
			quarantined(healthyCluster(3, true), 1), RemoveFromService{Pod: name(1), UID: "p1"},
		},
		"nor does it lead": {
			unserved(quarantined(healthyCluster(3, true), 0), 0), MoveLeader{From: id(0), To: id(1), FromName: name(0), ToName: name(1)},
		},
		"a new member comes first": {
			unserved(quarantined(healthyCluster(3, true), 1), 1), CreateVolumes{Names: []string{name(3)}, Incarnation: 1},
		},
		"with an alarm it goes at once": {
			closed(alarmed(unserved(quarantined(healthyCluster(3, true), 1), 1), corrupt)),
			RemoveMember{ID: id(1), Name: name(1), Why: v1beta2.ReasonDivergedMember},
		},
		"its alarm is disarmed": {
			gone(alarmed(quarantined(healthyCluster(3, true), 1), corrupt)), Disarm{corrupt, "00000000000000a1, which is no longer a member"},
		},
		"its pod goes": {
			gone(quarantined(healthyCluster(3, true), 1)), DeletePod{Name: name(1), UID: "p1", Why: v1beta2.ReasonNotAMember},
		},
		"and its volume stays": {
			withoutPod(gone(quarantined(healthyCluster(3, true), 1)), 1), nil,
		},
		"it waits for a voter that is down": {
			silent(unserved(quarantined(healthyCluster(3, true), 1), 1), 2), nil,
		},
		"it does not lead even then": {
			silent(unserved(quarantined(healthyCluster(3, true), 0), 0), 2), MoveLeader{From: id(0), To: id(1), FromName: name(0), ToName: name(1)},
		},
		"who may have got its data goes": {
			unserved(started(withLearner(quarantined(healthyCluster(3, true), 0), 3)), 0),
			RemoveMember{ID: id(3), Name: name(3), Why: v1beta2.ReasonDivergedMember},
		},
		"where nobody may act it gets no clients": {
			mode(quarantined(healthyCluster(3, true), 1), ModeOff), RemoveFromService{Pod: name(1), UID: "p1"},
		},
		"nor does it lead there": {
			mode(unserved(quarantined(healthyCluster(3, true), 0), 0), ModeAdvise), MoveLeader{From: id(0), To: id(1), FromName: name(0), ToName: name(1)},
		},
		"and it is not replaced there": {
			mode(unserved(quarantined(healthyCluster(3, true), 1), 1), ModeOff), nil,
		},
		"nor removed": {
			mode(closed(alarmed(unserved(quarantined(healthyCluster(3, true), 1), 1), corrupt)), ModeOff), nil,
		},
	} {
		t.Run(title, func(t *testing.T) {
			got := Next(c.observed)
			if c.want == nil {
				if Mutates(got) && got != (SetBudget{MinAvailable: 1}) {
					t.Errorf("Next() = %#v, want nothing to be done to a member", got)
				}
			} else if !reflect.DeepEqual(got, c.want) {
				t.Errorf("Next() = %#v, want %#v", got, c.want)
			}
		})
	}
}

// unmarked is the same without a mark on any volume.
func unmarked(o Observed) Observed {
	return edit(o, func(o *Observed) {
		for i := range o.Volumes {
			o.Volumes[i].Quarantined = false
		}
	})
}

// TestMarkIsEnough loses the status after the second member was quarantined and removed: what its volume is marked with has that be kept, and
// nobody waits for it.
func TestMarkIsEnough(t *testing.T) {
	lost := func(o *Observed) { o.Cluster.Record, o.Cluster.Bootstrap, o.Pods, o.Etcd = Record{}, nil, nil, Etcd{} }
	o := edit(quarantined(healthyCluster(3, true), 1), lost)
	adopt := Adopt{ClusterID: recordedID, Volumes: []string{name(0), name(1), name(2)}}
	if got := Next(o); !reflect.DeepEqual(got, adopt) {
		t.Fatalf("Next() = %#v, want %#v", got, adopt)
	}
	o.Cluster.Record = o.Cluster.Apply(adopt, o)
	if got, want := o.Electorate().Voters, []string{name(0), name(2)}; !slices.Equal(got, want) {
		t.Errorf("the voters are %v, want %v", got, want)
	}
	pods, created := Next(o).(CreatePods)
	if !created || len(pods.Pods) != 2 || pods.Pods[0].Name != name(0) || pods.Pods[1].Name != name(2) {
		t.Errorf("Next() = %#v", Next(o))
	}
	up := edit(withoutPod(withoutSecond(quarantined(healthyCluster(3, true), 1)), 1), func(o *Observed) {
		o.Cluster.Quarantined, o.Etcd.Compared, o.Cluster.Size = Quarantined{}, nil, 2
	})
	if got := Next(up); Mutates(got) && got != (SetBudget{MinAvailable: 1}) {
		t.Errorf("Next() = %#v", got)
	}
	if kept := up.Cluster.Apply(nil, up).KeptUIDs; !slices.Equal(kept, []string{"v1"}) {
		t.Errorf("kept are %v", kept)
	}
	o = edit(o, lost, func(o *Observed) { o.Volumes = o.Volumes[1:2] })
	if got, ok := Next(o).(Blocked); !ok || got.Reason != v1beta2.ReasonVolumesExist {
		t.Errorf("with nothing else: Next() = %#v", Next(o))
	}
}

// withoutSecond is what is observed once etcd does not list the second member any more.
func withoutSecond(o Observed) Observed {
	const i = 1
	o.Etcd.Members = slices.DeleteFunc(slices.Clone(o.Etcd.Members), func(m Member) bool { return m.ID == id(i) })
	o.Cluster.Voters = slices.DeleteFunc(slices.Clone(o.Cluster.Voters), func(n string) bool { return n == name(i) })
	return silent(o, i)
}

// TestDataIsNotJudged is what nobody is replaced for, and what is said instead.
func TestDataIsNotJudged(t *testing.T) {
	three := healthyCluster(3, true)
	one, all, none := []int64{0, 1, 0}, []int64{0, 1, 2}, []int64{0, 0, 0}
	const held, unclear = v1beta2.ReasonDivergedMemberHeld, v1beta2.ReasonDivergedMemberUnclear
	for title, c := range map[string]struct {
		observed Observed
		reason   string // none: nothing is said
		says     string
	}{
		"nothing is known":                     {compared(three, nil, nil), "", ""},
		"the data is the same":                 {compared(three, none, none), "", ""},
		"it is the same again":                 {compared(three, one, none), "", ""},
		"it differs for the first time":        {compared(three, nil, one), held, "if the next compaction shows the same"},
		"it differs, and did not before":       {compared(three, none, one), held, "the data of c-1 differs"},
		"another one differed before":          {compared(three, []int64{1, 0, 0}, one), held, "if the next compaction shows the same"},
		"all differ":                           {compared(three, all, all), unclear, "the data of the 3 voters differs"},
		"all differed before":                  {compared(three, all, one), held, "if the next"},
		"two of four differ":                   {compared(healthyCluster(4, true), []int64{0, 0, 1, 1}, []int64{0, 0, 1, 1}), unclear, "no majority"},
		"two of five differ":                   {compared(healthyCluster(5, true), []int64{0, 0, 0, 1, 1}, []int64{0, 0, 0, 1, 1}), unclear, "exactly one"},
		"two differ, each otherwise":           {compared(healthyCluster(5, true), []int64{0, 0, 0, 1, 2}, []int64{0, 0, 0, 1, 2}), unclear, "exactly one"},
		"one of two differs":                   {compared(healthyCluster(2, true), []int64{0, 1}, []int64{0, 1}), unclear, "the data of the 2 voters"},
		"the voters were others then":          {compared(three, []int64{0, 1}, []int64{0, 1}), "", ""},
		"the mode is Advise":                   {mode(differs(three, 1), ModeAdvise), v1beta2.ReasonAutopilotAdvises, "with mode On it would be replaced"},
		"the mode is Off":                      {mode(differs(three, 1), ModeOff), "", ""},
		"etcd cannot tell whose data is wrong": {alarmed(differs(three, 1), Alarm{AlarmCorrupt, 0}), unclear, "names no member"},
		"etcd accuses another one":             {alarmed(differs(three, 1), Alarm{AlarmCorrupt, id(2)}), unclear, "names c-2"},
		"etcd accuses one, and nothing is known": {
			alarmed(compared(three, nil, nil), Alarm{AlarmCorrupt, id(1)}), unclear, "no comparison of the voters' data confirms it",
		},
		"etcd accuses one, and the data is the same": {
			alarmed(compared(three, nil, none), Alarm{AlarmCorrupt, id(1)}), unclear, "no comparison of the voters' data confirms it",
		},
		"too many clusters are disturbed": {
			edit(differs(three, 1), func(o *Observed) { o.MayDisturb = false }), v1beta2.ReasonWaitingForBrake, "once fewer clusters are disturbed",
		},
		"no quorum": {noContact(differs(three, 1)), "", ""},
	} {
		t.Run(title, func(t *testing.T) {
			action, known := Decide(c.observed)
			switch action.(type) { //nolint:gochecksumtype // others may go on
			case Quarantine, RemoveFromService, RemoveMember, CreateVolumes, CreatePods:
				t.Errorf("Next() = %#v", action)
			}
			if len(known.Held) == 0 && c.reason == "" {
				return
			}
			if len(known.Held) != 1 || known.Held[0].Reason != c.reason || known.Held[0].Feature != FeatureDiverged ||
				!strings.Contains(known.Held[0].Message, c.says) {
				t.Errorf("held: %+v, want %s: %s", known.Held, c.reason, c.says)
			}
		})
	}
}

// TestReplacementAwaits says what a replacement that has begun waits for.
func TestReplacementAwaits(t *testing.T) {
	begun := unserved(quarantined(healthyCluster(3, true), 1), 1)
	for title, c := range map[string]struct {
		o    Observed
		says string // empty: nothing is held
	}{
		"it goes on":              {begun, ""},
		"the member itself fails": {silent(begun, 1), ""},
		"another one does":        {silent(begun, 2), "not healthy: c-2"},
		"a downgrade is enabled":  {edit(begun, lowering(0, 2)), "once the downgrade is complete"},
	} {
		held := Assess(c.o).Held
		if c.says == "" && len(held) == 0 {
			continue
		}
		if len(held) != 1 || held[0].Reason != v1beta2.ReasonDivergedMemberHeld || c.says == "" || !strings.Contains(held[0].Message, c.says) {
			t.Errorf("%s: held %+v, want %q", title, held, c.says)
		}
	}
}

// TestQuarantineIsRecorded follows what status keeps of it.
func TestQuarantineIsRecorded(t *testing.T) {
	o := differs(healthyCluster(3, true), 1)
	want := Quarantined{id(1), name(1), "v1"}
	r := o.Cluster.Apply(Next(o), o)
	if r.Quarantined != want {
		t.Fatalf("recorded: %+v", r.Quarantined)
	}
	o.Cluster.Record, o.Etcd.Compared = r, nil // an operator that starts anew knows of no comparison
	if got := Next(o); got != (MarkQuarantined{Name: name(1), UID: "v1", Quarantined: true}) {
		t.Errorf("it goes on with %#v", got)
	}
	o.Volumes[1].Quarantined = true
	if got := Next(o); got != (RemoveFromService{Pod: name(1), UID: "p1"}) {
		t.Errorf("then it goes on with %#v", got)
	}
	if r := o.Cluster.Apply(nil, o); r.Quarantined != want || len(r.KeptUIDs) != 0 {
		t.Errorf("while it is listed: %+v, kept %v", r.Quarantined, r.KeptUIDs)
	}
	if r := o.Cluster.Apply(nil, noContact(o)); r.Quarantined != want || len(r.KeptUIDs) != 0 {
		t.Errorf("without a quorum: %+v, kept %v", r.Quarantined, r.KeptUIDs)
	}
	o.MayDisturb = false // whose turn it was is forgotten, too
	if got := Next(o); got != (RemoveFromService{Pod: name(1), UID: "p1"}) {
		t.Errorf("without its turn it goes on with %#v", got)
	}
	off := mode(o, ModeOff)
	if r := off.Cluster.Apply(nil, off); r.Quarantined != want {
		t.Errorf("with mode Off: %+v", r.Quarantined)
	}
	if held := Assess(off).Held; len(held) != 1 || held[0].Reason != v1beta2.ReasonDivergedMemberHeld || !strings.Contains(held[0].Message, "kept away") {
		t.Errorf("with mode Off: held %+v", held)
	}
	once := compared(o, []int64{0, 1, 0}, []int64{0, 0, 0})
	if r := once.Cluster.Apply(nil, once); r.Quarantined != want {
		t.Errorf("when its data was right once: %+v", r.Quarantined)
	}
	again := compared(o, []int64{0, 0, 0}, []int64{0, 0, 0})
	if r := again.Cluster.Apply(nil, again); r.Quarantined != (Quarantined{}) || len(r.KeptUIDs) != 0 {
		t.Errorf("when its data was right twice: %+v, kept %v", r.Quarantined, r.KeptUIDs)
	}
	after := withoutSecond(o)
	r = after.Cluster.Apply(nil, after)
	if r.Quarantined != (Quarantined{}) || !slices.Equal(r.KeptUIDs, []string{"v1"}) {
		t.Errorf("once it is no member: %+v, kept %v", r.Quarantined, r.KeptUIDs)
	}
	accused := alarmed(after, Alarm{AlarmCorrupt, id(1)})
	if r := accused.Cluster.Apply(nil, accused); r.Quarantined != want || !slices.Equal(r.KeptUIDs, []string{"v1"}) {
		t.Errorf("while there is its alarm: %+v, kept %v", r.Quarantined, r.KeptUIDs)
	}
	after.Cluster.Record = r
	remove := DeleteVolume{Name: name(1), UID: "v1"}
	if got, ok := protectKeptVolumes(newView(after), remove).(Blocked); !ok {
		t.Errorf("its volume may be deleted: %#v", got)
	}
	if got := Next(withoutPod(after, 1)); !reflect.DeepEqual(got, Action(CreateVolumes{Names: []string{name(3)}, Incarnation: 1})) {
		t.Errorf("a new member has another name: %#v", got)
	}
}

// TestQuarantinedGoesFirst: once the new member votes, the one whose data is wrong goes, whoever else is to be replaced.
func TestQuarantinedGoesFirst(t *testing.T) {
	o := edit(healthyCluster(4, true), func(o *Observed) {
		o.Cluster.Size = 3
		for i := range o.Volumes {
			o.Volumes[i].Drift = true
		}
	})
	o = closed(unserved(quarantined(o, 1), 1))
	o.Cluster.NextVoters = []string{name(0), name(2), name(3)}
	if got := Next(o); got != (RemoveMember{ID: id(1), Name: name(1), Why: v1beta2.ReasonDivergedMember}) {
		t.Errorf("Next() = %#v", got)
	}
}
