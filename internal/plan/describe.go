package plan

import (
	"fmt"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/version"
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
		message := fmt.Sprintf("replacing the data with a snapshot, from which %s starts", list(b.Members))
		if a.UnsavedReason != "" {
			message += "; the safety snapshot may not hold all of the replaced data: " + a.UnsavedReason
		}
		return Description{"CommitBootstrap", v1beta2.ReasonRestoring, message}
	}
	message := "initial members: " + list(b.Members)
	if b.Incarnation > 1 {
		message = fmt.Sprintf("bootstrap attempt %d; %s", b.Incarnation, message)
	}
	if n := len(b.InitialPods); n > 0 {
		message = fmt.Sprintf("%d of %d initial members may start", n, len(b.Members))
	}
	return Description{"CommitBootstrap", v1beta2.ReasonBootstrapping, message}
}

func (a CreateRestore) describe() Description {
	if a.Survivor != "" {
		return Description{
			"CreateRestore", v1beta2.ReasonRecoveringQuorum,
			fmt.Sprintf("recovering from the lost quorum with what %s holds, by plan %s: creating EtcdRestore %s", a.Survivor, a.Plan, a.Name),
		}
	}
	return Description{
		"CreateRestore", v1beta2.ReasonWaitingForRestore,
		fmt.Sprintf("creating EtcdRestore %s, as requested by spec.restoreFrom", a.Name),
	}
}

func (a CancelRestore) describe() Description {
	left := "the cluster had not been up before"
	if a.ClusterID != 0 {
		left = fmt.Sprintf("the cluster resumes with its previous data, with cluster ID %016x", a.ClusterID)
	}
	if len(a.KeptVolumes) > 0 {
		left += "; etcd had started from the snapshot, and volumes to which clients may have written are kept: " + deleteMessage(a.KeptVolumes)
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
	text := "volumes with replaced data are kept: " + deleteMessage(names)
	if unsaved {
		text += CompareFirst()
	}
	return text
}

// CompareFirst is what follows where volumes are named that are kept, while the safety snapshot may not hold all of their data.
func CompareFirst() string {
	return "; the safety snapshot may not hold all of it: first compare: " + version.Document("docs/backup-and-restore.md#volumes-that-were-kept")
}

// deleteMessage says how to delete volumes that the operator does not delete.
func deleteMessage(names []string) string {
	return fmt.Sprintf("delete them once their data is no longer needed: kubectl delete pvc %s", strings.Join(names, " "))
}

func (a Adopt) describe() Description {
	return Description{
		"Adopt", v1beta2.ReasonAdopting,
		fmt.Sprintf("adopting the volumes of cluster %016x: %s", a.ClusterID, list(a.Volumes)),
	}
}

func (a CommitVoters) describe() Description {
	return Description{"CommitVoters", v1beta2.ReasonScaling, "committing the next voters to status: " + list(a.Voters)}
}

func (a CommitTransport) describe() Description {
	return Description{"CommitTransport", v1beta2.ReasonSwitchingTransport, "committing to status how others connect: " + a.Transport.String()}
}

func (a UpdatePeerURL) describe() Description {
	return Description{
		"UpdatePeerURL", v1beta2.ReasonSwitchingTransport,
		fmt.Sprintf("telling the members to connect to %s at %s", a.Name, a.PeerURL),
	}
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
	return Description{"WritePermits", v1beta2.ReasonStarting, "permitting etcd to start in " + list(names)}
}

func (a AddToService) describe() Description {
	return Description{"AddToService", v1beta2.ReasonServing, "adding to the client Service: " + list(a.Pods)}
}

func (a RemoveFromService) describe() Description {
	return Description{"RemoveFromService", v1beta2.ReasonScaling, "removing " + a.Pod + " from the client Service"}
}

func (a AddLearner) describe() Description {
	return Description{"AddLearner", v1beta2.ReasonScaling, "adding learner " + a.Name}
}

func (a Promote) describe() Description {
	return Description{"Promote", v1beta2.ReasonScaling, "promoting " + a.Name + " to a voter"}
}

func (a MoveLeader) describe() Description {
	if a.Slow != "" {
		message := fmt.Sprintf("the disk of leader %s is slow: moving leadership to %s (%016x)", a.Slow, a.ToName, a.To)
		return Description{"MoveLeader", v1beta2.ReasonDiskSlow, message}
	}
	return Description{
		"MoveLeader", v1beta2.ReasonScaling,
		fmt.Sprintf("moving leadership from %s (%016x) to %s (%016x)", a.FromName, a.From, a.ToName, a.To),
	}
}

func (a RemoveMember) describe() Description {
	message := fmt.Sprintf("removing member %s (%016x)", a.Name, a.ID)
	if a.Why == v1beta2.ReasonDivergedMember {
		message += ", whose data differs from the others'"
	}
	return Description{"RemoveMember", a.Why, message}
}

func (a DeletePod) describe() Description {
	message := "deleting pod " + a.Name
	if a.Why == v1beta2.ReasonClearingAttempt {
		message += " of an abandoned attempt at a restore"
	}
	if a.Why == v1beta2.ReasonDiskHangs {
		message += ": its disk hangs, and the other voters are a healthy quorum"
	}
	if a.Why == v1beta2.ReasonPodCannotStart {
		message += givenUp
	}
	return Description{"DeletePod", a.Why, message}
}

func (a DeleteVolume) describe() Description {
	message := "deleting volume " + a.Name
	if a.Why == v1beta2.ReasonClearingAttempt {
		message += " of an abandoned attempt at a restore: etcd was never permitted to start on it"
	}
	if a.Why == v1beta2.ReasonPodCannotStart {
		message += givenUp
	}
	return Description{"DeleteVolume", a.Why, message}
}

// givenUp is why a candidate's pod and volume are deleted, and what follows.
var givenUp = fmt.Sprintf(": the new member's pod has not started within %s; another member is made in its place", silentLimit)

func (a SetMetadata) describe() Description {
	return Description{"SetMetadata", v1beta2.ReasonUpdating, "updating labels and annotations of pod " + a.Name}
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
		"Recreate", v1beta2.ReasonUpdating, fmt.Sprintf("recreating pod %s on its volume with etcd %s", a.Name, a.Version),
	}
}

