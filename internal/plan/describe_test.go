package plan

import (
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/failure"
)

func TestDescribeEveryAction(t *testing.T) {
	for _, a := range []Action{
		CommitVoters{[]string{"c-0"}},
		Idle{Reason: "R"},
		Wait{Reason: "R"},
		Blocked{Reason: "R"},
		CommitBootstrap{},
		CallOff{Why: failure.Problem{Reason: "R"}},
		ContinueRestore{Why: failure.Problem{Reason: "R"}},
		Latch{},
		Adopt{},
		CreateVolumes{},
		CreatePods{},
		WritePermits{},
		Serve{},
		AddLearner{},
		Promote{},
		MoveLeader{},
		RemoveMember{Why: "R"},
		DeletePod{Why: "R"},
		DeleteVolume{Why: "R"},
		SetBudget{},
	} {
		if d := Describe(a); d.Action == "" || d.Reason == "" {
			t.Errorf("Describe(%T) = %+v, want an action and a reason", a, d)
		}
	}
}
