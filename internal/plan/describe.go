package plan

import (
	"fmt"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Description is an action in words: for events, conditions and metrics.
type Description struct {
	// Action is the kind of action, for example "AddLearner".
	Action string
	// Reason is a documented reason and Message a sentence without times or counters that change.
	Reason  string
	Message string
}

// Describe returns what an action does and why.
func Describe(a Action) Description { return a.describe() }

func (a Idle) describe() Description    { return Description{"Idle", a.Reason, a.Message} }
func (a Wait) describe() Description    { return Description{"Wait", a.Reason, a.Message} }
func (a Blocked) describe() Description { return Description{"Blocked", a.Reason, a.Message} }

func (a CommitBootstrap) describe() Description {
	b := a.Bootstrap
	if b.Restore != "" {
		message := fmt.Sprintf("the data is replaced by a snapshot, from which %s starts", list(b.Members))
		if a.UnsavedReason != "" {
			message += "; not all that it held is known to be saved: " + a.UnsavedReason
		}
		return Description{"CommitBootstrap", v1beta2.ReasonRestoring, message}
	}
	message := "first members: " + list(b.Members)
	if b.Incarnation > 1 {
		message = fmt.Sprintf("attempt %d at a first start; %s", b.Incarnation, message)
	}
	if n := len(b.InitialPods); n > 0 {
		message = fmt.Sprintf("%d of %d first members may start", n, len(b.Members))
	}
	return Description{"CommitBootstrap", v1beta2.ReasonBootstrapping, message}
}

func (a CreateRestore) describe() Description {
	return Description{
		"CreateRestore", v1beta2.ReasonWaitingForRestore,
		fmt.Sprintf("creating EtcdRestore %s, as spec.restoreFrom asks", a.Name),
	}
}

func (a CancelRestore) describe() Description {
	left := "nothing had run in the cluster before"
	if a.ClusterID != 0 {
		left = fmt.Sprintf("the cluster resumes on its former data, with cluster ID %016x", a.ClusterID)
	}
	if len(a.KeptVolumes) > 0 {
		left += "; etcd was let start on the snapshot, and what clients may have written there stays: " + deleteMessage(a.KeptVolumes)
	}
	return Description{"CancelRestore", a.Why.Reason, a.Why.Message + "; " + left}
}

func (a ContinueRestore) describe() Description {
	return Description{"ContinueRestore", a.Why.Reason, a.Why.Message}
}

func (a RecordClusterID) describe() Description {
	message := fmt.Sprintf("the cluster is up with cluster ID %016x", a.ClusterID)
	if len(a.KeptVolumes) > 0 {
		message += "; " + keptMessage(a.KeptVolumes, a.Unsaved)
	}
	return Description{"RecordClusterID", v1beta2.ReasonServing, message}
}

// keptMessage says what to do about the volumes that restores keep.
func keptMessage(names []string, unsaved bool) string {
	text := "what restores have replaced stays: " + deleteMessage(names)
	if unsaved {
		text += "; not all of it is known to be saved: look first for what is missing, as docs/backup-and-restore.md says"
	}
	return text
}

// deleteMessage says how to delete volumes that the operator does not delete.
func deleteMessage(names []string) string {
	return fmt.Sprintf("kubectl delete pvc %s, once nobody needs what is there", strings.Join(names, " "))
}

func (a Adopt) describe() Description {
	return Description{
		"Adopt", v1beta2.ReasonAdopting,
		fmt.Sprintf("taking up the volumes of cluster %016x: %s", a.ClusterID, list(a.Volumes)),
	}
}

func (a CommitVoters) describe() Description {
	return Description{"CommitVoters", v1beta2.ReasonScaling, "the voters are to be " + list(a.Voters)}
}

func (a CreateVolumes) describe() Description {
	return Description{"CreateVolumes", v1beta2.ReasonCreating, "creating volumes " + list(a.Names)}
}

func (a CreatePods) describe() Description {
	var names []string
	reason := v1beta2.ReasonCreating
	for _, p := range a.Pods {
		names = append(names, p.Name)
		if p.Permit != nil {
			reason = v1beta2.ReasonRepairing
		}
	}
	return Description{"CreatePods", reason, "creating pods " + list(names)}
}

func (a WritePermits) describe() Description {
	var names []string
	for _, p := range a.Permits {
		names = append(names, p.Pod)
	}
	return Description{"WritePermits", v1beta2.ReasonStarting, "letting etcd start in " + list(names)}
}

func (a AddToService) describe() Description {
	return Description{"AddToService", v1beta2.ReasonServing, "letting clients reach " + list(a.Pods)}
}

func (a RemoveFromService) describe() Description {
	return Description{"RemoveFromService", v1beta2.ReasonScaling, "letting no further client reach " + a.Pod}
}

func (a AddLearner) describe() Description {
	return Description{"AddLearner", v1beta2.ReasonScaling, "adding learner " + a.Name}
}

func (a Promote) describe() Description {
	return Description{"Promote", v1beta2.ReasonScaling, "promoting " + a.Name + " to a voter"}
}

func (a MoveLeader) describe() Description {
	if a.Slow != "" {
		message := fmt.Sprintf("the disk of %s is slow: moving leadership to %016x", a.Slow, a.To)
		return Description{"MoveLeader", v1beta2.ReasonDiskSlow, message}
	}
	return Description{
		"MoveLeader", v1beta2.ReasonScaling, fmt.Sprintf("moving leadership from %016x to %016x", a.From, a.To),
	}
}

func (a RemoveMember) describe() Description {
	return Description{"RemoveMember", a.Why, fmt.Sprintf("removing member %s (%016x)", a.Name, a.ID)}
}

func (a DeletePod) describe() Description {
	message := "deleting pod " + a.Name
	if a.Why == v1beta2.ReasonClearingAttempt {
		message += " of an attempt at a restore that was given up"
	}
	if a.Why == v1beta2.ReasonDiskHangs {
		message += ": its disk does not answer, and the others can do without it"
	}
	return Description{"DeletePod", a.Why, message}
}

func (a DeleteVolume) describe() Description {
	message := "deleting volume " + a.Name
	if a.Why == v1beta2.ReasonClearingAttempt {
		message += " of an attempt at a restore that was given up: etcd was never let start there"
	}
	return Description{"DeleteVolume", a.Why, message}
}

func (a SetMetadata) describe() Description {
	return Description{"SetMetadata", v1beta2.ReasonUpdating, "changing labels and annotations of pod " + a.Name}
}

func (a Resize) describe() Description {
	return Description{"Resize", v1beta2.ReasonUpdating, "resizing pod " + a.Name + " in place"}
}

func (a SetImage) describe() Description {
	return Description{
		"SetImage", v1beta2.ReasonUpdating, fmt.Sprintf("restarting %s in place with etcd %s", a.Name, a.Version),
	}
}

func (a Recreate) describe() Description {
	return Description{
		"Recreate", v1beta2.ReasonUpdating, fmt.Sprintf("making pod %s again on its volume, with etcd %s", a.Name, a.Version),
	}
}

func (a Expand) describe() Description {
	return Description{"Expand", v1beta2.ReasonUpdating, "asking for more storage for " + list(a.Names)}
}

func (a PrepullImages) describe() Description {
	var nodes []string
	for _, p := range a.Images {
		nodes = append(nodes, p.Node)
	}
	return Description{
		"PrepullImages", v1beta2.ReasonPullingImage, fmt.Sprintf("fetching %s to %s", a.Images[0].Image, list(nodes)),
	}
}

func (a DeletePrepullPod) describe() Description {
	return Description{"DeletePrepullPod", v1beta2.ReasonPullingImage, "deleting pod " + a.Name}
}

func (a EnableDowngrade) describe() Description {
	return Description{"EnableDowngrade", v1beta2.ReasonUpdating, "telling etcd to go down to " + a.Version}
}

func (a CancelDowngrade) describe() Description {
	message := "telling etcd not to go down to " + a.Version
	if a.Snapshot {
		message = "every member has written a snapshot; telling etcd to stay at its version"
	}
	return Description{"CancelDowngrade", v1beta2.ReasonUpdating, message}
}

func (a SetBudget) describe() Description {
	return Description{
		"SetBudget", v1beta2.ReasonWaitingForBudget,
		fmt.Sprintf("the PodDisruptionBudget keeps %d members available", a.MinAvailable),
	}
}
