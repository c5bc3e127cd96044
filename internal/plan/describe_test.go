package plan

import (
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

func TestDescribeEveryAction(t *testing.T) {
	for _, a := range []Action{
		CommitVoters{[]string{"c-0"}},
		CommitTransport{member.Transport{ClientBoth: true}},
		UpdatePeerURL{1, "c-0", "https://c-0:2382"},
		Idle{Reason: "R"},
		Wait{Reason: "R"},
		Blocked{Reason: "R"},
		CommitBootstrap{},
		CancelRestore{Why: failure.Problem{Reason: "R"}},
		ContinueRestore{Why: failure.Problem{Reason: "R"}},
		RecordClusterID{},
		Adopt{},
		CreateVolumes{},
		CreatePods{},
		WritePermits{},
		AddToService{},
		AddLearner{},
		Promote{},
		MoveLeader{},
		RemoveMember{Why: "R"},
		DeletePod{Why: "R"},
		DeleteVolume{Why: "R"},
		MarkQuarantined{},
		SetBudget{},
	} {
		if d := Describe(a); d.Action == "" || d.Reason == "" {
			t.Errorf("Describe(%T) = %+v, want an action and a reason", a, d)
		}
	}
}

// TestDescribeAttempt: who reads that a volume is deleted is told that nobody has written to it.
func TestDescribeAttempt(t *testing.T) {
	for why, want := range map[string]bool{v1beta2.ReasonClearingAttempt: true, v1beta2.ReasonRestored: false} {
		for _, a := range []Action{DeletePod{Name: "c-3", Why: why}, DeleteVolume{Name: "c-3", Why: why}} {
			_, volume := a.(DeleteVolume)
			if d := Describe(a); d.Reason != why || strings.Contains(d.Message, "abandoned attempt at a restore") != want ||
				strings.Contains(d.Message, "etcd was never permitted to start on it") != (want && volume) {
				t.Errorf("%#v is described as %+v", a, d)
			}
		}
	}
}

// TestDescribeKept: who is left with volumes is told which, and what to do with them.
func TestDescribeKept(t *testing.T) {
	idle := edit(healthyCluster(3, true), func(o *Observed) {
		o.Cluster.KeptUIDs, o.Volumes = []string{"v8", "v9"}, append(o.Volumes, Volume{Name: "c-9", UID: "v9"}, Volume{Name: "c-8", UID: "v8"})
	})
	unsaved := edit(idle, func(o *Observed) { o.Cluster.Unsaved = true })
	for _, c := range []struct {
		action Action
		warns  bool
	}{
		{RecordClusterID{KeptVolumes: []string{"c-8", "c-9"}}, false},
		{RecordClusterID{KeptVolumes: []string{"c-8", "c-9"}, Unsaved: true}, true},
		{Next(idle), false},
		{Next(unsaved), true},
	} {
		d := Describe(c.action)
		if !strings.Contains(d.Message, "kubectl delete pvc c-8 c-9") || strings.Contains(d.Message, "may not hold all of it") != c.warns {
			t.Errorf("%#v is described as %+v", c.action, d)
		}
	}
}
