package member

import "testing"

// TestAdmit has every combination of what is there, what is permitted, for whom, and what has been used up.
func TestAdmit(t *testing.T) {
	const pod, used = "pod", 2
	data := map[string]*Identity{
		"nothing": nil, "ours": {1, 2}, "another member's": {1, 3}, "another cluster's": {4, 2},
	}
	type refusal struct {
		reason  string
		attempt int
	}
	cases := 0
	for what, found := range data {
		for _, mode := range []Mode{ModeNew, ModeJoin, ModeResume} {
			for _, podUID := range []string{pod, "another"} {
				for n := range 6 {
					cases++
					attempt, started := used-1+n%3, n >= 3
					got, refused := Admit(Situation{Data: found, PodUID: pod, Used: used, Started: started, Permit: &Permit{
						Mode: mode, ClusterID: 1, MemberID: 2, InitialCluster: "a=b", Token: "t", PodUID: podUID, Attempt: attempt,
					}})
					var want Start
					var why refusal
					switch {
					case what == "ours":
						want = Start{State: StateExisting}
					case what != "nothing":
						why.reason = ForeignData
					case mode == ModeResume || podUID != pod:
						why.reason = DataLost
					case attempt <= used:
						why = refusal{DataLost, attempt}
					case started:
						why.reason = DataLost
					case mode == ModeNew:
						want = Start{State: StateNew, InitialCluster: "a=b", Token: "t"}
					default:
						want = Start{State: StateExisting, InitialCluster: "a=b", Token: "t"}
					}
					var given refusal
					if refused != nil {
						given = refusal{refused.Reason, refused.Attempt}
					}
					if got != want || given != why {
						t.Errorf("%s, mode %s for pod %s, attempt %d, started %t: %+v, %v; want %+v, %v",
							what, mode, podUID, attempt, started, got, refused, want, why)
					}
				}
			}
		}
	}
	if cases != 4*3*2*6 {
		t.Errorf("%d cases", cases)
	}
}

func TestAdmitUnknownMode(t *testing.T) {
	_, refused := Admit(Situation{PodUID: "p", Permit: &Permit{Mode: "force", PodUID: "p", Attempt: 1}})
	if refused == nil || refused.Reason != BadConfig {
		t.Errorf("refusal %v, want %s", refused, BadConfig)
	}
}
