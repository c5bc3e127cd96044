package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AutopilotStatus is what Auto Pilot has chosen in the place of what the spec says, and what it holds back.
type AutopilotStatus struct {
	// operatorMode is how far the operator lets Auto Pilot go in all of its clusters, whatever their specs say: Off or Advise. It is absent
	// if that is On.
	// +optional
	OperatorMode AutopilotMode `json:"operatorMode,omitempty"`
	// tuned is what the operator has changed of the spec's options for etcd.
	// +optional
	Tuned *TunedOptions `json:"tuned,omitempty"`
	// volume is what the operator has changed of the members' volumes.
	// +optional
	Volume *TunedVolume `json:"volume,omitempty"`
	// resources is what the operator has changed of the members' CPU and memory.
	// +optional
	Resources *TunedResources `json:"resources,omitempty"`
	// version is the patch release that the operator has chosen of the minor release in the spec.
	// +optional
	Version *ChosenVersion `json:"version,omitempty"`
	// refusedVersions are the patch releases that were rolled back, the latest last. They are not tried again in this cluster, and no other
	// one of the operator that would run the same image begins to try them for 24 hours. One that is named in spec.version is removed from here.
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=version
	// +optional
	RefusedVersions []RefusedVersion `json:"refusedVersions,omitempty"`
	// relocation is the member that is moved off a node whose disk is slow, or the last one that was, or was to be.
	// +optional
	Relocation *Relocation `json:"relocation,omitempty"`
	// underWay is what the operator has begun and not all members have yet, or the member that it is replacing.
	// +listType=map
	// +listMapKey=feature
	// +optional
	UnderWay []BegunAct `json:"underWay,omitempty"`
	// held is what is due and not done, because it is not safe now, the mode is Advise, or it waits for the maintenance window, for the
	// end of a trial, or for its turn among several clusters.
	// +listType=map
	// +listMapKey=feature
	// +optional
	Held []HeldAct `json:"held,omitempty"`
}

// TunedOptions are options for etcd that the operator has changed, which take the place of the spec's.
type TunedOptions struct {
	// quotaBackendBytes is the quota that etcd has instead of the spec's.
	// +required
	QuotaBackendBytes resource.Quantity `json:"quotaBackendBytes"`
	// insteadOf is the quota of the spec that it was raised from. Once the spec has another one, that counts.
	// +required
	InsteadOf resource.Quantity `json:"insteadOf"`
}

// TunedVolume is the size of volumes that the operator has changed, which takes the place of the spec's.
type TunedVolume struct {
	// size is what the members' volumes request instead of what the spec says.
	// +required
	Size resource.Quantity `json:"size"`
	// insteadOf is the size in the spec that it was raised from. Once the spec has another one, that counts.
	// +required
	InsteadOf resource.Quantity `json:"insteadOf"`
}

// TunedResources are requests for CPU and memory that the operator has changed, which take the place of the spec's. The limits follow in
// proportion.
type TunedResources struct {
	// requests are what each member requests instead of what the spec says.
	// +required
	Requests corev1.ResourceList `json:"requests"`
	// before is what each member requested before the last change, to which the members go back if not all of them can be resized.
	// +required
	Before corev1.ResourceList `json:"before"`
	// insteadOf is what the spec had. Once it has anything else, that counts.
	// +required
	InsteadOf ResourceAmounts `json:"insteadOf"`
	// since is when that was decided.
	// +required
	Since metav1.Time `json:"since"`
	// givenUp says why a change was given up; absent if it was not. The members went back to what they had before, but keep the memory that
	// they may use by now. It is tried again after 24 hours.
	// +optional
	GivenUp string `json:"givenUp,omitempty"`
}

// ResourceAmounts are the CPU and memory of a container.
type ResourceAmounts struct {
	// requests are what it requests; what is only limited is requested in full.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
	// limits are what it is limited to.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`
}

