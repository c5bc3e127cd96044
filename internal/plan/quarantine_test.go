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
