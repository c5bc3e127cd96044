package status

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// full is a status with all that a record can hold.
func full() *v1beta2.EtcdClusterStatus {
	bootstrap := func(n int32) *v1beta2.BootstrapStatus {
		return &v1beta2.BootstrapStatus{
			Incarnation: n, Token: "t", Members: []string{"m-0"}, ClusterID: "00000000000000c1", Restore: "r", Recovery: true,
			Seats: []v1beta2.BootstrapSeat{{Name: "m-0", PodUID: "p", VolumeUID: "v"}},
		}
	}
	moved := &v1beta2.LeaderMoved{Member: "m-0", MoveTime: metav1.NewTime(at)}
	members := []v1beta2.MemberStatus{{Name: "m-0", Role: v1beta2.MemberRoleVoter, Node: "n"}, {Name: "m-1"}}
	raw := func(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }
	return &v1beta2.EtcdClusterStatus{
		ClusterID: "00000000000000c2", CurrentVersion: "3.6.16", MemberStatuses: members,
		KeptVolumes: []v1beta2.KeptVolume{{Name: "m-2", UID: "u", Restore: "of-then"}},
		InternalStatus: v1beta2.InternalStatus{
			Bootstrap: bootstrap(3), Revision: 5000, NextVoters: []string{"m-0", "m-1"}, SnapshotDue: new(true), LeaderMoved: moved,
			AcceptedSpec: raw(`{"size":1}`), FormerSpec: raw(`{"size":3}`),
			Incarnations: &v1beta2.IncarnationsStatus{Last: 3, Attempts: 2},
			Former: &v1beta2.FormerStatus{
				Quarantined: &v1beta2.QuarantinedMember{MemberID: "0000000000000009", Name: "f-1", VolumeUID: "fv"},
				Doubt:       &v1beta2.DataDoubt{Suspect: "0000000000000008", Split: true},
				ClusterID:   "00000000000000c1", Revision: 4000, Size: 1, MemberStatuses: members, NextVoters: []string{"m-0"},
				CurrentVersion: "3.5.35", Spec: raw(`{"size":3}`), LeaderMoved: moved, Bootstrap: bootstrap(1),
				SnapshotDue: new(true), RanBefore: true, Transport: &v1beta2.TransportStatus{ClientTLS: true},
			},
			Transport: &v1beta2.TransportStatus{PeerTLS: true, PeerBoth: true, PeerPort: 2382, ClientBoth: true},
		},
	}
}

// TestRecordKeepsItsForm holds that what is read is written as it was, and what is written is read as it was.
func TestRecordKeepsItsForm(t *testing.T) {
	s := full()
	r := RecordOf(s)
	writeRecord(s, r, plan.Observed{})
	if want := full(); !reflect.DeepEqual(s, want) {
		t.Errorf("the status is\n%+v, not\n%+v", s, want)
	}
	again := &v1beta2.EtcdClusterStatus{
		MemberStatuses: s.MemberStatuses, Restores: []v1beta2.RestoreRecord{{Name: "now"}},
		InternalStatus: v1beta2.InternalStatus{Former: s.Former},
	}
	writeRecord(again, r, plan.Observed{Volumes: []plan.Volume{{Name: "m-1", UID: "another"}, {Name: "m-2", UID: "u"}}})
	if got := RecordOf(again); !reflect.DeepEqual(got, r) {
		t.Errorf("the record is\n%+v, not\n%+v", got, r)
	}
	if kept := again.KeptVolumes[0]; kept.Name != "m-2" || kept.Restore != "now" {
		t.Errorf("it keeps %+v", kept)
	}
}

// TestFormerKeepsItsForm puts aside everything that can be, and reads it as it was.
func TestFormerKeepsItsForm(t *testing.T) {
	former := full().Former
	for field, value := range reflect.ValueOf(*former).Fields() {
		if value.IsZero() {
			t.Fatalf("the test does not set %s", field.Name)
		}
	}
	shown := &v1beta2.EtcdClusterStatus{Size: former.Size, MemberStatuses: former.MemberStatuses}
	if again := formerFor(shown, recordOfFormer(former)); !reflect.DeepEqual(again, former) {
		t.Errorf("what is put aside is\n%+v, not\n%+v", again, former)
	}
}

// TestRestoreUnderWay reads what is known of the restore that the cluster runs on, or is to: that it is to be canceled only as
// long as it is under way.
func TestRestoreUnderWay(t *testing.T) {
	s := full()
	s.Restores = []v1beta2.RestoreRecord{{UID: "another"}, {
		UID: "r", Unsaved: "why", Skipped: true, NotCalledOff: "why",
	}}
	if r := RecordOf(s); !r.Unsaved || !r.SafetySkipped || r.CancelDeclined || !r.Previous.Unsaved || !r.Previous.SafetySkipped {
		t.Errorf("with a cluster ID the record is %+v of %+v", r, r.Previous)
	}
	s.ClusterID = ""
	if r := RecordOf(s); !r.Unsaved || !r.SafetySkipped || !r.CancelDeclined {
		t.Errorf("without a cluster ID the record is %+v", r)
	}
	s.Restores = s.Restores[:1]
	if r := RecordOf(s); r.Unsaved || r.SafetySkipped || r.CancelDeclined || r.Previous.Unsaved || r.Previous.SafetySkipped {
		t.Errorf("of another restore the record is %+v of %+v", r, r.Previous)
	}
}

