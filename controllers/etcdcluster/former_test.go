package etcdcluster

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// TestNotedAsDecided follows restores of a cluster: what status holds after each pass is what the planner's model has of it.
func TestNotedAsDecided(t *testing.T) {
	p := &pass{cluster: &v1beta2.EtcdCluster{}, observed: plan.Observed{Now: time.Unix(1e9, 0)}}
	r := &Reconciler{}
	p.cluster.Status = v1beta2.EtcdClusterStatus{
		ClusterID: "00000000000000c1", CurrentVersion: "3.6.16", InternalStatus: v1beta2.InternalStatus{Revision: 5000},
		MemberStatuses: []v1beta2.MemberStatus{{Name: "c-0", Role: v1beta2.MemberRoleVoter}},
	}
	p.observed.Cluster.Record = status.RecordOf(&p.cluster.Status)
	act := func(a plan.Action, err error) plan.Record {
		t.Helper()
		before := p.observed.Cluster.Record
		if p.action = a; err == nil {
			err = r.execute(t.Context(), p)
		}
		p.cluster.Status = status.Compute(status.Input{
			Cluster: p.cluster, Observed: p.observed, Assessment: plan.Assess(p.observed), Action: a, Err: err,
		})
		want := before.Apply(a, p.observed)
		if err != nil {
			want = before.Apply(nil, p.observed)
		}
		got := status.RecordOf(&p.cluster.Status)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("after %T the record is\n%+v, not\n%+v", a, got, want)
		}
		p.observed.Cluster.Record = got
		p.observed.Now = p.observed.Now.Add(time.Second)
		return got
	}
	begin := func(n int, name, unsaved string) plan.CommitBootstrap {
		p.restore = &v1beta2.EtcdRestore{}
		p.restore.Name, p.restore.UID, p.restore.Status.Source = name, types.UID(name), &v1beta2.RestoredFrom{}
		return plan.CommitBootstrap{UnsavedReason: unsaved, Bootstrap: plan.Bootstrap{
			Incarnation: n, Token: "t", Members: []string{"c-1"}, ClusterID: 0xc1 + uint64(n), Restore: name,
		}}
	}
	why := failure.Problem{Reason: v1beta2.ReasonRestoreCalledOff, Message: "it was deleted"}

	p.observed.Cluster.Safety.Skipped = true
	if got := act(begin(2, "first", ""), nil); got.Previous == nil || !got.SafetySkipped {
		t.Errorf("once it has begun the record is %+v", got)
	}
	p.observed.Cluster.Safety.Skipped = false
	act(plan.CancelRestore{Why: why}, errors.New("conflict"))
	act(plan.ContinueRestore{Why: why}, nil)
	if got := act(plan.Wait{Reason: v1beta2.ReasonRestoring}, nil); !got.CancelDeclined || !got.SafetySkipped {
		t.Errorf("as it goes on the record is %+v", got)
	}
	act(begin(3, "first", ""), nil)
	if got := act(begin(4, "second", "nobody has saved it"), nil); !got.Unsaved || got.SafetySkipped || got.CancelDeclined {
		t.Errorf("once another one has taken its place the record is %+v", got)
	}
	if got := act(plan.CancelRestore{Why: why}, nil); got.ID != 0xc1 || got.Unsaved {
		t.Errorf("once that is canceled the record is %+v", got)
	}
	act(begin(5, "third", "it may be old"), nil)
	p.observed.Volumes = []plan.Volume{{Name: "c-0", UID: "v0", Owned: true, MemberID: 1, Incarnation: 1}}
	if got := act(plan.RecordClusterID{ClusterID: 0xc6}, nil); len(got.KeptUIDs) != 1 || !got.Unsaved {
		t.Errorf("once it is up the record is %+v", got)
	}
	if kept := p.cluster.Status.KeptVolumes[0]; kept != (v1beta2.KeptVolume{Name: "c-0", UID: "v0", Restore: "third"}) {
		t.Errorf("it keeps %+v", kept)
	}
	p.observed.Cluster.Safety.Skipped = true
	act(begin(6, "fourth", ""), nil)
	p.observed.Volumes = append(p.observed.Volumes, plan.Volume{Name: "c-1", UID: "v1", Owned: true, ClusterID: 0xc6, MemberID: 1, Incarnation: 5})
	if got := act(plan.RecordClusterID{ClusterID: 0xc7}, nil); len(got.KeptUIDs) != 1 || !got.SafetySkipped {
		t.Errorf("once another one with Skip is up the record is %+v", got)
	}
}

// TestUnsavedWarns has someone look at what was replaced where not all of it is known to be saved.
func TestUnsavedWarns(t *testing.T) {
	for _, c := range []struct {
		action plan.Action
		want   bool
	}{
		{plan.CommitBootstrap{}, false},
		{plan.CommitBootstrap{UnsavedReason: "it may be old"}, true},
		{plan.RecordClusterID{KeptVolumes: []string{"c-0"}}, false},
		{plan.RecordClusterID{KeptVolumes: []string{"c-0"}, Unsaved: true}, true},
		{plan.RecordClusterID{Unsaved: true}, false}, // it was said as the restore began, and there is nothing to look at
	} {
		if got := warns(c.action, ""); got != c.want {
			t.Errorf("%#v: %t", c.action, got)
		}
	}
}
