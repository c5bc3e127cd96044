package plan_test

import (
	"slices"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// updateMutants are mistakes of updates.
var updateMutants = map[string]struct {
	next       world.Planner
	scenario   scenario
	persistent bool
	want       string
}{
	"an update goes on while a member is down": {
		next: impatient, want: "U: ", persistent: true,
		scenario: scenario{sizes: []int{5}, version: "3.6.15", edits: []edit{version("3.6.16")}},
	},
	"the leader is restarted before it hands over": {
		next: leaderStays, want: "U: ", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{template(1)}},
	},
	"members go down before etcd does": {
		next: noDowngrade, want: "U: ", persistent: true,
		scenario: scenario{sizes: []int{3}, version: "3.7.3", edits: []edit{version("3.6.16")}},
	},
	"one of two voters is restarted": {
		next: restartOneOfTwo, want: "S1", persistent: true,
		scenario: scenario{sizes: []int{2}, edits: []edit{template(1)}},
	},
	"members are never replaced": {
		next: neverReplace, want: "L1",
		scenario: scenario{sizes: []int{3}, edits: []edit{template(1)}},
	},
	"a repair spreads what an update has not": {
		next: spreading, want: "L1", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{template(-1)}, faults: 1},
	},
	"going back needs a quorum": {
		next: quorumFirst, want: "L", persistent: true,
		scenario: scenario{sizes: []int{3}, version: "3.6.15", edits: []edit{version(badPatch), version("3.6.15")}, faults: 1},
	},
	"images are never fetched": {
		next: neverPull, want: "L2",
		scenario: scenario{sizes: []int{3}, version: "3.6.15", edits: []edit{version("3.6.16")}},
	},
}

func TestUpdateMutants(t *testing.T) {
	for title, m := range updateMutants {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			m.scenario.running, m.scenario.lockstep = true, true
			s := m.scenario.with(m.persistent, false, m.next)
			s.Limit, s.SafetyOnly = 200_000, !strings.HasPrefix(m.want, "L")
			if r := world.Explore(s); r.Violation == nil || !strings.HasPrefix(r.Violation.Why, m.want) {
				t.Errorf("the mutant was not found: %v\n%v", r, r.Violation)
			}
		})
	}
}

// impatient takes every listed pod for one that is up.
func impatient(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if _, waits := a.(plan.Wait); !waits || o.Etcd.Contact != plan.ContactQuorum {
		return a
	}
	for _, p := range o.Pods {
		if m, ok := listedVoter(o, p.Name); ok && p.Version != o.Cluster.Version && m.ID != o.Etcd.Answers[0].Leader {
			return plan.SetImage{Name: p.Name, UID: p.UID, Version: o.Cluster.Version}
		}
	}
	return a
}

func leaderStays(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if move, ok := a.(plan.MoveLeader); ok {
		for _, m := range o.Etcd.Members {
			if p, there := podOf(o, m.Name); there && m.ID == move.From {
				return plan.Recreate{Name: p.Name, UID: p.UID, Version: p.Version}
			}
		}
	}
	return a
}

func noDowngrade(o plan.Observed) plan.Action {
	o.Etcd.Answers = slices.Clone(o.Etcd.Answers)
	for i := range o.Etcd.Answers {
		o.Etcd.Answers[i].Storage, o.Etcd.Answers[i].Downgrade = "3.6", "3.6"
	}
	return plan.Next(o)
}

func restartOneOfTwo(o plan.Observed) plan.Action {
	for _, p := range o.Pods {
		m, ok := listedVoter(o, p.Name)
		if ok && p.Drift.Template && len(o.Etcd.Members) == 2 && m.ID != o.Etcd.Answers[0].Leader {
			return plan.Recreate{Name: p.Name, UID: p.UID, Version: p.Version}
		}
	}
	return plan.Next(o)
}

func neverReplace(o plan.Observed) plan.Action {
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		o.Pods[i].Drift.Template = false
	}
	return plan.Next(o)
}

func spreading(o plan.Observed) plan.Action {
	o.Volumes = slices.Clone(o.Volumes)
	for i := range o.Volumes {
		o.Volumes[i].FromPreviousSpec = false
	}
	return plan.Next(o)
}

func quorumFirst(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if _, ok := a.(plan.SetImage); ok && o.Etcd.Contact != plan.ContactQuorum {
		return plan.Wait{Reason: v1beta2.ReasonQuorumLost}
	}
	return a
}

func neverPull(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if _, ok := a.(plan.PrepullImages); ok {
		return plan.Wait{Reason: "PullingImage"}
	}
	return a
}
