package v1beta2

// # EtcdUsers and EtcdRoles
//
// In Ready of an EtcdUser or EtcdRole, and in their events.
const (
	// ReasonApplied means that etcd has the user or the role as the spec says.
	//
	// Nothing.
	ReasonApplied = "Applied"
	// ReasonCorrected means that etcd did not have the user or the role as the spec says, and has been made to. Only events have it.
	//
	// Nothing. If the spec was not changed, somebody has changed the user or the role in etcd: change the object instead.
	ReasonCorrected = "Corrected"
	// ReasonRoleNotFound means that a role in spec.roles does not exist in etcd. The others are granted.
	//
	// Create the EtcdRole, or correct spec.roles.
	ReasonRoleNotFound = "RoleNotFound"
	// ReasonWaitingForCertificate means that the Secret in spec.clientCertificate.secretName has no certificate yet.
	//
	// Nothing, for a minute. Then see CertificatesValid and Degraded of the EtcdCluster.
	ReasonWaitingForCertificate = "WaitingForCertificate"
	// ReasonCertificateNotIssued means that the operator issues no certificates for the EtcdCluster, which does not have spec.tls.managed.
	//
	// Leave out spec.clientCertificate.secretName, and bring a certificate from an authority that the members trust.
	ReasonCertificateNotIssued = "CertificateNotIssued"
	// ReasonPasswordUnusable means that the Secret in spec.passwordSecretRef does not exist, does not have the key, or that its value is
	// no password: etcd takes 1 to 72 bytes. A user that is there keeps its password.
	//
	// Correct the Secret. It is read again within a minute.
	ReasonPasswordUnusable = "PasswordUnusable"
)
