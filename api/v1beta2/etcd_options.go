package v1beta2

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EtcdOptions are etcd's own options. What is absent has etcd's default. An option may be given in one way only: here, in
// extraArgs, or in pod.etcdEnv.
//
// +kubebuilder:validation:XValidation:rule="duration(has(self.electionTimeout) ? self.electionTimeout : '1s').getMilliseconds() >= 5 * duration(has(self.heartbeatInterval) ? self.heartbeatInterval : '100ms').getMilliseconds()",message="electionTimeout (1s if absent) must be at least five times heartbeatInterval (100ms if absent)"
// +kubebuilder:validation:XValidation:rule="!has(self.electionTimeout) || duration(self.electionTimeout) <= duration('50s')",message="electionTimeout must be at most 50s"
// +kubebuilder:validation:XValidation:rule="!has(self.heartbeatInterval) || duration(self.heartbeatInterval) >= duration('1ms')",message="heartbeatInterval must be at least 1ms"
type EtcdOptions struct {
	// quotaBackendBytes is the size of the database, in bytes, from which on etcd takes no more writes; 2Gi by default.
	// The volume must have room for about twice as much. A negative one is no limit.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Database quota",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=12
	QuotaBackendBytes *resource.Quantity `json:"quotaBackendBytes,omitempty"`

	// autoCompaction removes old revisions of keys; etcd keeps them all by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Auto-compaction",order=13
	AutoCompaction *AutoCompaction `json:"autoCompaction,omitempty"`

	// heartbeatInterval is how often the leader tells that it is there, in whole milliseconds; 100ms by default. About the
	// round trip between members.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Heartbeat interval",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=14
	HeartbeatInterval *metav1.Duration `json:"heartbeatInterval,omitempty"`

	// electionTimeout is how long a member waits for the leader before it stands for election, in whole milliseconds; 1s by
	// default. At least five times heartbeatInterval, at most 50s.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Election time-out",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=15
	ElectionTimeout *metav1.Duration `json:"electionTimeout,omitempty"`

	// preVote makes a member ask, before it stands for election, whether it could win; true by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Pre-vote",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch","urn:alm:descriptor:com.tectonic.ui:advanced"}
	PreVote *bool `json:"preVote,omitempty"`

	// snapshotCount is the number of changes from one of raft's snapshots to the next; 10000 by default, 100000 in etcd 3.5.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Changes between snapshots of raft",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number","urn:alm:descriptor:com.tectonic.ui:advanced"}
	SnapshotCount *int64 `json:"snapshotCount,omitempty"`

	// snapshotCatchupEntries is the number of changes that are kept for slow members after a snapshot; 5000 by default.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	SnapshotCatchupEntries *int64 `json:"snapshotCatchupEntries,omitempty"`

	// maxRequestBytes is the size of the largest request of a client, in bytes; 1.5Mi by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Largest request",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text","urn:alm:descriptor:com.tectonic.ui:advanced"}
	MaxRequestBytes *resource.Quantity `json:"maxRequestBytes,omitempty"`

	// maxTxnOps is the number of operations in one transaction; 128 by default.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	MaxTxnOps *int64 `json:"maxTxnOps,omitempty"`

	// maxConcurrentStreams is the number of streams that one client may have open at a time; practically no limit by default.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	MaxConcurrentStreams *int64 `json:"maxConcurrentStreams,omitempty"`

	// backendBatchInterval is how long changes are gathered before they are written to the database; 100ms by default.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	BackendBatchInterval *metav1.Duration `json:"backendBatchInterval,omitempty"`

	// backendBatchLimit is how many changes are gathered at most; 10000 by default.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	BackendBatchLimit *int64 `json:"backendBatchLimit,omitempty"`

	// compactionBatchLimit is the number of revisions that one step of a compaction removes; 1000 by default.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	CompactionBatchLimit *int64 `json:"compactionBatchLimit,omitempty"`

	// compactionSleepInterval is the pause from one such step to the next; 10ms by default.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	CompactionSleepInterval *metav1.Duration `json:"compactionSleepInterval,omitempty"`

	// bootstrapDefragThreshold is how much space must be free in the database for a member to defragment it when it starts;
	// never by default. Rounded up to whole mebibytes.
	// +optional
	BootstrapDefragThreshold *resource.Quantity `json:"bootstrapDefragThreshold,omitempty"`

	// corruptionChecks compare the members' data.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Corruption checks",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	CorruptionChecks *CorruptionChecks `json:"corruptionChecks,omitempty"`

	// watchProgressNotifyInterval is how often idle watches are told the revision; 10m by default.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	WatchProgressNotifyInterval *metav1.Duration `json:"watchProgressNotifyInterval,omitempty"`

	// warningApplyDuration is how long a change may take before etcd logs it; 100ms by default.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	WarningApplyDuration *metav1.Duration `json:"warningApplyDuration,omitempty"`

	// warningUnaryRequestDuration is how long a request may take before etcd logs it; 300ms by default. etcd 3.6 and later.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	WarningUnaryRequestDuration *metav1.Duration `json:"warningUnaryRequestDuration,omitempty"`

	// logLevel is what etcd logs; Info by default.
	// +kubebuilder:validation:Enum=Debug;Info;Warn;Error
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Log level",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	LogLevel string `json:"logLevel,omitempty"`

	// metrics is how much detail etcd's metrics have; Basic by default.
	// +kubebuilder:validation:Enum=Basic;Extensive
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Metrics",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Metrics string `json:"metrics,omitempty"`

	// enablePprof serves profiles of the process to clients; false by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Profiles",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch","urn:alm:descriptor:com.tectonic.ui:advanced"}
	EnablePprof *bool `json:"enablePprof,omitempty"`

	// featureGates are etcd's, by name, for example StopGRPCServiceOnDefrag. In etcd 3.5 the experimental options take
	// their place.
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Feature gates",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	FeatureGates map[string]bool `json:"featureGates,omitempty"`

	// extraArgs are other flags of etcd without their dashes, for example grpc-keepalive-timeout: 30s. Flags that the
	// operator sets itself, and those that put data at risk, are refused.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-z][a-z0-9-]*$'))",message="extraArgs: give etcd's flags without dashes before them, for example grpc-keepalive-timeout"
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Other flags",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	ExtraArgs map[string]string `json:"extraArgs,omitempty"`
}

