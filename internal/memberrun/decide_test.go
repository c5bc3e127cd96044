package memberrun

import (
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// TestDecide has every combination of what is there, what is permitted, for whom, and what has been used up.
func TestDecide(t *testing.T) {
	const pod, used = "pod", 2
	data := map[string]*identity{
		"nothing": nil, "ours": {1, 2}, "another member's": {1, 3}, "another cluster's": {4, 2},
	}
	type refusal struct {
		reason  string
		attempt int
	}
	cases := 0
	for what, found := range data {
		for _, mode := range []member.Mode{member.ModeNew, member.ModeJoin, member.ModeResume} {
			for _, podUID := range []string{pod, "another"} {
				for attempt := used - 1; attempt <= used+1; attempt++ {
					cases++
					got, refused := decide(situation{data: found, podUID: pod, used: used, permit: &member.Permit{
						Mode: mode, ClusterID: 1, MemberID: 2, InitialCluster: "a=b", Token: "t", PodUID: podUID, Attempt: attempt,
					}})
					var want member.Start
					var why refusal
					switch {
					case what == "ours":
						want = member.Start{State: member.StateExisting}
					case what != "nothing":
						why.reason = member.ForeignData
					case mode == member.ModeResume || podUID != pod:
						why.reason = member.DataLost
					case attempt <= used:
						why = refusal{member.DataLost, attempt}
					case mode == member.ModeNew:
						want = member.Start{State: member.StateNew, InitialCluster: "a=b", Token: "t"}
					default:
						want = member.Start{State: member.StateExisting, InitialCluster: "a=b", Token: "t"}
					}
					var given refusal
					if refused != nil {
						given = refusal{refused.Reason, refused.Attempt}
					}
					if got != want || given != why {
						t.Errorf("%s, mode %s for pod %s, attempt %d: %+v, %v; want %+v, %v",
							what, mode, podUID, attempt, got, refused, want, why)
					}
				}
			}
		}
	}
	if cases != 4*3*2*3 {
		t.Errorf("%d cases", cases)
	}
}

func TestDecideUnknownMode(t *testing.T) {
	_, refused := decide(situation{podUID: "p", permit: &member.Permit{Mode: "force", PodUID: "p", Attempt: 1}})
	if refused == nil || refused.Reason != member.BadConfig {
		t.Errorf("refusal %v, want %s", refused, member.BadConfig)
	}
}
