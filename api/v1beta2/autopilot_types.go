package v1beta2

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AutopilotMode is how far the operator goes by itself.
type AutopilotMode string

// Modes of Auto Pilot.
const (
	// AutopilotOff neither acts nor says what it would do.
	AutopilotOff AutopilotMode = "Off"
	// AutopilotAdvise says what it would do, in status.autopilot and in an event, and does not do it.
	AutopilotAdvise AutopilotMode = "Advise"
	// AutopilotOn acts.
	AutopilotOn AutopilotMode = "On"
)

// AutopilotSpec says what the operator may do by itself beyond keeping the cluster at its spec.
type AutopilotSpec struct {
	// mode is Off, Advise or On; On by default. It bounds all features: none goes further than this.
	// +kubebuilder:validation:Enum=Off;Advise;On
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Mode"
	Mode AutopilotMode `json:"mode,omitempty"`

	// noSpace makes room when a member's database has reached its quota, so that etcd takes writes again. On by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="No space",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	NoSpace *NoSpaceAutopilot `json:"noSpace,omitempty"`

	// defragment gives the free pages of databases back to the disk, one member at a time: in the maintenance window, and without one
	// only if the member is expected to pause for no more than 2 seconds. On by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Defragmentation",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Defragment *AutopilotFeature `json:"defragment,omitempty"`

	// quota raises etcd's quota before what is in use reaches it, by an update of one member after the other. On by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Quota",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Quota *QuotaAutopilot `json:"quota,omitempty"`

	// volume gives the members larger volumes where a higher quota needs them: only if it has a max. No mode of it goes further than
	// that of quota.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Volume",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Volume *VolumeAutopilot `json:"volume,omitempty"`

	// patches updates etcd to newer patch releases that the operator is tested with, while spec.version is a minor release such as 3.6: one
	// member after the other, once there is a verified backup that is not older than 24 hours. A release with which no member becomes
	// healthy is taken back. Advise by default; it does nothing while spec.version is a full version, or empty.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Patches",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Patches *AutopilotFeature `json:"patches,omitempty"`

	// relocation moves a member whose disk has been slow for an hour, while that of another one was quick, to another node: it is replaced by a new
	// member there, one a day at most. Advise by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Relocation",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Relocation *AutopilotFeature `json:"relocation,omitempty"`

	// divergedMember replaces a member whose data differs from what a majority of the voters agrees on. On by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Diverged members",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	DivergedMember *AutopilotFeature `json:"divergedMember,omitempty"`

	// anomaly tells, in the condition Anomaly, that a member is not as it was in the last day: slower, growing faster, or changing its leader.
	// Nothing is done about it, so Advise and On are the same. On by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Anomaly",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Anomaly *AutopilotFeature `json:"anomaly,omitempty"`

	// timers advises a longer heartbeatInterval and electionTimeout, in status.autopilot.held, where round trips between members have taken
	// longer than the heartbeatInterval, or than a tenth of the electionTimeout, for a day. They are never changed by the operator. Advise by
	// default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Timers",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Timers *TimersAutopilot `json:"timers,omitempty"`
}

// TimersAutopilot is what Auto Pilot says about etcd's heartbeat interval and election timeout.
type TimersAutopilot struct {
	// mode is Off or Advise. There is no On: while the members are updated they have different times, and some start elections that others
	// do not expect; and with longer times every failover is slower.
	// +kubebuilder:validation:Enum=Off;Advise
	// +optional
	Mode AutopilotMode `json:"mode,omitempty"`
}

// QuotaAutopilot is what Auto Pilot does before a member's database reaches its quota.
type QuotaAutopilot struct {
	AutopilotFeature `json:",inline"`

	// max is the highest quota that etcd is given, 8Gi by default: the most that etcd recommends. A quota above it in spec.etcd stays.
	// +kubebuilder:validation:XValidation:rule="quantity(self).isGreaterThan(quantity('0'))",message="autopilot.quota.max must be greater than 0"
	// +optional
	Max *resource.Quantity `json:"max,omitempty"`
}

// VolumeAutopilot is what Auto Pilot does where the members' volumes have no room for a higher quota.
type VolumeAutopilot struct {
	AutopilotFeature `json:",inline"`

	// max is the largest volume that a member is given. Without it no volume is made larger. Volumes never shrink.
	// +kubebuilder:validation:XValidation:rule="quantity(self).isGreaterThan(quantity('0'))",message="autopilot.volume.max must be greater than 0"
	// +optional
	Max *resource.Quantity `json:"max,omitempty"`
}

