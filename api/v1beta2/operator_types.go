package v1beta2

// OperatorReference names an operator by the Lease of its leader election: of the processes that compete for it one acts at a
// time. The reservation is valid as long as the Lease is held and renewed. Once it has not been for a minute another operator may
// take over; for an operator that cannot read the Lease to take over, set the field to null.
type OperatorReference struct {
	// namespace of the Lease: the operator's own.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Namespace string `json:"namespace"`
	// lease is its name, which is the same for every operator: no operator may read Leases of any other name.
	// +kubebuilder:validation:Enum=etcd-operator.etcd.database.coreos.com
	// +required
	Lease string `json:"lease"`
	// uid of the Lease. A Lease of this name with another UID is not the operator's; if empty, any is.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	UID string `json:"uid,omitempty"`
}
