package plan

import (
	"slices"
	"testing"
)

// TestMarkOfAMember loses the status of a cluster in which a quarantined member is still listed, and in which nothing was compared since: by the mark of
// its volume it is known whose data is wrong.
func TestMarkOfAMember(t *testing.T) {
	lost := func(o *Observed) { o.Cluster.Quarantined, o.Etcd.Compared = Quarantined{}, nil }
	o := edit(quarantined(healthyCluster(3, true), 0), lost)
	if got := Next(o); got != (RemoveFromService{Pod: name(0), UID: "p0"}) {
		t.Errorf("Next() = %#v", got)
	}
	o.Pods[0].InService = false
	if got, ok := Next(o).(AddToService); ok {
		t.Errorf("Next() = %#v", got)
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

// TestMarkInAStart has status be put back to before the cluster ID was recorded, and one initial member's volume be left, which is marked: it may have
// the last data there is.
func TestMarkInAStart(t *testing.T) {
	o := edit(born(bound(bootstrapped(3, true)), 1), func(o *Observed) {
		o.Pods, o.Volumes = nil, o.Volumes[1:2]
		o.Volumes[0].Quarantined = true
	})
	if got, again := Next(o).(CommitBootstrap); again {
		t.Errorf("Next() = %#v", got)
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
