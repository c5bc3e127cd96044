package v1beta2

// AuthPolicy switches etcd's authentication on or off.
type AuthPolicy struct {
	// enabled switches etcd's authentication on (true) or off (false). While it is on, everyone who connects is the user that the common
	// name of the client certificate names, or one that logs in with a password, and may do what the roles of that user allow. The
	// operator is the user root. Users and roles stay when it is switched off. While it is on, etcd's HTTP gateway (/v3/) refuses clients
	// whose certificate has a common name.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Enabled",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch"}
	Enabled bool `json:"enabled"`
	// rootPasswordSecretRef names a Secret with the password of the user root, 1 to 72 bytes. When it changes, so does the password.
	// Without it nobody can log in as root with a password, only with a client certificate that has the common name root.
	// +optional
	RootPasswordSecretRef *SecretKeyRef `json:"rootPasswordSecretRef,omitempty"`
}

// SecretKeyRef names a key of a Secret in the same namespace.
type SecretKeyRef struct {
	// name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Secret",xDescriptors={"urn:alm:descriptor:io.kubernetes:Secret"}
	Name string `json:"name"`
	// key is the one whose value counts.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:default=password
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Key"
	Key string `json:"key,omitempty"`
}

// AuthStatus is what is known of etcd's authentication.
type AuthStatus struct {
	// enabled is true if etcd's authentication is on.
	// +required
	Enabled bool `json:"enabled"`
}

// InternalAuthStatus is what was done about etcd's user root.
type InternalAuthStatus struct {
	// clusterID is etcd's cluster ID then: a restore brings users of its own.
	ClusterID string `json:"clusterID"`
	// rootPassword is where root's password came from: UID and resourceVersion of the Secret, or random.
	RootPassword string `json:"rootPassword"`
}