// TestAside follows what people read of the members while a restore takes their place, and when it is canceled. The cluster
// stays its operator's all the while.
func TestAside(t *testing.T) {
	in, claimed := threeMembers(), &v1beta2.OperatorReference{Namespace: "operators", Lease: "lease"}
	in.Cluster.Status.Operator = claimed
	in.Cluster.Status = compute(in)
	members := in.Cluster.Status.MemberStatuses
	in.Observed.Etcd.Members = append(in.Observed.Etcd.Members, plan.Member{ID: 4, Name: "m-3"}) // since the last pass
	in.Action = plan.CommitBootstrap{Bootstrap: plan.Bootstrap{Incarnation: 2, Members: []string{"m-3"}, Restore: "r"}}
	begun := compute(in)
	if begun.ClusterID != "" || begun.Size != 0 || len(Voters(begun.MemberStatuses)) > 0 || begun.Former == nil ||
		begun.Former.Size != 3 || !reflect.DeepEqual(begun.Former.MemberStatuses[:3], members) ||
		!slices.Equal(Voters(begun.Former.MemberStatuses), []string{"m-0", "m-1", "m-2", "m-3"}) || !reflect.DeepEqual(begun.Operator, claimed) {
		t.Fatalf("once it has begun the status is %+v of %+v", begun, begun.Former)
	}

	in.Cluster.Status, in.Action = begun, plan.CancelRestore{}
	in.Observed = plan.Observed{Now: at.Add(time.Minute)}
	back := compute(in)
	if back.ClusterID != "00000000000000c1" || back.Size != 3 || back.Former != nil || len(Voters(back.MemberStatuses)) != 4 ||
		!reflect.DeepEqual(back.Operator, claimed) {
		t.Errorf("once it is canceled the status is %+v of %+v", back, back.Former)
	}
}

// TestFailedActionIsNotNoted has only what was carried out count.
func TestFailedActionIsNotNoted(t *testing.T) {
	in := threeMembers()
	in.Cluster.Status.SnapshotDue = new(true)
	in.Action, in.Err = plan.CancelDowngrade{Snapshot: true}, errors.New("etcd refuses")
	if s := compute(in); !*s.SnapshotDue {
		t.Error("the members' snapshots are taken for written")
	}
	in.Err = nil
	if s := compute(in); *s.SnapshotDue {
		t.Error("the members' snapshots are still due")
	}
}

// TestSnapshotDueUnknown has data of which an operator before this one has noted nothing count as 3.5's: it may have been taken up,
// and 3.7 starts with no log of that. What is noted since is believed, and a cluster that was never up holds nothing.
func TestSnapshotDueUnknown(t *testing.T) {
	former := `{"clusterID":"00000000000000c1","currentVersion":"3.6.16"}`
	for title, c := range map[string]struct {
		status string
		want   bool
	}{
		"before there was status.internal": {former, true},
		"which knew that it is due":        {`{"clusterID":"00000000000000c1","snapshotDue":true}`, true},
		"which has adopted":                {`{"clusterID":"00000000000000c1","internal":{"incarnations":{"last":1}}}`, true},
		"since then it is noted":           {`{"clusterID":"00000000000000c1","internal":{"snapshotDue":false}}`, false},
		"since then it is due":             {`{"clusterID":"00000000000000c1","internal":{"snapshotDue":true}}`, true},
		"never up":                         {`{"phase":"Creating"}`, false},
	} {
		s := &v1beta2.EtcdClusterStatus{}
		if err := json.Unmarshal([]byte(c.status), s); err != nil {
			t.Fatal(err)
		}
		if got := RecordOf(s).SnapshotDue; got != c.want {
			t.Errorf("%s: %t", title, got)
		}
		replaced := &v1beta2.EtcdClusterStatus{InternalStatus: v1beta2.InternalStatus{Former: &v1beta2.FormerStatus{
			ClusterID: s.ClusterID, SnapshotDue: s.SnapshotDue,
		}}}
		if got := RecordOf(replaced).Previous.SnapshotDue; got != c.want {
			t.Errorf("%s, and a restore is to replace it: %t", title, got)
		}
	}
}

// TestKeptOfAQuarantinedMember notes the volume of such a member without a restore, whether or not there was one.
func TestKeptOfAQuarantinedMember(t *testing.T) {
	o := plan.Observed{Volumes: []plan.Volume{{Name: "m-1", UID: "v1"}, {Name: "m-2", UID: "v2"}}}
	o.Cluster.Quarantined = plan.Quarantined{Member: 7, Name: "m-1", VolumeUID: "v1"}
	s := &v1beta2.EtcdClusterStatus{Restores: []v1beta2.RestoreRecord{{UID: "r", Name: "restored"}}}
	writeRecord(s, plan.Record{KeptUIDs: []string{"v1", "v2"}}, o)
	want := []v1beta2.KeptVolume{{Name: "m-1", UID: "v1"}, {Name: "m-2", UID: "v2", Restore: "restored"}}
	if !reflect.DeepEqual(s.KeptVolumes, want) {
		t.Errorf("kept: %+v, want %+v", s.KeptVolumes, want)
	}
}