// ChosenVersion is a patch release that the operator has chosen of the minor release in the spec. Once the spec asks for anything else, that
// counts.
type ChosenVersion struct {
	// version is the release that members run, or are being updated to.
	// +required
	Version string `json:"version"`
	// insteadOf is the release before it. It is absent once the first member was healthy with this one for ten minutes, or members went back
	// from one.
	// +optional
	InsteadOf string `json:"insteadOf,omitempty"`
	// image is the image, by its digest, that members had of insteadOf, or have again after they went back; absent if no digest is known.
	// +optional
	Image string `json:"image,omitempty"`
	// since is when that was decided.
	// +required
	Since metav1.Time `json:"since"`
	// givenUp is the release that was chosen last and that no member could get. It is tried again 24 hours after since.
	// +optional
	GivenUp *GivenUpVersion `json:"givenUp,omitempty"`
	// trial is how the first member does with version, before any other one gets it.
	// +optional
	Trial *PatchTrial `json:"trial,omitempty"`
}

// GivenUpVersion is a patch release that no member could get.
type GivenUpVersion struct {
	// version is that release.
	// +required
	Version string `json:"version"`
	// because says what kept members from it.
	// +required
	Because string `json:"because"`
}

// PatchTrial is how the first member does with a patch release.
type PatchTrial struct {
	// member is its name.
	// +required
	Member string `json:"member"`
	// podUID is that of its pod. In another one the trial begins anew.
	// +required
	PodUID string `json:"podUID"`
	// began is when a pod with that release was first seen.
	// +required
	Began metav1.Time `json:"began"`
	// healthySince is since when the member is healthy; absent while it is not.
	// +optional
	HealthySince *metav1.Time `json:"healthySince,omitempty"`
	// wasHealthy is true once the member was healthy in that pod.
	// +optional
	WasHealthy bool `json:"wasHealthy,omitempty"`
	// restarts is how often its container had been started again when the member was healthy.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`
	// failingSince is since when it is neither Ready nor answers, or only now and then; absent while it has not failed since its first start.
	// +optional
	FailingSince *metav1.Time `json:"failingSince,omitempty"`
	// corrupt is true once etcd has raised its alarm CORRUPT since the trial began: such a release is rolled back, also after the alarm was disarmed.
	// +optional
	Corrupt bool `json:"corrupt,omitempty"`
}

// RefusedVersion is a patch release that was rolled back, because the first member with it failed.
type RefusedVersion struct {
	// version is that release.
	// +required
	Version string `json:"version"`
	// image is the one that the member had of it.
	// +optional
	Image string `json:"image,omitempty"`
	// since is when it was rolled back.
	// +required
	Since metav1.Time `json:"since"`
}

// Relocation is a member that is moved off a node whose disk is slow. For 24 hours no other one is moved, and new pods prefer other nodes.
type Relocation struct {
	// memberID is the member's ID in etcd, in hexadecimal. It is absent once the relocation is over.
	// +optional
	MemberID string `json:"memberID,omitempty"`
	// member is its name.
	// +required
	Member string `json:"member"`
	// node is the one that it was on.
	// +required
	Node string `json:"node"`
	// since is when that was decided, or, with givenUp, when it was given up.
	// +required
	Since metav1.Time `json:"since"`
	// successorID is the ID in etcd, in hexadecimal, of the member that takes its place. It is absent as long as there is none, once the
	// relocation is over, and, with givenUp, once no member is too many.
	// +optional
	SuccessorID string `json:"successorID,omitempty"`
	// givenUp says why the member has stayed there; absent if it has not.
	// +optional
	GivenUp string `json:"givenUp,omitempty"`
}

// BegunAct is an act of Auto Pilot that is under way.
type BegunAct struct {
	// feature is the field of spec.autopilot that it belongs to.
	// +required
	Feature string `json:"feature"`
	// to is what all members are to have: the quota, the size of volumes, the requests or the release; or the member that is replaced.
	// +required
	To string `json:"to"`
	// since is when it was begun.
	// +required
	Since metav1.Time `json:"since"`
}

// HeldAct is an act of Auto Pilot that is due and not done.
type HeldAct struct {
	// feature is the field of spec.autopilot that it belongs to.
	// +required
	Feature string `json:"feature"`
	// reason is why it is not done.
	// +required
	Reason string `json:"reason"`
	// message says what is due, and what has to be so before it is done.
	// +required
	Message string `json:"message"`
	// since is when it was held first for this reason: another reason begins anew.
	// +required
	Since metav1.Time `json:"since"`
}
