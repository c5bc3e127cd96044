package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// nodeMutants are mistakes about pods that are deleted, and about where pods can run.
var nodeMutants = map[string]mutant{
	"a member whose sidecar fails is recreated unheard": {
		next: sidecarForgotten, want: "U", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{template(1)}, running: true, only: world.SidecarFaults, lockstep: true, faults: 2},
	},
	"a member whose etcd ends in its grace period is taken for lost": {
		next: buryEarly, want: "S2", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{template(1)}, running: true, lockstep: true},
	},
	"a pod that has ended and lingers is waited for": {
		next: waitForEnded, want: "L2", persistent: true,
		scenario: scenario{sizes: []int{3}, running: true, silent: true, only: world.LingerFaults, lockstep: true, faults: 2},
	},
	"a candidate whose claim is bound to a node that is gone is waited for": {
		next: keepCandidate, want: "L2", persistent: true,
		scenario: scenario{sizes: []int{1, 3}, running: true, local: true, razed: true, only: world.PlacementFaults, lockstep: true, faults: 1},
	},
	"a restore waits for a node that is gone": {
		next: keepCandidate, want: "L2", persistent: true,
		scenario: scenario{
			sizes: []int{1}, edits: []edit{snapshot(1)}, running: true, local: true, razed: true, only: world.PlacementFaults, lockstep: true, faults: 1,
		},
	},
	"a first start leaves data behind on a node that is gone for a while": {
		next: restartElsewhere, want: "S3", persistent: true,
		scenario: scenario{sizes: []int{1}, local: true, only: world.PlacementFaults, lockstep: true, faults: 1},
	},
	"a member is given up as soon as its node is gone": {
		next: giveUpUnscheduled, want: "S2", persistent: true,
		scenario: scenario{sizes: []int{3}, running: true, local: true, only: world.PlacementFaults, lockstep: true, faults: 2},
	},
	"a pod that no node can take is created again and again": {
		next: recreateUnscheduled, want: "L1", persistent: true,
		scenario: scenario{sizes: []int{1}, running: true, local: true, razed: true, only: world.PlacementFaults, lockstep: true, faults: 1},
	},
}

func buryEarly(o plan.Observed) plan.Action {
	for _, p := range o.Pods {
		m, ok := listedVoter(o, p.Name)
		if ok && p.Deleting && !slices.ContainsFunc(o.Etcd.Answers, func(a plan.Answer) bool { return a.Pod == p.Name }) {
			return plan.RemoveMember{ID: m.ID, Name: m.Name}
		}
	}
	return plan.Next(o)
}

func waitForEnded(o plan.Observed) plan.Action {
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		if p := &o.Pods[i]; p.Phase == plan.Finished {
			p.Deadline = o.Now.Add(time.Minute)
		}
	}
	return plan.Next(o)
}

// withoutAffinity hides that a pod's volume is on a node that is gone.
func withoutAffinity(o plan.Observed) plan.Observed {
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		if p := &o.Pods[i]; p.StartProblem != "" {
			p.StartProblem = "cannot be scheduled"
		}
	}
	return o
}

func keepCandidate(o plan.Observed) plan.Action { return plan.Next(withoutAffinity(o)) }

// restartElsewhere takes a volume that is bound to a node which is gone for one that was never used.
func restartElsewhere(o plan.Observed) plan.Action {
	if o.Cluster.ID != 0 {
		return plan.Next(o)
	}
	o.Volumes = slices.Clone(o.Volumes)
	for i := range o.Volumes {
		if p, ok := podOf(o, o.Volumes[i].Name); ok && p.StartProblem != "" {
			o.Volumes[i].MemberID = 0
		}
	}
	return plan.Next(o)
}

// giveUpUnscheduled removes members as soon as their nodes are gone.
func giveUpUnscheduled(o plan.Observed) plan.Action {
	for _, p := range o.Pods {
		m, ok := listedVoter(o, p.Name)
		if ok && p.Phase == plan.Pending && p.StartProblem != "" && len(o.Etcd.Members) <= o.Cluster.Size {
			return plan.RemoveMember{ID: m.ID, Name: m.Name}
		}
	}
	return plan.Next(o)
}

// recreateUnscheduled deletes a pod that no node can take, and creates it anew.
func recreateUnscheduled(o plan.Observed) plan.Action {
	for _, p := range o.Pods {
		if p.Phase == plan.Pending && !p.Deleting && p.StartProblem != "" && o.Now.Sub(p.Created) > time.Minute {
			return plan.DeletePod{Name: p.Name, UID: p.UID}
		}
	}
	return plan.Next(o)
}

// sidecarForgotten takes a container beside etcd that does not start for an etcd that does not.
func sidecarForgotten(o plan.Observed) plan.Action {
	if o.Etcd.Contact == plan.ContactNone {
		o.Pods = slices.Clone(o.Pods)
		for i := range o.Pods {
			o.Pods[i].SidecarNotReady = false
		}
	}
	return plan.Next(o)
}

// TestServesOnItsData shows what it is for that a member that serves clients loses its permit to start without data.
func TestServesOnItsData(t *testing.T) {
	s := scenario{sizes: []int{1}, running: true, only: world.ReplacedDisks, asks: true, lockstep: true, faults: 1}.with(false, false, plan.Next)
	s.KeepPermits, s.SafetyOnly, s.Limit = true, true, 200_000
	if r := world.Explore(s); r.Violation == nil || !strings.HasPrefix(r.Violation.Why, "S4") {
		t.Errorf("an operator that keeps the first permit was not found out: %v\n%v", r, r.Violation)
	}
}