// AutopilotFeature is one thing that Auto Pilot does.
type AutopilotFeature struct {
	// mode is Off, Advise or On.
	// +kubebuilder:validation:Enum=Off;Advise;On
	// +optional
	Mode AutopilotMode `json:"mode,omitempty"`
}

// Compaction is whether history may be given up for room.
type Compaction string

// Compactions.
const (
	// CompactionAllowed allows to compact up to the revision of five minutes ago.
	CompactionAllowed Compaction = "Allowed"
	// CompactionForbidden keeps the history of keys, whatever room it takes.
	CompactionForbidden Compaction = "Forbidden"
)

// NoSpaceAutopilot is what Auto Pilot does when a member's database has reached its quota.
type NoSpaceAutopilot struct {
	AutopilotFeature `json:",inline"`

	// compaction is Allowed or Forbidden; Allowed by default. It is whether the history of keys older than five minutes may be given up
	// where defragmentation alone makes no room: watchers and reads at older revisions get an error then.
	// +kubebuilder:validation:Enum=Allowed;Forbidden
	// +optional
	Compaction Compaction `json:"compaction,omitempty"`
}

// MaintenanceWindow is when Auto Pilot may do what costs clients a moment and can wait.
type MaintenanceWindow struct {
	// schedule is when the window opens, in the five fields of cron, or a word such as @daily.
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[[:space:]]*(@[^[:space:]]+([[:space:]]+[^[:space:]]+)?|[^[:space:]]+([[:space:]]+[^[:space:]]+){4})?[[:space:]]*$')",message="maintenanceWindow.schedule must have the five fields of cron, such as 0 2 * * 0, or be a word such as @weekly"
	// +kubebuilder:validation:XValidation:rule="!self.contains('TZ=')",message="maintenanceWindow.schedule: name the time zone in timeZone, not here"
	// +kubebuilder:validation:XValidation:rule="!self.contains('@every')",message="maintenanceWindow.schedule: @every has no time of day: give the five fields of cron, or a word such as @weekly"
	// +required
	Schedule string `json:"schedule"`

	// duration is how long it stays open, such as 2h: at least 10 minutes, at most 7 days. What has begun is completed.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10m')",message="maintenanceWindow.duration must be 10m at least"
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('168h')",message="maintenanceWindow.duration must be 168h at most: without maintenanceWindow nothing waits for one"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +required
	Duration metav1.Duration `json:"duration"`

	// timeZone of the schedule, such as Europe/Berlin; UTC by default.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self != 'Local'",message="maintenanceWindow.timeZone must be one of the IANA database, such as Europe/Berlin"
	// +optional
	TimeZone string `json:"timeZone,omitempty"`
}

// AutopilotStatus is what Auto Pilot would do.
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
	// version is the patch release that the operator has chosen of the minor release in the spec.
	// +optional
	Version *ChosenVersion `json:"version,omitempty"`
	// relocation is the member that is moved off a node whose disk is slow, or the last one that was.
	// +optional
	Relocation *Relocation `json:"relocation,omitempty"`
	// held is what is due and not done, because it is not safe now, the mode is Advise, or it waits for the maintenance window or for its
	// turn among several clusters.
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

// ChosenVersion is a patch release that the operator has chosen of the minor release in the spec. Once the spec asks for anything else, that
// counts.
type ChosenVersion struct {
	// version is the release that members run, or are being updated to.
	// +required
	Version string `json:"version"`
	// insteadOf is the release before it. It is absent once a member was healthy with this one, or they went back from one.
	// +optional
	InsteadOf string `json:"insteadOf,omitempty"`
	// since is when that was decided.
	// +required
	Since metav1.Time `json:"since"`
	// refused is the release that was taken back, because no member became healthy with it. It is not tried again in this cluster.
	// +optional
	Refused string `json:"refused,omitempty"`
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
	// since is when that was decided.
	// +required
	Since metav1.Time `json:"since"`
	// successorID is the ID in etcd, in hexadecimal, of the member that takes its place. It is absent as long as there is none, and once the
	// relocation is over.
	// +optional
	SuccessorID string `json:"successorID,omitempty"`
	// givenUp says why the member has stayed there; absent if it has not.
	// +optional
	GivenUp string `json:"givenUp,omitempty"`
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