// AutoCompaction removes old revisions of keys.
//
// +kubebuilder:validation:XValidation:rule="self.mode != 'Revision' || self.retention.matches('^[0-9]+$')",message="in mode Revision, retention must be a whole number"
type AutoCompaction struct {
	// mode is Periodic, for an age, or Revision, for a number of revisions.
	// +kubebuilder:validation:Enum=Periodic;Revision
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Mode"
	Mode string `json:"mode"`
	// retention is what to keep: in mode Periodic a duration such as 30m, or a whole number of hours; in mode Revision a
	// whole number of revisions. 0 keeps all.
	// +kubebuilder:validation:Pattern=`^([0-9]+|([0-9]+(\.[0-9]+)?(ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Retention",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"}
	Retention string `json:"retention"`
}

// CorruptionChecks compare the members' data. What they find shows as an alarm of etcd.
type CorruptionChecks struct {
	// initialCheck compares a member's data with its peers' before it serves clients; false by default.
	// +optional
	InitialCheck *bool `json:"initialCheck,omitempty"`

	// checkInterval is how often all data is compared, at the cost of a full scan; never by default.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	CheckInterval *metav1.Duration `json:"checkInterval,omitempty"`

	// compactHashCheck compares hashes that compactions leave, at little cost; false by default.
	// +optional
	CompactHashCheck *bool `json:"compactHashCheck,omitempty"`

	// compactHashCheckInterval is how often that is done; 1m by default.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	CompactHashCheckInterval *metav1.Duration `json:"compactHashCheckInterval,omitempty"`
}
