package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

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

// TestMark has the volume of a quarantined member be marked for as long as its data is wrong.
func TestMark(t *testing.T) {
	for title, c := range map[string]struct {
		observed Observed
		want     Action
	}{
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
	} {
		if got := Next(c.observed); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: Next() = %#v, want %#v", title, got, c.want)
		}
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
	o.Volumes[0].Lost, o.Pods = true, healthyCluster(3, true).Pods[2:]
	if got, ok := Next(o).(Wait); !ok || !strings.Contains(got.Message, "no member is started on c-1, because the data there differed") {
		t.Errorf("where one of the others is lost: Next() = %#v", Next(o))
	}
	o.Volumes[0].Lost = false
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
