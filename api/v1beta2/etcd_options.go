package v1beta2

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EtcdOptions are etcd's own options. Those that are absent have etcd's default. An option may be set in one place only: here, in
// extraArgs, or in pod.etcdEnv.
//
// +kubebuilder:validation:XValidation:rule="duration(has(self.electionTimeout) ? self.electionTimeout : '1s').getMilliseconds() >= 5 * duration(has(self.heartbeatInterval) ? self.heartbeatInterval : '100ms').getMilliseconds()",message="electionTimeout (1s if absent) must be at least five times heartbeatInterval (100ms if absent)"
// +kubebuilder:validation:XValidation:rule="!has(self.electionTimeout) || duration(self.electionTimeout) <= duration('50s')",message="electionTimeout must be at most 50s"
// +kubebuilder:validation:XValidation:rule="!has(self.heartbeatInterval) || duration(self.heartbeatInterval) >= duration('1ms')",message="heartbeatInterval must be at least 1ms"
type EtcdOptions struct {
	// quotaBackendBytes is the size of the database at which etcd stops accepting writes, as a quantity such as 8Gi, or a number
	// of bytes; 2Gi by default. The volume must have room for about twice as much. A negative value means no limit.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Database quota",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=12
	QuotaBackendBytes *resource.Quantity `json:"quotaBackendBytes,omitempty"`

	// autoCompaction removes old revisions of keys; etcd keeps them all by default.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Auto-compaction",order=13
	AutoCompaction *AutoCompaction `json:"autoCompaction,omitempty"`

	// heartbeatInterval is how often the leader sends heartbeats, in whole milliseconds; 100ms by default. Set it to about the
	// round-trip time between members.
	// +kubebuilder:validation:XValidation:rule="!self.matches('[.][0-9]+ms')",message="heartbeatInterval must be whole milliseconds, such as 100ms"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Heartbeat interval",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=14
	HeartbeatInterval *metav1.Duration `json:"heartbeatInterval,omitempty"`

	// electionTimeout is how long a member waits for a heartbeat before it starts an election, in whole milliseconds; 1s by
	// default. At least five times heartbeatInterval, at most 50s.
	// +kubebuilder:validation:XValidation:rule="!self.matches('[.][0-9]+ms')",message="electionTimeout must be whole milliseconds, such as 1s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Election time-out",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=15
	ElectionTimeout *metav1.Duration `json:"electionTimeout,omitempty"`

	// snapshotCount is the number of changes from one of raft's snapshots to the next; 10000 by default, 100000 in etcd 3.5.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Changes between snapshots of raft",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number","urn:alm:descriptor:com.tectonic.ui:advanced"}
	SnapshotCount *int64 `json:"snapshotCount,omitempty"`

	// maxRequestBytes is the maximum size of a client's request, as a quantity such as 4Mi, or a number of bytes; 1.5Mi by
	// default.
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : !self.startsWith('-')",message="maxRequestBytes must not be negative"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Largest request",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text","urn:alm:descriptor:com.tectonic.ui:advanced"}
	MaxRequestBytes *resource.Quantity `json:"maxRequestBytes,omitempty"`

	// logLevel of etcd; Info by default.
	// +kubebuilder:validation:Enum=Debug;Info;Warn;Error
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Log level",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	LogLevel string `json:"logLevel,omitempty"`

	// metrics is how much detail etcd's metrics have; Basic by default.
	// +kubebuilder:validation:Enum=Basic;Extensive
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Metrics",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Metrics string `json:"metrics,omitempty"`

	// extraArgs are etcd's other flags without their dashes, for example grpc-keepalive-timeout: 30s, or
	// feature-gates: InitialCorruptCheck=true,StopGRPCServiceOnDefrag=true. A flag may have its name of any etcd version that
	// this operator supports: it is translated to the running one's. Flags that the operator sets itself, and those that put
	// data at risk, are refused.
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
