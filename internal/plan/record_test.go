package plan

import (
	"reflect"
	"slices"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// TestRecord changes one thing at a time.
func TestRecord(t *testing.T) {
	o := healthyCluster(3, true)
	o.Cluster.Revision, o.Cluster.Spec, o.Cluster.AcceptedSpec, o.Cluster.LowestVersion = 100, "a", "a", "3.6.16"
	declared := func(r *Record) { r.NextVoters = []string{"c-0", "c-1"} }
	wait := Wait{Reason: v1beta2.ReasonWaitingForPods}
	drifting := func(o *Observed) { o.Pods[1].Drift.Template, o.Cluster.Spec = true, "b" }
	runs := func(version string) func(*Observed) {
		return func(o *Observed) {
			for i := range o.Etcd.Answers {
				o.Etcd.Answers[i].Version = version
			}
		}
	}
	all := []string{"c-0", "c-1", "c-2"}
	ranNothing := func(r *Record) { r.LowestVersion = "" }
	wrote := func(versions ...string) func(*Observed) {
		return func(o *Observed) {
			o.Etcd = Etcd{}
			for i, v := range versions {
				o.Volumes[i].Version = v
			}
		}
	}
	for title, c := range map[string]struct {
		before func(*Record)
		seen   func(*Observed)
		action Action
		after  func(*Record)
	}{
		"nothing":                         {action: wait},
		"an action that failed":           {seen: runs("3.6.16")},
		"a change of voters is declared":  {action: CommitVoters{Voters: []string{"c-0"}}, after: func(r *Record) { r.NextVoters = []string{"c-0"} }},
		"it is kept until it is made":     {before: declared, action: wait, after: declared},
		"it is kept without a quorum":     {before: declared, seen: func(o *Observed) { o.Etcd = Etcd{} }, action: wait, after: declared},
		"it is not needed once all is up": {before: declared, action: Idle{Reason: v1beta2.ReasonSpecReached}},
		"it is not needed once it is made": {
			before: func(r *Record) { r.NextVoters = []string{"c-0", "c-1", "c-2"} }, action: wait,
		},
		"the voters are others": {
			seen: func(o *Observed) { o.Etcd.Members = o.Etcd.Members[:2] }, action: wait,
			after: func(r *Record) { r.Voters = []string{"c-0", "c-1"} },
		},
		"volumes of an earlier cluster are adopted": { // their numbers are given, though the volumes may be gone by the next restore
			before: func(r *Record) { r.ID, r.Bootstrap = 0, nil },
			seen:   func(o *Observed) { o.Volumes[2].Incarnation = 7 }, action: Adopt{ClusterID: 9},
			after: func(r *Record) { r.ID, r.Bootstrap, r.Incarnations.Last, r.SnapshotDue = 9, nil, 7, true },
		},
		"an earlier operator has adopted them": {
			before: func(r *Record) { r.Bootstrap = nil }, seen: func(o *Observed) { o.Volumes[2].Incarnation = 7 }, action: wait,
			after: func(r *Record) { r.Bootstrap, r.Incarnations.Last = nil, 7 },
		},
		"volumes are adopted that 3.6 may have taken over from 3.5": {
			before: ranNothing, seen: wrote("3.6.16", "3.6.15", "3.6.16"), action: Adopt{ClusterID: recordedID, Volumes: all},
			after: func(r *Record) { r.LowestVersion, r.SnapshotDue, r.Incarnations.Last = "3.6.15", true, 1 },
		},
		"volumes are adopted on the way from 3.5": {
			before: ranNothing, seen: wrote("3.6.16", "3.5.35", "3.5.35"), action: Adopt{ClusterID: recordedID, Volumes: all},
			after: func(r *Record) { r.LowestVersion, r.SnapshotDue, r.Incarnations.Last = "3.5.35", true, 1 },
		},
		"volumes are adopted on the way to 3.7, or back": {
			before: ranNothing, seen: wrote("3.6.16", "3.7.3", "3.6.16"), action: Adopt{ClusterID: recordedID, Volumes: all},
			after: func(r *Record) { r.Incarnations.Last = 1 },
		},
		"pods are adopted that have their data on an emptyDir": {
			before: ranNothing, action: Adopt{ClusterID: recordedID},
			seen: func(o *Observed) { // nobody answers yet
				wrote("", "", "")(o)
				for i := range o.Pods {
					o.Pods[i].Permit, o.Pods[i].Version = &member.Permit{}, "3.6.16"
				}
			},
			after: func(r *Record) { r.SnapshotDue, r.Incarnations.Last = true, 1 },
		},
		"the revision moves in steps": {seen: func(o *Observed) { o.Etcd.Revision = 1099 }, action: wait},
		"a long step":                 {seen: func(o *Observed) { o.Etcd.Revision = 1100 }, action: wait, after: func(r *Record) { r.Revision = 1100 }},
		"an edit": {
			seen: drifting, action: wait, after: func(r *Record) { r.AcceptedSpec, r.PreviousSpec = "b", "a" },
		},
		"another one before all have the first": {
			before: func(r *Record) { r.PreviousSpec = "older" }, seen: drifting, action: wait,
			after: func(r *Record) { r.AcceptedSpec, r.PreviousSpec = "b", "older" },
		},
		"all members have it":       {before: func(r *Record) { r.PreviousSpec = "older" }, action: wait},
		"an edit that touches none": {seen: func(o *Observed) { o.Cluster.Spec = "b" }, action: wait, after: func(r *Record) { r.AcceptedSpec = "b" }},
		"an edit that cannot be carried out": {
			seen: func(o *Observed) { drifting(o); o.Cluster.Invalid = &failure.Problem{} }, action: wait,
		},
		"from 3.5 to 3.6": {
			before: func(r *Record) { r.LowestVersion = "3.5.35" }, action: wait, after: func(r *Record) { r.SnapshotDue = true },
		},
		"a snapshot of each member": {
			before: func(r *Record) { r.SnapshotDue = true }, action: CancelDowngrade{Snapshot: true},
		},
		"a downgrade that is rolled back": {
			before: func(r *Record) { r.SnapshotDue = true }, action: CancelDowngrade{}, after: func(r *Record) { r.SnapshotDue = true },
		},
		"a slow leader": {
			action: MoveLeader{Slow: "c-1"}, after: func(r *Record) { r.LeaderMoved, r.SlowMember = now, "c-1" },
		},
		"any other leader": {action: MoveLeader{}},
	} {
		t.Run(title, func(t *testing.T) {
			o := edit(o, runs("3.6.16"))
			if c.before != nil {
				c.before(&o.Cluster.Record)
			}
			if c.seen != nil {
				c.seen(&o)
			}
			want := healthyCluster(3, true).Cluster.Record
			want.Revision, want.AcceptedSpec, want.LowestVersion = 100, "a", "3.6.16"
			if c.after != nil {
				c.after(&want)
			}
			if got := o.Cluster.Apply(c.action, o); !reflect.DeepEqual(got, want) {
				t.Errorf("the record is\n%+v, not\n%+v", got, want)
			}
		})
	}
}

// TestRecordOfARestore follows what is put aside, until it is taken up again or let go.
func TestRecordOfARestore(t *testing.T) {
	o := healthyCluster(3, true)
	o.Cluster.Revision, o.Cluster.Spec, o.Cluster.AcceptedSpec, o.Cluster.LowestVersion = 100, "a", "a", "3.6.16"
	o.Cluster.SnapshotDue, o.Cluster.LeaderMoved, o.Cluster.SlowMember = true, now, "c-1"
	o.Cluster.Voters, o.Cluster.Safety.Skipped = o.Cluster.Voters[:2], true
	before := o.Cluster.Record
	act := func(a Action) {
		o.Cluster.Record = o.Cluster.Apply(a, o)
		o.Etcd = Etcd{}
	}

	act(CommitBootstrap{Bootstrap: Bootstrap{Incarnation: 2, Members: []string{"c-3"}, Restore: "first"}, UnsavedReason: "why"})
	r := o.Cluster.Record
	if r.ID != 0 || r.Revision != 0 || r.Voters != nil || r.LowestVersion != "" || r.SnapshotDue || !r.LeaderMoved.IsZero() ||
		r.Previous == nil || r.Previous.ID != recordedID || r.Previous.Revision != 100 || r.Incarnations != (Incarnations{2, 2}) ||
		len(r.Previous.Voters) != 3 || !r.Unsaved || !r.SafetySkipped || r.KeptUIDs != nil {
		t.Fatalf("once it has begun the record is %+v of %+v", r, r.Previous)
	}
	aside := r.Previous
	o.Cluster.Safety.Skipped = false
	act(ContinueRestore{})
	act(CommitBootstrap{Bootstrap: Bootstrap{Incarnation: 3, Members: []string{"c-4"}, Restore: "first"}})
	if r = o.Cluster.Record; r.Previous != aside || r.Bootstrap.Incarnation != 3 || !r.Unsaved || !r.SafetySkipped || !r.CancelDeclined {
		t.Fatalf("once it is tried again the record is %+v of %+v", r, r.Previous)
	}
	o.Pods = nil
	o.Volumes = append(o.Volumes, Volume{Name: "c-4", UID: "v4", Incarnation: 3, Owned: true, ClusterID: 3, MemberID: 3})
	act(CommitBootstrap{Bootstrap: Bootstrap{Incarnation: 4, Members: []string{"c-5"}, Restore: "second"}})
	if r = o.Cluster.Record; r.Previous != aside || r.Bootstrap.Restore != "second" || r.Incarnations != (Incarnations{4, 2}) ||
		!r.Unsaved || r.SafetySkipped || r.CancelDeclined || !slices.Equal(r.KeptUIDs, []string{"v4"}) {
		t.Fatalf("once another has taken its place the record is %+v of %+v", r, r.Previous)
	}

	act(CancelRestore{})
	before.KeptUIDs = []string{"v4"}
	before.Incarnations, before.PreviousSpec, before.Voters = Incarnations{4, 2}, "a", aside.Voters
	if !reflect.DeepEqual(o.Cluster.Record, before) {
		t.Errorf("once it is canceled the record is\n%+v, not\n%+v", o.Cluster.Record, before)
	}
	o.Cluster.Record = r
	o.Volumes = o.Volumes[1:]
	act(RecordClusterID{ClusterID: 7})
	if r := o.Cluster.Record; r.ID != 7 || r.Previous != nil || !r.Unsaved || !slices.Equal(r.KeptUIDs, []string{"v4", "v1", "v2"}) {
		t.Errorf("once it is up the record is %+v", r)
	}
}
