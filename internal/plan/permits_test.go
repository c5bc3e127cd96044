package plan

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

func TestPermitAgain(t *testing.T) {
	o := withLearner(edit(healthyCluster(3, false), func(o *Observed) { o.Cluster.Size = 4 }), 3)
	first := Next(o).(WritePermits).Permits[0]
	o.Pods[3].Permit, o.Pods[3].PermittedAt = &first.Permit, now
	if got, ok := Next(o).(Wait); !ok {
		t.Errorf("with its permit written the learner is waited for, got %+v", got)
	}
	o.Pods[3].Exit = ExitDataLost
	if got, ok := Next(o).(Wait); !ok {
		t.Errorf("the refusal of an earlier permit says nothing about this one, got %+v", got)
	}
	o.Pods[3].RefusedAttempt = 1
	again, ok := Next(o).(WritePermits)
	if !ok || again.Permits[0].Permit.Attempt != 2 {
		t.Errorf("a permit that was used up without data is followed by another, got %+v", again)
	}
}

// TestInterruptedPermit has an operator end between the mark on a learner's volume and the permit: the pod has never had one, so it needs
// one to join. A pod that was created again on a marked volume may only resume, and is replaced if there is nothing.
func TestInterruptedPermit(t *testing.T) {
	marked := edit(withLearner(edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Size = 4 }), 3), func(o *Observed) {
		o.Volumes[3].ClusterID, o.Volumes[3].MemberID, o.Volumes[3].Version = recordedID, id(3), "3.6.16"
	})
	permits, ok := Next(marked).(WritePermits)
	if !ok || len(permits.Permits) != 1 || permits.Permits[0].Permit.Mode != member.ModeJoin || permits.Permits[0].Permit.Attempt != 1 {
		t.Errorf("without a permit it gets %+v", permits)
	}
	resuming := edit(marked, func(o *Observed) { o.Pods[3].Permit, o.Pods[3].PermittedAt = o.Volumes[3].resumePermit(), now })
	if got := Next(resuming); got.describe().Reason != v1beta2.ReasonWaitingForLearner {
		t.Errorf("one that may resume gets %T %+v", got, got)
	}
	lost := closed(edit(resuming, func(o *Observed) { o.Pods[3].Exit = ExitDataLost }))
	if want := (RemoveMember{ID: id(3), Name: "c-3", Why: v1beta2.ReasonPodLost}); Next(lost) != Action(want) {
		t.Errorf("one that has nothing to resume on gets %+v", Next(lost))
	}
}
