package plan_test

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// sleeping are clusters that hibernate, and wake up again.
var sleeping = map[string]scenario{
	"hibernates, of 1":             {sizes: []int{1}, edits: []edit{hibernated, awake}, sleeps: true, faults: 1, full: 2},
	"hibernates, of 3":             {sizes: []int{3}, edits: []edit{hibernated, awake}, sleeps: true, faults: 1, full: 2},
	"hibernates while it grows":    {sizes: []int{1, 3}, edits: []edit{hibernated, awake}, sleeps: true, full: 1},
	"hibernates while it shrinks":  {sizes: []int{3, 1}, edits: []edit{hibernated, awake}, sleeps: true, full: 1},
	"hibernates again as it wakes": {sizes: []int{3}, edits: []edit{hibernated, awake, hibernated, awake}, sleeps: true, full: 1},
	"hibernates in a roll":         {sizes: []int{3}, edits: []edit{template(1), hibernated, template(2), awake}, sleeps: true, full: 1},
	"hibernates in a bad update":   {sizes: []int{3}, edits: []edit{template(-1), hibernated, template(0)}, sleeps: true, full: 1},
	"hibernates, and is restored":  {sizes: []int{1}, edits: []edit{hibernated, snapshot(1), awake}, sleeps: true, faults: 1, full: 1},
	"restore called off in hibernation": {
		sizes: []int{1}, edits: []edit{hibernated, snapshot(1), off(1), awake}, sleeps: true, full: 1,
	},
	"hibernates, and status is lost": {
		sizes: []int{3}, edits: []edit{hibernated, awake}, sleeps: true, only: slices.Concat(world.StatusFaults, stops),
		faults: 1, full: 2,
	},
}

// sleepMutants stop all members carelessly.
var sleepMutants = map[string]mutant{
	"a cluster hibernates that nobody wants to": {
		next: sleepUnasked, want: "H: all members are to be stopped, and nobody has asked", persistent: true,
		scenario: scenario{sizes: []int{3}, running: true, sleeps: true, lockstep: true},
	},
	"a cluster hibernates while a learner joins": {
		next: sleepWhileOneJoins, want: "H: all members are to be stopped while", persistent: true,
		scenario: scenario{sizes: []int{1, 3}, edits: []edit{hibernated}, running: true, sleeps: true, lockstep: true},
	},
	"a cluster hibernates on emptyDirs": {
		next: sleepAtOnce, want: "H: all members are to be stopped, and c-0 has no volume",
		scenario: scenario{sizes: []int{3}, edits: []edit{hibernated}, running: true, lockstep: true},
	},
	"members that are stopped on purpose are taken for lost": {
		next: forgetSleep, want: "H: a pod is created while", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{hibernated}, running: true, sleeps: true, lockstep: true},
	},
	"a member is stopped whose claim is deleted": {
		next: stopAnyway, want: "H: c-", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{hibernated}, running: true, sleeps: true, lockstep: true, faults: 1},
	},
	"a cluster never wakes up": {
		next: sleepOn, want: "L1", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{hibernated, awake}, running: true, sleeps: true, lockstep: true},
	},
}

func sleepUnasked(o plan.Observed) plan.Action {
	o.Cluster.Hibernate = true
	return plan.Next(o)
}

func sleepAtOnce(o plan.Observed) plan.Action {
	if o.Cluster.Hibernate && o.Cluster.Hibernation == plan.Awake && o.Etcd.Contact == plan.ContactQuorum {
		return plan.CommitHibernation{Hibernation: plan.Hibernated}
	}
	return plan.Next(o)
}

// sleepWhileOneJoins waits for a learner, to make the mistake.
func sleepWhileOneJoins(o plan.Observed) plan.Action {
	if !slices.ContainsFunc(o.Etcd.Members, func(m plan.Member) bool { return m.Learner }) {
		return plan.Next(o)
	}
	return sleepAtOnce(o)
}

// stopAnyway does not look whose data would end with a pod.
func stopAnyway(o plan.Observed) plan.Action {
	for i := range o.Volumes {
		o.Volumes[i].Deleting = o.Volumes[i].Deleting && o.Cluster.Hibernation != plan.Hibernated
	}
	return plan.Next(o)
}

func forgetSleep(o plan.Observed) plan.Action {
	if o.Cluster.Hibernation == plan.Hibernated && len(o.Pods) == 0 {
		o.Cluster.Hibernation = plan.Awake
	}
	return plan.Next(o)
}

func sleepOn(o plan.Observed) plan.Action {
	if o.Cluster.Hibernation == plan.Hibernated {
		o.Cluster.Hibernate = true
	}
	return plan.Next(o)
}
