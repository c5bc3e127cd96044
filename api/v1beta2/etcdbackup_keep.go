package v1beta2

// KeepPolicy is of how many hours, days, weeks (from Monday) and months, in UTC, the latest backup is retained.
type KeepPolicy struct {
	// hourly is the number of hours.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Hours",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number"},order=24
	Hourly int32 `json:"hourly,omitempty"`
	// daily is the number of days.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Days",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number"},order=24
	Daily int32 `json:"daily,omitempty"`
	// weekly is the number of weeks.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Weeks",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number"},order=24
	Weekly int32 `json:"weekly,omitempty"`
	// monthly is the number of months.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Months",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number"},order=24
	Monthly int32 `json:"monthly,omitempty"`
}
