package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TLSPolicy says where certificates come from, and so whether peers and clients use TLS. Both may change while the cluster runs: members
// serve with and without TLS until all of them have changed, and clients have had two minutes to.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.static) && has(self.managed))",message="give tls.static or tls.managed, not both: certificates come either from your Secrets or from the operator"
// +kubebuilder:validation:XValidation:rule="!has(self.plaintextClients) || self.plaintextClients != 'Allowed' || has(self.managed) || has(self.static) && has(self.static.member) && has(self.static.member.serverSecret) && size(self.static.member.serverSecret) > 0",message="tls.plaintextClients: Allowed is for clusters that serve clients with TLS, too: set tls.managed, or tls.static with member.serverSecret; or remove plaintextClients"
type TLSPolicy struct {
	// managed has the operator create authorities for this cluster alone, issue the members' certificates, and renew both. Peers and
	// clients use TLS. Applications find a client certificate in the Secret <name>-client. {} takes every default.
	// +optional
	Managed *ManagedTLS `json:"managed,omitempty"`
	// static names Secrets that you maintain, with the keys that coreos/etcd-operator used.
	// +optional
	Static *StaticTLS `json:"static,omitempty"`
	// plaintextClients says whether members serve clients without TLS as well, on the same port: Refused, which is the default, or Allowed.
	// Allowed is for the time until every client has its certificates: whoever reaches a member's port 2379 may read and write everything.
	// It excludes spec.auth. Peers use TLS alone either way, and so does the operator.
	// +optional
	PlaintextClients PlaintextClients `json:"plaintextClients,omitempty"`
}

// PlaintextClients says what becomes of clients without TLS, where there is TLS for clients.
//
// +kubebuilder:validation:Enum=Refused;Allowed
type PlaintextClients string

// What becomes of clients without TLS.
const (
	PlaintextRefused PlaintextClients = "Refused"
	PlaintextAllowed PlaintextClients = "Allowed"
)

// ManagedTLS configures certificates that the operator issues.
//
// +kubebuilder:validation:XValidation:rule="!has(self.leafDuration) || duration(self.leafDuration) >= duration('1h')",message="tls.managed.leafDuration must be at least 1h"
// +kubebuilder:validation:XValidation:rule="!has(self.caDuration) || duration(self.caDuration) >= duration('24h')",message="tls.managed.caDuration must be at least 24h"
// +kubebuilder:validation:XValidation:rule="duration(has(self.caDuration) ? self.caDuration : '43800h') >= duration(has(self.leafDuration) ? self.leafDuration : '2160h')",message="tls.managed.caDuration must be at least leafDuration: no certificate outlives its authority"
type ManagedTLS struct {
	// leafDuration is how long the certificates of members and clients last: at least 1h; 2160h (90 days) by default. They are renewed
	// when between a third and 43% of it is left, without a restart.
	// +optional
	LeafDuration *metav1.Duration `json:"leafDuration,omitempty"`
	// caDuration is how long an authority lasts: at least 24h and leafDuration; 43800h (5 years) by default. When a third of it is left
	// it is replaced, for which every member's pod is recreated twice, one after the other.
	// +optional
	CADuration *metav1.Duration `json:"caDuration,omitempty"`
	// extraServerNames are DNS names and IP addresses under which clients reach the members in addition to those inside the Kubernetes
	// cluster, such as that of a load balancer.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	ExtraServerNames []string `json:"extraServerNames,omitempty"`
	// issuerRef has cert-manager issue the authorities, one for peers and one for clients. Members trust these two and nothing else of
	// the issuer: who else gets certificates from it cannot connect. The issuer has to sign authorities (CA:TRUE). The admission
	// policies, where they are installed, admit this only from who may create certificates.cert-manager.io in the namespace.
	// +optional
	IssuerRef *IssuerRef `json:"issuerRef,omitempty"`
}

// IssuerRef names an issuer of cert-manager.
type IssuerRef struct {
	// name is that of the issuer.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
	// kind is Issuer, in the namespace of the EtcdCluster, ClusterIssuer, or that of another group; Issuer by default.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Kind string `json:"kind,omitempty"`
	// group is the issuer's API group; cert-manager.io by default.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Group string `json:"group,omitempty"`
}

