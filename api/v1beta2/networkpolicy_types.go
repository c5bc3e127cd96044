package v1beta2

// NetworkPolicyMode is how much of the traffic to the members the NetworkPolicy admits.
type NetworkPolicyMode string

// Modes of the NetworkPolicy.
const (
	// NetworkPolicyPeers admits only members of the cluster to the port for peers, and everyone to all other ports.
	NetworkPolicyPeers NetworkPolicyMode = "Peers"
	// NetworkPolicyStrict admits to each port only those that need it, and those that the spec names.
	NetworkPolicyStrict NetworkPolicyMode = "Strict"
	// NetworkPolicyNone has no NetworkPolicy.
	NetworkPolicyNone NetworkPolicyMode = "None"
)

// NetworkPolicySpec says who may reach the members' ports, where the network enforces NetworkPolicies.
//
// +kubebuilder:validation:XValidation:rule="(!has(self.clientsFrom) || size(self.clientsFrom) == 0) && (!has(self.metricsFrom) || size(self.metricsFrom) == 0) || has(self.mode) && self.mode == 'Strict'",message="networkPolicy.clientsFrom and networkPolicy.metricsFrom need mode Strict: in the other modes everyone reaches these ports"
type NetworkPolicySpec struct {
	// mode is Peers, Strict or None; Peers by default. With Peers, only members of the cluster reach the ports for peers (2380,
	// and 2382, which a change of spec.tls on a running cluster makes use of); all other ports are open to everyone. With Strict, the port for
	// clients (2379) is open to the members, the operator, the pods of EtcdBackups and EtcdRestores in the same namespace and clientsFrom, the port for metrics (2381) to the operator and
	// metricsFrom, the one at which a restore reports its progress (8088) to the operator, and no other is open. With None, the operator makes no NetworkPolicy and deletes the one that it has made.
	// +kubebuilder:validation:Enum=Peers;Strict;None
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Mode"
	Mode NetworkPolicyMode `json:"mode,omitempty"`

	// clientsFrom are others who may reach the port for clients, in mode Strict. Pods are selected in the cluster's own namespace
	// unless there is a namespaceSelector.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Clients",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	ClientsFrom []NetworkPeer `json:"clientsFrom,omitempty"`

	// metricsFrom are others who may reach the port for metrics and health, such as Prometheus, in mode Strict. The kubelet on the
	// member's own node always may.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Metrics readers",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	MetricsFrom []NetworkPeer `json:"metricsFrom,omitempty"`
}

// NetworkPeer is who may connect, as in Kubernetes' NetworkPolicies, by labels.
//
// +kubebuilder:validation:XValidation:rule="has(self.ipBlock) ? !has(self.podSelector) && !has(self.namespaceSelector) : has(self.podSelector) || has(self.namespaceSelector)",message="each entry has podSelector, namespaceSelector or both; or else ipBlock alone"
type NetworkPeer struct {
	// podSelector selects pods.
	// +optional
	PodSelector *PeerSelector `json:"podSelector,omitempty"`
	// namespaceSelector selects the namespaces of the pods.
	// +optional
	NamespaceSelector *PeerSelector `json:"namespaceSelector,omitempty"`
	// ipBlock is a range of addresses.
	// +optional
	IPBlock *PeerBlock `json:"ipBlock,omitempty"`
}

// PeerSelector selects by labels; an empty one selects all. It has no expressions, because the CRD is not to outgrow what kubectl apply
// takes: a NetworkPolicy of one's own can have them.
//
// +structType=atomic
type PeerSelector struct {
	// matchLabels are required.
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

// PeerBlock is a range of addresses.
type PeerBlock struct {
	// cidr is the range, for example 192.0.2.0/24.
	// +required
	CIDR string `json:"cidr"`
	// except are ranges in it that are left out.
	// +listType=atomic
	// +optional
	Except []string `json:"except,omitempty"`
}
