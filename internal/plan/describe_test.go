package plan

import (
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
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

// TestDescribeAttempt: who reads that a volume is deleted is told that it is none of a member's.
func TestDescribeAttempt(t *testing.T) {
	for why, want := range map[string]bool{v1beta2.ReasonClearingAttempt: true, v1beta2.ReasonRestored: false} {
		for _, a := range []Action{DeletePod{Name: "c-3", Why: why}, DeleteVolume{Name: "c-3", Why: why}} {
			if d := Describe(a); d.Reason != why || strings.Contains(d.Message, "no client has ever reached it") != want {
				t.Errorf("%#v is described as %+v", a, d)
			}
		}
	}
}