// StaticTLS names Secrets with certificates.
type StaticTLS struct {
	// member holds the Secrets of the members.
	// +optional
	Member *MemberSecret `json:"member,omitempty"`
	// operatorSecret is the Secret with etcd-client.crt, etcd-client.key and etcd-client-ca.crt, by which the operator and its backups
	// are clients of the members. Give it together with member.serverSecret.
	// +optional
	OperatorSecret string `json:"operatorSecret,omitempty"`
}

// MemberSecret names the Secrets that members use. One certificate serves all members, so it needs the name
// *.<cluster>.<namespace>.svc; that of the peers also <cluster>.<namespace>.svc, by which members recognize each other. With
// spec.pod.clusterDomain all names end in that.
type MemberSecret struct {
	// peerSecret holds peer.crt, peer.key and peer-ca.crt, for connections between members.
	// +optional
	PeerSecret string `json:"peerSecret,omitempty"`
	// serverSecret holds server.crt, server.key and server-ca.crt, for connections of clients. server-ca.crt are the authorities of the
	// clients' certificates.
	// +optional
	ServerSecret string `json:"serverSecret,omitempty"`
}

// StaticTLS returns tls.static, or TLS.static, and the name of that field; nil if neither is set.
func (s *EtcdClusterSpec) StaticTLS() (static *StaticTLS, field string) {
	switch {
	case s.TLS != nil && s.TLS.Static != nil:
		return s.TLS.Static, "spec.tls.static"
	case s.LegacyTLS != nil && s.LegacyTLS.Static != nil && s.ManagedTLS() == nil:
		return s.LegacyTLS.Static, "spec.TLS.static"
	}
	return nil, ""
}

// ManagedTLS returns tls.managed, or TLS.managed; nil if neither is set.
func (s *EtcdClusterSpec) ManagedTLS() *ManagedTLS {
	switch {
	case s.TLS != nil:
		return s.TLS.Managed
	case s.LegacyTLS != nil:
		return s.LegacyTLS.Managed
	}
	return nil
}

// AllowsPlaintextClients reports whether clients are to be served without TLS as well as with it.
func (s *EtcdClusterSpec) AllowsPlaintextClients() bool {
	switch {
	case s.TLS != nil:
		return s.TLS.PlaintextClients == PlaintextAllowed
	case s.LegacyTLS != nil:
		return s.LegacyTLS.PlaintextClients == PlaintextAllowed
	}
	return false
}

// TLSStatus is what is known of a cluster's certificates.
type TLSStatus struct {
	// step says what is being done about certificates, empty if nothing is.
	// +optional
	Step string `json:"step,omitempty"`
	// clientSecret is the Secret with a client certificate for applications; absent if the certificates are yours.
	// +optional
	ClientSecret string `json:"clientSecret,omitempty"`
	// trustSecret is the Secret with the authorities that new members trust.
	// +optional
	TrustSecret string `json:"trustSecret,omitempty"`
	// rotated is the value of the annotation etcd.database.coreos.com/rotate that was acted on last: what it asks for has begun. It is
	// done once step is empty.
	// +optional
	Rotated string `json:"rotated,omitempty"`
	// certificates are those in use: at most 64, the cluster's own, and of those of EtcdUsers the ones that expire first. The condition
	// CertificatesValid and the metric of when they expire are about all.
	// +listType=map
	// +listMapKey=secret
	// +listMapKey=use
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Certificates []CertificateStatus `json:"certificates,omitempty"`
	// unlistedCertificates is the number of those in use that certificates has no room for.
	// +optional
	UnlistedCertificates int32 `json:"unlistedCertificates,omitempty"`
}

// CertificateStatus describes a certificate.
type CertificateStatus struct {
	// secret holds it.
	// +required
	Secret string `json:"secret"`
	// use is the key that it is stored under, without .crt: peer, server, tls or etcd-client.
	// +required
	Use string `json:"use"`
	// issuer is the name of its authority, such as CN=etcd of default/example.
	// +optional
	Issuer string `json:"issuer,omitempty"`
	// notAfter is when it expires.
	// +required
	NotAfter metav1.Time `json:"notAfter"`
	// renewTime is when the operator renews it; absent if you do.
	// +optional
	RenewTime *metav1.Time `json:"renewTime,omitempty"`
}
