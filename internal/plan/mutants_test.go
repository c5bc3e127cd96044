package plan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// mutant is a planner with a mistake, and where that is to be found.
type mutant struct {
	next       world.Planner
	scenario   scenario
	persistent bool
	want       string // how the violation begins
}

// mutants are planners with one mistake each, of the kind that operators have made. The exploration is worth something
// only as long as it finds every one of them.
var mutants = map[string]mutant{
	"a lost member is recreated under its old ID": {
		next: recreateLost, want: "S4",
		scenario: scenario{sizes: []int{3}, running: true, lockstep: true, faults: 1},
	},
	"permits go by name, not by seat": {
		next: seatsByName, want: "S4",
		scenario: scenario{sizes: []int{3}, lockstep: true, faults: 1},
	},
	"the bootstrap is not written down before its effects": {
		next: newPlanWhenAPodIsGone, want: "S3",
		scenario: scenario{sizes: []int{3}, lockstep: true, faults: 1},
	},
	"the first start is repeated after the cluster ID was recorded": {
		next: startAgain, want: "S3",
		scenario: scenario{sizes: []int{1}, running: true, faults: 1},
	},
	"a voter is removed while an eviction is in flight": {
		next: budgetForgotten, want: "S1",
		scenario: scenario{sizes: []int{3, 2}, running: true, lockstep: true, faults: 1},
	},
	"voters are restarted without regard to who is up": {
		next: restartTheLeader, want: "S1", persistent: true,
		scenario: scenario{sizes: []int{3}, running: true, lockstep: true, faults: 1},
	},
	"volumes are deleted without a quorum": {
		next: deleteVolumes, want: "S2", persistent: true,
		scenario: scenario{sizes: []int{3}, running: true, lockstep: true, faults: 2},
	},
	"whatever keeps a member from starting is taken for a loss": {
		next: pessimist, want: "S2", persistent: true,
		scenario: scenario{sizes: []int{3}, running: true, lockstep: true, faults: 2},
	},
	"a volume on its way out is used": {
		next: anyVolume, want: "S5", persistent: true,
		scenario: scenario{sizes: []int{3}, running: true, lockstep: true, faults: 2},
	},
	"a foreign cluster is acted on": {
		next: credulous, want: "S6",
		scenario: scenario{
			sizes: []int{3}, running: true, lockstep: true, faults: 2, kinds: world.StrangeFaults,
		},
	},
	"learners are never promoted": {
		next: neverPromote, want: "L2", scenario: scenario{sizes: []int{1, 3}, running: true, lockstep: true},
	},
	"a member whose pod is gone is waited for": {
		next: waitForLost, want: "L2",
		scenario: scenario{sizes: []int{3}, running: true, lockstep: true, faults: 1},
	},
	"claims are the cluster's that have its labels": {
		next: anybodysClaim, want: "S2", persistent: true,
		scenario: scenario{sizes: []int{3}, running: true, claims: true, lockstep: true},
	},
	"the budget is closed and opened in turn": {
		next: restless, want: "L1", scenario: scenario{sizes: []int{3}, running: true, lockstep: true},
	},
}

func TestMutants(t *testing.T) {
	all := maps.Clone(mutants)
	maps.Copy(all, restoreMutants)
	maps.Copy(all, startMutants)
	maps.Copy(all, refusalMutants)
	maps.Copy(all, nodeMutants)
	maps.Copy(all, upkeepMutants)
	maps.Copy(all, recoveryMutants)
	maps.Copy(all, differingMutants)
	maps.Copy(all, growingMutants)
	maps.Copy(all, sleepMutants)
	maps.Copy(all, followingMutants)
	maps.Copy(all, relocatingMutants)
	maps.Copy(all, resizingMutants)
	maps.Copy(all, autopilotMutants)
	for title, m := range all {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := m.scenario.with(m.persistent, false, m.next)
			s.Limit, s.SafetyOnly = 200_000, strings.HasPrefix(m.want, "S")
			r := world.Explore(s)
			if r.Violation == nil || !strings.HasPrefix(r.Violation.Why, m.want) {
				t.Errorf("the mutant was not found: %v\n%v", r, r.Violation)
			}
		})
	}
}

// TestLiveReads shows what the second plan, on live reads, is for.
func TestLiveReads(t *testing.T) {
	s := scenario{sizes: []int{3, 2}, running: true, lockstep: true, faults: 2}.with(false, false, plan.Next)
	s.TrustCache, s.SafetyOnly, s.Limit = true, true, 200_000
	if r := world.Explore(s); r.Violation == nil || !strings.HasPrefix(r.Violation.Why, "S") {
		t.Errorf("an operator that acts on its cache was not found out: %v\n%v", r, r.Violation)
	}
}

// listedVoter finds the voter of that name.
func listedVoter(o plan.Observed, name string) (plan.Member, bool) {
	i := slices.IndexFunc(o.Etcd.Members, func(m plan.Member) bool { return m.Name == name && !m.Learner })
	if i < 0 {
		return plan.Member{}, false
	}
	return o.Etcd.Members[i], true
}

func podOf(o plan.Observed, name string) (plan.Pod, bool) {
	i := slices.IndexFunc(o.Pods, func(p plan.Pod) bool { return p.Name == name })
	if i < 0 {
		return plan.Pod{}, false
	}
	return o.Pods[i], true
}