func (a CorrectMark) describe() Description {
	text := fmt.Sprintf("recording that %s runs etcd %s", a.Name, a.Version)
	if a.Made {
		text += ", and which schemes it serves"
	}
	return Description{"CorrectMark", v1beta2.ReasonUpdating, text}
}

func (a Expand) describe() Description {
	return Description{"Expand", v1beta2.ReasonUpdating, "requesting more storage for " + list(a.Names)}
}

func (a PrepullImages) describe() Description {
	var nodes []string
	for _, p := range a.Images {
		nodes = append(nodes, p.Node)
	}
	return Description{
		"PrepullImages", v1beta2.ReasonPullingImage, fmt.Sprintf("pulling %s to %s", a.Images[0].Image, list(nodes)),
	}
}

func (a DeletePrepullPod) describe() Description {
	return Description{"DeletePrepullPod", v1beta2.ReasonPullingImage, "deleting pod " + a.Name}
}

func (a EnableDowngrade) describe() Description {
	return Description{"EnableDowngrade", v1beta2.ReasonUpdating, "enabling etcd's downgrade to " + a.Version}
}

func (a CancelDowngrade) describe() Description {
	message := "canceling etcd's downgrade to " + a.Version
	if a.Snapshot {
		message = "every member has written a snapshot: canceling etcd's downgrade"
	}
	return Description{"CancelDowngrade", v1beta2.ReasonUpdating, message}
}

func (a SetBudget) describe() Description {
	return Description{
		"SetBudget", v1beta2.ReasonWaitingForBudget,
		fmt.Sprintf("setting minAvailable of the PodDisruptionBudget to %d", a.MinAvailable),
	}
}
