package v1beta2

// OperatorReference names an operator by the Lease of its leader election: of the processes that want that Lease one acts at a
// time. The claim is good as long as the Lease is held and renewed. Once it was not for a minute another operator may take
// its place; to have one take it that cannot see the Lease, set the field to null.
type OperatorReference struct {
	// namespace of the Lease: the operator's own.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Namespace string `json:"namespace"`
	// lease is its name. There is no other: an operator that reads those of others may read no Lease but by that name.
	// +kubebuilder:validation:Enum=etcd-operator.etcd.database.coreos.com
	// +required
	Lease string `json:"lease"`
	// uid is that of the Lease. A Lease of this name that has another one is not the operator's; without uid any is.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	UID string `json:"uid,omitempty"`
}
