package plan

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Description is an action in words: for events, conditions and metrics.
type Description struct {
	// Action is the kind of action, for example "AddLearner".
	Action string
	// Reason is a documented reason and Message a sentence without times or counters that move.
	Reason  string
	Message string
}

// Describe says what an action does and why.
func Describe(a Action) Description {
	switch act := a.(type) {
	case Idle:
		return Description{"Idle", act.Reason, act.Message}
	case Wait:
		return Description{"Wait", act.Reason, act.Message}
	case Blocked:
		return Description{"Blocked", act.Reason, act.Message}
	case CommitBootstrap, Latch, Adopt:
		return describeStart(a)
	case CreateVolumes, CreatePods, WritePermits, Serve, SetBudget, DeletePod, DeleteVolume:
		return describeObjects(a)
	case AddLearner:
		return Description{"AddLearner", v1beta2.ReasonScaling, "adding learner " + act.Name}
	case Promote:
		return Description{"Promote", v1beta2.ReasonScaling, "promoting " + act.Name + " to a voter"}
	case MoveLeader:
		return Description{
			"MoveLeader", v1beta2.ReasonScaling, fmt.Sprintf("moving leadership from %016x to %016x", act.From, act.To),
		}
	case RemoveMember:
		return Description{
			"RemoveMember", act.Why, fmt.Sprintf("removing member %s (%016x)", act.Name, act.ID),
		}
	}
	panic(fmt.Sprintf("plan: action %T has no description", a))
}

func describeStart(a Action) Description {
	switch act := a.(type) {
	case CommitBootstrap:
		message := "first members: " + list(act.Bootstrap.Members)
		if act.Bootstrap.Incarnation > 1 && len(act.Bootstrap.Seats) == 0 {
			message = fmt.Sprintf("the first members cannot form a quorum any more: attempt %d; %s",
				act.Bootstrap.Incarnation, message)
		}
		if n := len(act.Bootstrap.Seats); n > 0 {
			message = fmt.Sprintf("%d of %d first members may start", n, len(act.Bootstrap.Members))
		}
		return Description{"CommitBootstrap", v1beta2.ReasonBootstrapping, message}
	case Latch:
		return Description{
			"Latch", v1beta2.ReasonRunning, fmt.Sprintf("the cluster is up with cluster ID %016x", act.ClusterID),
		}
	case Adopt:
		return Description{
			"Adopt", v1beta2.ReasonAdopting,
			fmt.Sprintf("taking up the volumes of cluster %016x: %s", act.ClusterID, list(act.Volumes)),
		}
	}
	return Description{}
}

func describeObjects(a Action) Description {
	switch act := a.(type) {
	case CreateVolumes:
		return Description{"CreateVolumes", v1beta2.ReasonCreating, "creating volumes " + list(act.Names)}
	case CreatePods:
		var names []string
		reason := v1beta2.ReasonCreating
		for _, p := range act.Pods {
			names = append(names, p.Name)
			if p.Permit != nil {
				reason = v1beta2.ReasonRepairing
			}
		}
		return Description{"CreatePods", reason, "creating pods " + list(names)}
	case WritePermits:
		var names []string
		for _, p := range act.Permits {
			names = append(names, p.Pod)
		}
		return Description{"WritePermits", v1beta2.ReasonStarting, "letting etcd start in " + list(names)}
	case Serve:
		return Description{"Serve", v1beta2.ReasonRunning, "letting clients reach " + list(act.Pods)}
	case SetBudget:
		return Description{
			"SetBudget", v1beta2.ReasonWaitingForBudget,
			fmt.Sprintf("the PodDisruptionBudget keeps %d members available", act.MinAvailable),
		}
	case DeletePod:
		return Description{"DeletePod", act.Why, "deleting pod " + act.Name}
	case DeleteVolume:
		return Description{"DeleteVolume", act.Why, "deleting volume " + act.Name}
	}
	return Description{}
}
