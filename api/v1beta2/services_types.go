package v1beta2

import corev1 "k8s.io/api/core/v1"

// ServicesPolicy shapes the Services.
type ServicesPolicy struct {
	// client is the Service for clients, <name>-client.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Service for clients"
	Client *ClientServicePolicy `json:"client,omitempty"`
	// peer is the headless Service that gives every member its DNS name, <name>.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Service of the members",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	Peer *PeerServicePolicy `json:"peer,omitempty"`
}

// ServiceMeta is what every Service may have.
type ServiceMeta struct {
	// labels are added to the Service. The keys app, etcd_* and etcd.database.coreos.com/* are reserved.
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'app' && !k.startsWith('etcd_') && !k.startsWith('etcd.database.coreos.com/'))",message="labels: the keys app, etcd_* and etcd.database.coreos.com/* are the operator's own: remove them"
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations are added to the Service. The keys etcd.database.coreos.com/* are reserved.
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('etcd.database.coreos.com/'))",message="annotations: the keys etcd.database.coreos.com/* are the operator's own: remove them"
	// +kubebuilder:validation:MaxProperties=256
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// ipFamilyPolicy says whether the Service has an address of one IP family or of both; SingleStack by default.
	// +kubebuilder:validation:Enum=SingleStack;PreferDualStack;RequireDualStack
	// +optional
	IPFamilyPolicy corev1.IPFamilyPolicy `json:"ipFamilyPolicy,omitempty"`
	// ipFamilies are the IP families in order: IPv4, IPv6. The first one of a Service cannot be changed.
	// +kubebuilder:validation:items:Enum=IPv4;IPv6
	// +kubebuilder:validation:MaxItems=2
	// +listType=atomic
	// +optional
	IPFamilies []corev1.IPFamily `json:"ipFamilies,omitempty"`
}

// ClientServicePolicy configures the Service for clients.
//
// +kubebuilder:validation:XValidation:rule="!has(self.nodePort) || has(self.type) && self.type != 'ClusterIP'",message="nodePort needs type NodePort or LoadBalancer"
// +kubebuilder:validation:XValidation:rule="!has(self.externalTrafficPolicy) || has(self.type) && self.type != 'ClusterIP'",message="externalTrafficPolicy needs type NodePort or LoadBalancer"
// +kubebuilder:validation:XValidation:rule="!has(self.loadBalancerClass) && !has(self.loadBalancerSourceRanges) || has(self.type) && self.type == 'LoadBalancer'",message="loadBalancerClass and loadBalancerSourceRanges need type LoadBalancer"
type ClientServicePolicy struct {
	ServiceMeta `json:",inline"`
	// type is ClusterIP, NodePort or LoadBalancer; ClusterIP by default.
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Type"
	Type corev1.ServiceType `json:"type,omitempty"`
	// port of the Service; 2379 by default. Members listen on 2379 in any case.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Port",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number"}
	Port int32 `json:"port,omitempty"`
	// nodePort is the port on every node; Kubernetes chooses one if it is absent.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	NodePort int32 `json:"nodePort,omitempty"`
	// loadBalancerClass is the implementation of the load balancer.
	// +optional
	LoadBalancerClass *string `json:"loadBalancerClass,omitempty"`
	// loadBalancerSourceRanges are the client addresses that the load balancer accepts, for example 10.0.0.0/8; all if empty.
	// +listType=atomic
	// +optional
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges,omitempty"`
	// externalTrafficPolicy is Cluster or Local, which preserves the clients' addresses; Cluster by default.
	// +kubebuilder:validation:Enum=Cluster;Local
	// +optional
	ExternalTrafficPolicy corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// internalTrafficPolicy is Cluster or Local, which reaches members on the client's own node only; Cluster by default.
	// +kubebuilder:validation:Enum=Cluster;Local
	// +optional
	InternalTrafficPolicy corev1.ServiceInternalTrafficPolicy `json:"internalTrafficPolicy,omitempty"`
	// sessionAffinity is None or ClientIP; None by default.
	// +kubebuilder:validation:Enum=None;ClientIP
	// +optional
	SessionAffinity corev1.ServiceAffinity `json:"sessionAffinity,omitempty"`
}

// PeerServicePolicy configures the headless Service of the members.
type PeerServicePolicy struct {
	ServiceMeta `json:",inline"`
}
