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
	// mode is Off, Advise or On; On by default. It bounds all features: none goes further than this, and each has its own mode. Off and Advise begin
	// nothing new. A quota that is being rolled out, and a release on trial, are completed, but a release that fails its trial is not rolled back.
	// Larger volumes are completed if a member's claim requests them already, and otherwise given up. Members keep the CPU and memory that they were
	// given. A relocation, and a release that no member has yet, are given up. The replacement of a member whose data differs stops: the member stays
	// out of the Service.
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

	// resources gives the members more CPU and memory where they use most of what spec.pod.resources requests, and takes back CPU that they do not
	// use: within min and max, and without a restart. CPU or memory with neither min nor max stays as it is. On if there is min or max,
	// otherwise Off.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="CPU and memory",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Resources *ResourcesAutopilot `json:"resources,omitempty"`

	// patches updates etcd to newer patch releases that the operator is tested with, while spec.version is a minor release such as 3.6, once there
	// is a verified backup that is not older than 24 hours: one member first, and the others one after the other once that was healthy for ten
	// minutes. A release that the first member fails with is rolled back. On by default; it does nothing while spec.version is a full version, or empty.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Patches",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Patches *AutopilotFeature `json:"patches,omitempty"`

	// relocation moves a member whose disk has been slow for an hour, while that of another one was four times as fast, to another node: it is
	// replaced by a new member there, one a day at most. Advise by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Relocation",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Relocation *AutopilotFeature `json:"relocation,omitempty"`

	// divergedMember replaces a member whose data differs from what a majority of the voters agrees on. On by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Diverged members",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	DivergedMember *AutopilotFeature `json:"divergedMember,omitempty"`

	// anomaly tells, in the condition Anomaly, that a member is not as it was in the last day: slower, growing faster, or seeing more leader changes.
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

// ResourcesAutopilot is what Auto Pilot does about CPU and memory of the members, whose pods are resized in place. It changes what the etcd
// container requests; its limits follow in proportion, so that the quality of service stays.
//
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode == 'Off' || has(self.min) || has(self.max)",message="autopilot.resources: give max, min or both: without them nothing is changed"
// +kubebuilder:validation:XValidation:rule="!has(self.min) || !has(self.max) || !has(self.min.cpu) || !has(self.max.cpu) || quantity(string(self.min.cpu)).compareTo(quantity(string(self.max.cpu))) <= 0",message="autopilot.resources: min.cpu must not be above max.cpu"
// +kubebuilder:validation:XValidation:rule="!has(self.min) || !has(self.min.memory)",message="autopilot.resources: there is no min.memory, because memory is never lowered: remove it"
type ResourcesAutopilot struct {
	AutopilotFeature `json:",inline"`

	// min is how low Auto Pilot goes with CPU, the only one that it lowers; what spec.pod.resources requests may be lower. Where it is absent and
	// max is not, that request takes its place.
	// +optional
	Min *ResourceBounds `json:"min,omitempty"`
	// max is how high Auto Pilot goes; what spec.pod.resources requests may be higher. Where it is absent and min is not, that request takes its
	// place.
	// +optional
	Max *ResourceBounds `json:"max,omitempty"`
}

// ResourceBounds bound what the etcd container of each member requests.
//
// +kubebuilder:validation:XValidation:rule="has(self.cpu) || has(self.memory)",message="autopilot.resources: give cpu or memory in max, and cpu in min"
type ResourceBounds struct {
	// cpu is such as 500m or 2. spec.pod.resources has to name it, too.
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).isGreaterThan(quantity('0'))",message="autopilot.resources: cpu must be greater than 0"
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`
	// memory is such as 512Mi or 4Gi. spec.pod.resources has to name it, too. Only max may have it.
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).isGreaterThan(quantity('0'))",message="autopilot.resources: memory must be greater than 0"
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
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
