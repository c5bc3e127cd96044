package status

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// allAnswer is threeMembers with m-2 up, and the plan idle.
func allAnswer() Input {
	in := threeMembers()
	last := in.Observed.Etcd.Answers[1]
	last.Pod, last.PodUID, last.MemberID = "m-2", "m-2", 3
	in.Observed.Etcd.Answers = append(in.Observed.Etcd.Answers, last)
	in.Action = plan.Idle{Reason: v1beta2.ReasonSpecReached}
	return in
}

func TestDegradedTellsOf(t *testing.T) {
	const refusal = "spec.services: nodePort 1 is not in the valid range"
	disks := func(in Input, disks ...plan.Disk) Input {
		in.Observed.Etcd.Disks = disks
		return in
	}
	bad := func(in Input, text string) Input {
		in.Rejected = &failure.Problem{Reason: v1beta2.ReasonInvalidService, Message: text}
		return in
	}
	for name, c := range map[string]struct {
		in      Input
		holds   metav1.ConditionStatus
		reason  string
		message string
	}{
		"nothing": {allAnswer(), metav1.ConditionFalse, v1beta2.ReasonAsExpected, "all 3 voters are healthy"},
		"a Service that is refused": {
			bad(allAnswer(), refusal), metav1.ConditionTrue, v1beta2.ReasonInvalidService, refusal,
		},
		"a Service that is refused, once, when that is also the reason of the pass": {
			func() Input {
				in := bad(allAnswer(), refusal)
				in.Action = plan.Blocked{Reason: v1beta2.ReasonInvalidService, Message: refusal}
				return in
			}(), metav1.ConditionTrue, v1beta2.ReasonInvalidService, refusal,
		},
		"a Service that is refused, and a member that is down": {
			bad(threeMembers(), refusal), metav1.ConditionTrue, v1beta2.ReasonMemberDown, "member m-2 is not healthy: etcd does not answer; check its log: kubectl logs m-2 -c etcd; " + refusal,
		},
		"a disk that hangs, whatever its member says of itself": {
			disks(allAnswer(), plan.Disk{Pod: "m-2", PodUID: "m-2", Stalled: time.Minute}),
			metav1.ConditionTrue, v1beta2.ReasonMemberDown, "member m-2 is not healthy: its disk hangs: reads and writes do not complete",
		},
		"a leader with a slow disk": {
			disks(allAnswer(), plan.Disk{Pod: "m-1", PodUID: "m-1", Watched: time.Minute, FlushTime: time.Second}),
			metav1.ConditionTrue, v1beta2.ReasonDiskSlow, "the disk of leader m-1 is slow: an fsync takes more than 100ms",
		},
		"a member that is far behind": {
			func() Input {
				in := allAnswer()
				in.Observed.Etcd.Answers[0].Behind = time.Minute
				return in
			}(), metav1.ConditionTrue, v1beta2.ReasonMemberBehind, "m-0: more than 1000 raft entries behind the others, at every look for 30s and longer",
		},
		"no follower with a slow disk": {
			disks(allAnswer(), plan.Disk{Pod: "m-0", PodUID: "m-0", Watched: time.Minute, FlushTime: time.Second}),
			metav1.ConditionFalse, v1beta2.ReasonAsExpected, "all 3 voters are healthy",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := compute(c.in)
			got := meta.FindStatusCondition(s.Conditions, v1beta2.ConditionDegraded)
			if got == nil || got.Status != c.holds || got.Reason != c.reason || got.Message != c.message {
				t.Errorf("Degraded is %+v, want %s, %s: %s", got, c.holds, c.reason, c.message)
			}
			if hangs := strings.Contains(c.message, "not healthy"); hangs == s.MemberStatuses[2].Ready {
				t.Errorf("m-2: %+v", s.MemberStatuses[2])
			}
		})
	}
}

// TestRanBefore is kept through a pause, of which the old status does not survive, until this operator has started something.
func TestRanBefore(t *testing.T) {
	in := Input{Cluster: &v1beta2.EtcdCluster{}, Action: plan.Idle{Reason: v1beta2.ReasonPaused}}
	in.Cluster.Status.RanBefore = true
	if s := compute(in); !s.RanBefore {
		t.Error("it is forgotten")
	}
	in.Cluster.Status.Bootstrap = &v1beta2.BootstrapStatus{Incarnation: 1, Restore: "r"}
	if s := compute(in); s.RanBefore {
		t.Error("it is kept beside a cluster of this operator's own")
	}
}
