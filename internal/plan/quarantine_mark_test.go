package plan

import (
	"slices"
	"testing"
)

// TestMarkOfAMember loses the status of a cluster in which a quarantined member is still listed, and in which nothing was compared since: by the mark of
// its volume it is known whose data is wrong.
func TestMarkOfAMember(t *testing.T) {
	lost := func(o *Observed) { o.Cluster.Quarantined, o.Cluster.Voters, o.Etcd.Compared = Quarantined{}, nil, nil }
	o := edit(quarantined(healthyCluster(3, true), 0), lost)
	if got := Next(o); got != (RemoveFromService{Pod: name(0), UID: "p0"}) {
		t.Errorf("Next() = %#v", got)
	}
	o.Pods[0].InService = false
	if m := Assess(o).Quarantined; m.Name != name(0) {
		t.Errorf("%q is quarantined", m.Name)
	}
	if got, want := o.Cluster.Apply(nil, o).Quarantined, (Quarantined{id(0), name(0), "v0"}); got != want {
		t.Errorf("recorded: %+v, want %+v", got, want)
	}
	o.Cluster.Size = 1
	if m := Assess(o).NextToRemove; m.Name != name(0) {
		t.Errorf("%s goes first", m.Name)
	}
	right := compared(o, []int64{0, 0, 0}, []int64{0, 0, 0})
	if got := right.Cluster.Apply(nil, right).Quarantined; got != (Quarantined{}) {
		t.Errorf("where its data is right: %+v", got)
	}
	if got := Next(right); got != (MarkQuarantined{Name: name(0), UID: "v0"}) {
		t.Errorf("where its data is right: Next() = %#v", got)
	}
	o.Volumes[1].Quarantined = true
	if r := o.Cluster.Apply(nil, o); r.Quarantined != (Quarantined{}) || r.Doubt != (Doubt{Split: true}) {
		t.Errorf("with two marks: quarantined %+v, in doubt %+v", r.Quarantined, r.Doubt)
	}
	if m := Assess(o).NextToRemove; m.ID != 0 {
		t.Errorf("with two marks %s goes", m.Name)
	}
}

// TestMarkIsLeft has the mark of a volume be left although the data is right again: status was not lost, so nobody is quarantined for it.
func TestMarkIsLeft(t *testing.T) {
	for title, o := range map[string]Observed{
		"a new process":                  edit(quarantined(healthyCluster(3, true), 0), func(o *Observed) { o.Etcd.Compared = nil }),
		"another one differs":            compared(quarantined(healthyCluster(3, true), 0), []int64{0, 0, 0}, []int64{0, 1, 0}),
		"another one differs for longer": compared(quarantined(healthyCluster(3, true), 0), []int64{0, 1, 0}, []int64{0, 1, 0}),
	} {
		o.Cluster.Quarantined, o.Cluster.Voters = Quarantined{}, []string{name(0), name(1), name(2)}
		if a := Assess(o); a.Quarantined.ID != 0 || a.Doubt.Split {
			t.Errorf("%s: %q is quarantined, in doubt is %+v", title, a.Quarantined.Name, a.Doubt)
		}
		if q := o.Cluster.Apply(nil, o).Quarantined; q.Member == id(0) {
			t.Errorf("%s: recorded is %+v", title, q)
		}
	}
}

// TestMarkOfAnAlarm loses the status after a member was removed that etcd's alarm CORRUPT names: its volume tells that the alarm is about nobody else.
func TestMarkOfAnAlarm(t *testing.T) {
	corrupt := Alarm{AlarmCorrupt, id(1)}
	o := edit(alarmed(withoutSecond(quarantined(healthyCluster(3, true), 1)), corrupt), func(o *Observed) {
		o.Cluster.Quarantined, o.Cluster.Voters, o.Etcd.Compared = Quarantined{}, nil, nil
	})
	if got, ok := Next(o).(Disarm); !ok || got.Alarm != corrupt {
		t.Errorf("Next() = %#v", Next(o))
	}
	if q := o.Cluster.Apply(nil, o).Quarantined; q.Member != id(1) {
		t.Errorf("recorded is %+v", q)
	}
}

// TestMarkInAStart has status be put back to before the cluster ID was recorded, and one initial member's volume be left, which is marked: it may have
// the last data there is.
func TestMarkInAStart(t *testing.T) {
	o := edit(born(bound(bootstrapped(3, true)), 1), func(o *Observed) {
		o.Pods, o.Volumes = nil, o.Volumes[1:2]
		o.Volumes[0].Quarantined = true
	})
	if got, ok := Next(o).(CreatePods); !ok || len(got.Pods) != 1 || got.Pods[0].Name != name(1) {
		t.Errorf("Next() = %#v", Next(o))
	}
}

// TestMarkOfAPreviousMember calls off a restore of a cluster that had no quorum since its volumes were taken up: the volume of a quarantined member is
// none to go back to.
func TestMarkOfAPreviousMember(t *testing.T) {
	o := healthyCluster(3, true)
	o.Etcd, o.Pods = Etcd{}, nil
	o.Cluster.Record = Record{
		Bootstrap:    &Bootstrap{Restore: "restore", Incarnation: 2, Members: []string{"c-9"}},
		Incarnations: Incarnations{Last: 2, FirstRestore: 2}, Previous: &Record{ID: recordedID},
	}
	o.Volumes[2].Lost = true
	if !newView(o).canGoBack() {
		t.Fatalf("two of three cannot go back: %s", newView(o).whyNotCanceled())
	}
	o.Volumes[1].Quarantined = true
	if v := newView(o); v.canGoBack() || slices.Contains(v.previousVoters(), name(1)) {
		t.Errorf("one of two can go back: voters %v", v.previousVoters())
	}
}
