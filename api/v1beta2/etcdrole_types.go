package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PermissionType says what a permission allows.
//
// +kubebuilder:validation:Enum=Read;Write;ReadWrite
type PermissionType string

// The types of permissions.
const (
	// PermissionRead allows to read and to watch.
	PermissionRead PermissionType = "Read"
	// PermissionWrite allows to put and to delete.
	PermissionWrite PermissionType = "Write"
	// PermissionReadWrite allows both.
	PermissionReadWrite PermissionType = "ReadWrite"
)

// Permission allows something with some of the keys.
//
// +kubebuilder:validation:XValidation:rule="has(self.key) != has(self.prefix)",message="say which keys: key, prefix, or key with rangeEnd"
// +kubebuilder:validation:XValidation:rule="!has(self.rangeEnd) || has(self.key)",message="rangeEnd belongs to key"
// +kubebuilder:validation:XValidation:rule="!has(self.rangeEnd) || !has(self.key) || self.key < self.rangeEnd",message="rangeEnd must come after key: it is the first key that is not allowed"
type Permission struct {
	// type is Read, Write or ReadWrite.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Type"
	Type PermissionType `json:"type"`
	// key is the one key that the permission is for, or with rangeEnd the first one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Key"
	Key string `json:"key,omitempty"`
	// rangeEnd ends the range of keys that begins with key, and is not part of it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="End of the range"
	RangeEnd string `json:"rangeEnd,omitempty"`
	// prefix is what all keys begin with that the permission is for; if it is "", the permission is for every key.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Prefix"
	Prefix *string `json:"prefix,omitempty"`
}

// EtcdRoleSpec says what a role of an etcd cluster allows.
//
// +kubebuilder:validation:XValidation:rule="has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name)",message="name cannot be changed: create another EtcdRole"
type EtcdRoleSpec struct {
	// etcdCluster is the cluster that has the role.
	// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name",message="etcdCluster cannot be changed: create another EtcdRole"
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Cluster",order=0
	EtcdCluster EtcdClusterRef `json:"etcdCluster"`
	// name of the role in etcd, by default that of this object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_][A-Za-z0-9_.:@-]*$`
	// +kubebuilder:validation:XValidation:rule="self != 'root'",message="root is etcd's own role, which allows everything: name another one"
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Name in etcd",order=1
	Name string `json:"name,omitempty"`
	// permissions are all that the role has: any other one is revoked.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Permissions",order=2
	Permissions []Permission `json:"permissions,omitempty"`
}

// EtcdRoleStatus is the state of the role.
//
// +kubebuilder:pruning:PreserveUnknownFields
type EtcdRoleStatus struct {
	// role is its name in etcd.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Name in etcd",xDescriptors={"urn:alm:descriptor:text"},order=2
	Role string `json:"role,omitempty"`
	// clusterID is the ID, in hexadecimal, of the etcd cluster that the role was last written to.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// operator is the one that reconciles this EtcdRole: no other does while that one is running.
	// +optional
	Operator *OperatorReference `json:"operator,omitempty"`
	// conditions describe the state.
	// +listType=map
	// +listMapKey=type
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Conditions",xDescriptors={"urn:alm:descriptor:io.kubernetes.conditions"},order=1
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// EtcdRole is a role of an EtcdCluster's authentication: what users that have it may do. It is deleted from etcd with this object.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=etcdro,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="has(self.spec.name) || size(self.metadata.name) <= 64",message="metadata.name has more than the 64 characters that a role's name can have: give it another one in spec.name"
// +kubebuilder:validation:XValidation:rule="has(self.spec.name) || self.metadata.name != 'root'",message="root is etcd's own role, which allows everything: name another one in spec.name"
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.etcdCluster.name`
// +kubebuilder:printcolumn:name="Role",type=string,JSONPath=`.status.role`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +operator-sdk:csv:customresourcedefinitions:displayName="etcd Role",resources={{EtcdCluster,v1beta2,etcdclusters.etcd.database.coreos.com},{Event,v1}},order=5
type EtcdRole struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec says what the role allows.
	// +required
	Spec EtcdRoleSpec `json:"spec"`
	// status is the state of the role.
	// +optional
	Status EtcdRoleStatus `json:"status,omitzero"`
}

// NameInEtcd is the role's name there.
func (r *EtcdRole) NameInEtcd() string {
	if r.Spec.Name != "" {
		return r.Spec.Name
	}
	return r.Name
}

// EtcdRoleList is a list of EtcdRoles.
//
// +kubebuilder:object:root=true
type EtcdRoleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []EtcdRole `json:"items"`
}
