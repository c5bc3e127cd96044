package status

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// alarmed has all members that answer tell of an alarm of m-1.
func alarmed(in *Input, kind plan.AlarmKind) {
	for i := range in.Observed.Etcd.Answers {
		in.Observed.Etcd.Answers[i].Alarms = []plan.Alarm{{Kind: kind, Member: 2}}
	}
}

// TestAlarmInEveryState wants an alarm in the conditions whatever the operator does or cannot do: it stops every client.
func TestAlarmInEveryState(t *testing.T) {
	for title, c := range map[string]struct {
		in    Input
		kind  plan.AlarmKind
		want  string
		says  []string
		phase v1beta2.ClusterPhase
	}{
		"nothing else": {
			edited(allAnswer(), func(in *Input) { in.Action = plan.Blocked{Reason: v1beta2.ReasonNoSpace, Message: "full"} }),
			plan.AlarmNoSpace, v1beta2.ReasonNoSpace,
			[]string{"m-1"},
			v1beta2.ClusterPhaseFailed,
		},
		"a member is down": {threeMembers(), plan.AlarmNoSpace, v1beta2.ReasonNoSpace, []string{"m-1"}, v1beta2.ClusterPhaseUnavailable},
		"an update, no member of which is due": {
			edited(allAnswer(), func(in *Input) { in.Action = plan.Wait{Reason: v1beta2.ReasonWaitingForMember, Message: "m-0"} }),
			plan.AlarmCorrupt, v1beta2.ReasonCorrupt,
			[]string{"names m-1"},
			v1beta2.ClusterPhaseUnavailable,
		},
		"paused": {
			edited(allAnswer(), func(in *Input) {
				in.Cluster.Spec.Paused = true
				in.Action = plan.Idle{Reason: v1beta2.ReasonPaused, Message: "paused"}
			}),
			plan.AlarmCorrupt, v1beta2.ReasonCorrupt,
			[]string{"names m-1"},
			v1beta2.ClusterPhaseUnavailable,
		},
		"a spec that cannot be carried out": {
			edited(allAnswer(), func(in *Input) { in.Action = plan.Blocked{Reason: v1beta2.ReasonInvalidOption, Message: "spec.etcd"} }),
			plan.AlarmNoSpace, v1beta2.ReasonNoSpace,
			[]string{"m-1", "; spec.etcd"},
			v1beta2.ClusterPhaseFailed,
		},
	} {
		t.Run(title, func(t *testing.T) {
			alarmed(&c.in, c.kind)
			s := compute(c.in)
			degraded := meta.FindStatusCondition(s.Conditions, v1beta2.ConditionDegraded)
			if reason(t, s, v1beta2.ConditionDegraded, metav1.ConditionTrue) != c.want ||
				reason(t, s, v1beta2.ConditionAvailable, metav1.ConditionFalse) != c.want ||
				reason(t, s, v1beta2.ConditionReady, metav1.ConditionFalse) != c.want || s.Phase != c.phase {
				t.Errorf("phase %s, %+v", s.Phase, s.Conditions)
			}
			for _, part := range c.says {
				if !strings.Contains(degraded.Message, part) {
					t.Errorf("it does not say %q: %s", part, degraded.Message)
				}
			}
		})
	}
}

func edited(in Input, edit func(*Input)) Input {
	edit(&in)
	return in
}

// TestAlarmOfAvailability: since when writes are refused is when Available has changed, and nothing is written while only how much is free
// changes a little, or one member alone tells of an alarm.
func TestAlarmOfAvailability(t *testing.T) {
	const quota = 2 << 30
	in := allAnswer()
	in.Cluster.Status = compute(in)
	in.Observed.Etcd.Answers[0].Alarms = []plan.Alarm{{Kind: plan.AlarmNoSpace, Member: 2}}
	in.Cluster.Status = compute(in)
	if got := reason(t, in.Cluster.Status, v1beta2.ConditionAvailable, metav1.ConditionTrue); got != v1beta2.ReasonHasQuorum {
		t.Errorf("by the word of one: %s", got)
	}
	alarmed(&in, plan.AlarmNoSpace)
	began := in.Observed.Now.Add(time.Minute)
	var first *metav1.Condition
	for minute, inUse := range []int64{quota / 2, quota/2 - 1000, quota/2 - 2000} {
		in.Observed.Now = began.Add(time.Duration(minute) * time.Minute)
		in.Observed.Etcd.Answers[1].DBSize, in.Observed.Etcd.Answers[1].DBSizeInUse, in.Observed.Etcd.Answers[1].Quota = quota, inUse, quota
		in.Cluster.Status = compute(in)
		now := meta.FindStatusCondition(in.Cluster.Status.Conditions, v1beta2.ConditionAvailable)
		if first == nil {
			first = now.DeepCopy()
		}
		if *now != *first || !now.LastTransitionTime.Time.Equal(began) {
			t.Errorf("after %d minutes: %+v, want %+v", minute, now, first)
		}
	}
}