func recreateLost(o plan.Observed) plan.Action {
	for _, p := range o.Pods {
		if m, ok := listedVoter(o, p.Name); ok && p.Permit == nil && p.IP != "" {
			var initial []string
			for _, m := range o.Etcd.Members {
				initial = append(initial, m.Name+"="+m.PeerURL)
			}
			return plan.WritePermits{Permits: []plan.PodPermit{{Pod: p.Name, UID: p.UID, Permit: member.Permit{
				Mode: member.ModeJoin, ClusterID: member.ID(o.Etcd.ClusterID), MemberID: member.ID(m.ID), PodUID: p.UID, Attempt: 1,
				InitialCluster: strings.Join(initial, ","),
			}}}}
		}
	}
	a := plan.Next(o)
	if lost, ok := a.(plan.RemoveMember); ok {
		if _, there := podOf(o, lost.Name); !there {
			return plan.CreatePods{Pods: []plan.NewPod{{Name: lost.Name, Incarnation: 1, Version: o.Cluster.Version}}}
		}
	}
	return a
}

func seatsByName(o plan.Observed) plan.Action {
	if b := o.Cluster.Bootstrap; b != nil && len(b.InitialPods) > 0 {
		byName := *b
		byName.InitialPods = nil
		for _, s := range b.InitialPods {
			if p, ok := podOf(o, s.Name); ok {
				s.PodUID = p.UID
			}
			byName.InitialPods = append(byName.InitialPods, s)
		}
		o.Cluster.Bootstrap = &byName
		if len(o.Pods) < len(b.Members) && o.Cluster.ID == 0 {
			return plan.CreatePods{Pods: []plan.NewPod{{
				Name: missing(o, b.Members), Incarnation: b.Incarnation, Version: o.Cluster.Version,
			}}}
		}
	}
	return plan.Next(o)
}

func missing(o plan.Observed, names []string) string {
	for _, name := range names {
		if _, ok := podOf(o, name); !ok {
			return name
		}
	}
	return ""
}

func newPlanWhenAPodIsGone(o plan.Observed) plan.Action {
	if b := o.Cluster.Bootstrap; o.Cluster.ID == 0 && b != nil && len(b.InitialPods) > 0 && len(o.Pods) < len(b.Members) {
		return plan.CommitBootstrap{Bootstrap: plan.Bootstrap{
			Incarnation: b.Incarnation + 1, Token: b.Token + "again", Members: b.Members, ClusterID: b.ClusterID + 1,
		}}
	}
	return plan.Next(o)
}

func startAgain(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if _, blocked := a.(plan.Blocked); blocked {
		o.Cluster.ID, o.Cluster.Bootstrap = 0, nil
		return plan.Next(o)
	}
	return a
}

// budgetForgotten acts where it should close the budget first.
func budgetForgotten(o plan.Observed) plan.Action {
	a := plan.Next(o)
	closing, ok := a.(plan.SetBudget)
	if !ok {
		return a
	}
	o.Budget = plan.Budget{Exists: true, MinAvailable: closing.MinAvailable, Settled: true}
	switch act := plan.Next(o).(type) {
	case plan.RemoveFromService, plan.RemoveMember:
		return act
	default:
		return a
	}
}

// restartTheLeader turns it off and on again as soon as anybody is silent.
func restartTheLeader(o plan.Observed) plan.Action {
	if len(o.Etcd.Answers) < len(o.Etcd.Members) {
		for _, a := range o.Etcd.Answers {
			if a.MemberID == a.Leader {
				return plan.DeletePod{Name: a.Pod, UID: a.PodUID}
			}
		}
	}
	return plan.Next(o)
}

func deleteVolumes(o plan.Observed) plan.Action {
	if o.Etcd.Contact != plan.ContactQuorum && o.Cluster.ID != 0 {
		for _, v := range o.Volumes {
			if _, used := podOf(o, v.Name); !used && !v.Deleting {
				return plan.DeleteVolume{Name: v.Name, UID: v.UID}
			}
		}
	}
	return plan.Next(o)
}

func pessimist(o plan.Observed) plan.Action {
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		if o.Pods[i].Exit != plan.ExitNone {
			o.Pods[i].Exit = plan.ExitDataLost
		}
	}
	return plan.Next(o)
}

func anyVolume(o plan.Observed) plan.Action {
	o.Volumes = slices.Clone(o.Volumes)
	for i := range o.Volumes {
		o.Volumes[i].Deleting, o.Volumes[i].Lost = false, false
	}
	return plan.Next(o)
}

func anybodysClaim(o plan.Observed) plan.Action {
	o.Volumes = slices.Clone(o.Volumes)
	for i := range o.Volumes {
		o.Volumes[i].Owned, o.Volumes[i].Foreign = true, ""
	}
	return plan.Next(o)
}

func credulous(o plan.Observed) plan.Action {
	o.Etcd.Answers = slices.Clone(o.Etcd.Answers)
	for i := range o.Etcd.Answers {
		if o.Cluster.ID != 0 {
			o.Etcd.Answers[i].ClusterID = o.Cluster.ID
		}
	}
	return plan.Next(o)
}

func neverPromote(o plan.Observed) plan.Action {
	o.Etcd.Answers = slices.Clone(o.Etcd.Answers)
	for i := range o.Etcd.Answers {
		if o.Etcd.Answers[i].Learner {
			o.Etcd.Answers[i].Applied = 0
		}
	}
	return plan.Next(o)
}

func waitForLost(o plan.Observed) plan.Action {
	a := plan.Next(o)
	switch a.(type) {
	case plan.RemoveMember, plan.SetBudget:
		return plan.Wait{Reason: "MemberDown"}
	default:
		return a
	}
}
