package plan

import "testing"

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
