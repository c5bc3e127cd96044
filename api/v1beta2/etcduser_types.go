package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdUserSpec says who may log in to an etcd cluster, how, and what for.
//
// +kubebuilder:validation:XValidation:rule="has(self.passwordSecretRef) != has(self.clientCertificate)",message="say how the user logs in: passwordSecretRef or clientCertificate"
// +kubebuilder:validation:XValidation:rule="has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name)",message="name cannot be changed: create another EtcdUser"
type EtcdUserSpec struct {
	// etcdCluster is the cluster that has the user.
	// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name",message="etcdCluster cannot be changed: create another EtcdUser"
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Cluster",order=0
	EtcdCluster EtcdClusterRef `json:"etcdCluster"`
	// name of the user in etcd, by default that of this object. For a client with a certificate it is the certificate's common name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_][A-Za-z0-9_.:@-]*$`
	// +kubebuilder:validation:XValidation:rule="self != 'root'",message="root is the operator: name another user"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Name in etcd",order=1
	Name string `json:"name,omitempty"`
	// passwordSecretRef names the key of a Secret with the user's password, of 1 to 72 bytes. Every byte counts, a line break at the
	// end, too. When the Secret changes, so does the password in etcd, within six minutes. It keeps no certificate out: who has one with
	// this user's name for its common name is this user without it. So the user client of a cluster with spec.tls.managed gets none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Password",order=2
	PasswordSecretRef *SecretKeyRef `json:"passwordSecretRef,omitempty"`
	// clientCertificate has the user log in with a certificate whose common name is the user's name, and no password.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Certificate",order=3
	ClientCertificate *UserCertificate `json:"clientCertificate,omitempty"`
	// roles are the names of all roles in etcd that the user has: any other one is revoked. Those that do not exist yet are granted
	// once they do.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +listType=set
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Roles",order=4
	Roles []string `json:"roles,omitempty"`
}

// UserCertificate says how a user gets a certificate.
type UserCertificate struct {
	// secretName is a Secret that the operator creates, with a certificate for this user in the keys of <cluster>-client: tls.crt,
	// tls.key, ca.crt and endpoints. It renews it, and replaces it together with the cluster's authorities. That takes spec.tls.managed
	// of the EtcdCluster. Without secretName you bring the certificate.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Secret to create"
	SecretName string `json:"secretName,omitempty"`
}

// UserLogin is how a user logs in.
type UserLogin string

// How users log in.
const (
	// LoginPassword is by name and password.
	LoginPassword UserLogin = "Password"
	// LoginCertificate is by a certificate's common name.
	LoginCertificate UserLogin = "Certificate"
)

// SecretVersion identifies the state of a Secret.
type SecretVersion struct {
	// uid of the Secret.
	// +required
	UID string `json:"uid"`
	// resourceVersion of the Secret.
	// +required
	ResourceVersion string `json:"resourceVersion"`
	// key that was read.
	// +required
	Key string `json:"key"`
}

// EtcdUserStatus is the state of the user.
//
// +kubebuilder:pruning:PreserveUnknownFields
type EtcdUserStatus struct {
	// user is its name in etcd.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Name in etcd",xDescriptors={"urn:alm:descriptor:text"},order=2
	User string `json:"user,omitempty"`
	// clusterID is the ID, in hexadecimal, of the etcd cluster that the operator has created the user in.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`
	// login is how the user logs in there.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Login",xDescriptors={"urn:alm:descriptor:text"},order=3
	Login UserLogin `json:"login,omitempty"`
	// password is the state of the Secret that the password was set from.
	// +optional
	Password *SecretVersion `json:"password,omitempty"`
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// operator is the one that reconciles this EtcdUser: no other does while that one is running.
	// +optional
	Operator *OperatorReference `json:"operator,omitempty"`
	// conditions describe the state.
	// +listType=map
	// +listMapKey=type
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Conditions",xDescriptors={"urn:alm:descriptor:io.kubernetes.conditions"},order=1
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// EtcdUser is a user of an EtcdCluster's authentication, and the roles that it has. It is deleted from etcd with this object.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=etcdus,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="has(self.spec.name) || size(self.metadata.name) <= 64",message="metadata.name has more than the 64 characters that a user's name can have: give it another one in spec.name"
// +kubebuilder:validation:XValidation:rule="has(self.spec.name) || self.metadata.name != 'root'",message="root is the operator: name another user in spec.name"
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.etcdCluster.name`
// +kubebuilder:printcolumn:name="User",type=string,JSONPath=`.status.user`
// +kubebuilder:printcolumn:name="Login",type=string,JSONPath=`.status.login`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +operator-sdk:csv:customresourcedefinitions:displayName="etcd User",resources={{EtcdCluster,v1beta2,etcdclusters.etcd.database.coreos.com},{Secret,v1},{Event,v1}},order=4
type EtcdUser struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec says who may log in, how, and what for.
	// +required
	Spec EtcdUserSpec `json:"spec"`
	// status is the state of the user.
	// +optional
	Status EtcdUserStatus `json:"status,omitzero"`
}

// NameInEtcd is the user's name there.
func (u *EtcdUser) NameInEtcd() string {
	if u.Spec.Name != "" {
		return u.Spec.Name
	}
	return u.Name
}

// EtcdUserList is a list of EtcdUsers.
//
// +kubebuilder:object:root=true
type EtcdUserList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []EtcdUser `json:"items"`
}

// FinalizerAccess keeps an EtcdUser or EtcdRole until it is deleted in etcd, or its EtcdCluster is.
const FinalizerAccess = "etcd.database.coreos.com/access"
