package status

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestCalledOff notes when a cluster is back from a restore that came to nothing, and that an earlier one is done by then.
func TestCalledOff(t *testing.T) {
	in := threeMembers()
	in.Observed.Cluster.Size = 3
	for i := range in.Observed.Pods {
		in.Observed.Pods[i].Incarnation = 2
	}
	in.Cluster.Status.Bootstrap = &v1beta2.BootstrapStatus{Incarnation: 2, Restore: "earlier"}
	in.Cluster.Status.Restores = []v1beta2.RestoreRecord{
		{UID: "late", CalledOff: &v1beta2.RestoreCalledOff{Reason: v1beta2.ReasonRestoreCalledOff}}, {UID: "earlier"},
	}
	silent := in
	silent.Observed.Etcd = plan.Etcd{}
	if s := compute(silent); s.Restores[0].CalledOff.CompletionTime != nil || s.Restores[1].CompletionTime != nil {
		t.Errorf("while nobody answers the records are %+v", s.Restores)
	}
	s := compute(in)
	if s.Restores[0].CalledOff.CompletionTime == nil || s.Restores[0].CompletionTime != nil || s.Restores[1].CompletionTime == nil {
		t.Errorf("once a quorum answers the records are %+v", s.Restores)
	}
}

// TestDoubtOfAnAlarmComesBack: that data differs, which only etcd's alarm CORRUPT has told, is known until a restore has replaced that data. One that is
// called off has replaced none, whether or not another one has superseded it, and nobody has to answer for that.
func TestDoubtOfAnAlarmComesBack(t *testing.T) {
	doubtful := func(in *Input) { in.Cluster.Status.Doubt = &v1beta2.DataDoubt{} }
	silent := func(in *Input) { in.Observed.Etcd = plan.Etcd{} }
	later := func(in Input, s v1beta2.EtcdClusterStatus, a plan.Action) v1beta2.EtcdClusterStatus {
		in.Cluster.Status, in.Action, in.Observed = s, a, plan.Observed{Now: in.Observed.Now}
		return compute(in)
	}
	restore := func(uid string) plan.CommitBootstrap {
		return plan.CommitBootstrap{Bootstrap: plan.Bootstrap{Incarnation: 2, Members: []string{"m-3"}, Restore: uid}}
	}
	for title, c := range map[string]struct {
		first func(*Input)
		keeps bool
	}{
		"the alarm is raised as the restore begins": {func(in *Input) { alarmed(in, plan.AlarmCorrupt) }, true},
		"it was disarmed, and nothing is compared":  {doubtful, true},
		"there is no quorum":                        {func(in *Input) { doubtful(in); silent(in) }, true},
		"the data was found to be the same":         {func(in *Input) { doubtful(in); agreed(in, 2) }, false},
		"nothing was ever told":                     {func(*Input) {}, false},
	} {
		in := edited(allAnswer(), c.first)
		in.Action = restore("first")
		begun := compute(in)
		if begun.Doubt != nil || begun.Former == nil || (begun.Former.Doubt != nil) != c.keeps {
			t.Errorf("%s: once a restore has begun %+v is known, and of what it replaces %+v", title, begun.Doubt, begun.Former)
			continue
		}
		second := later(in, begun, restore("second"))
		up := later(in, begun, plan.RecordClusterID{ClusterID: 0xc2})
		for way, s := range map[string]v1beta2.EtcdClusterStatus{
			"at once":                          later(in, begun, plan.CancelRestore{}),
			"after a pass":                     later(in, later(in, begun, plan.Wait{}), plan.CancelRestore{}),
			"as another one had superseded it": later(in, second, plan.CancelRestore{}),
		} {
			if waits := later(in, s, plan.Wait{}); (s.Doubt != nil) != c.keeps || (waits.Doubt != nil) != c.keeps {
				t.Errorf("%s, and it is called off %s: %+v, and then %+v is known", title, way, s.Doubt, waits.Doubt)
			}
		}
		if up.Doubt != nil {
			t.Errorf("%s: %+v is known of what is restored", title, up.Doubt)
		}
	}
}
