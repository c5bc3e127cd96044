package v1beta2

// TLSPolicy says where certificates come from.
type TLSPolicy struct {
	// static names Secrets that the user maintains.
	// +optional
	Static *StaticTLS `json:"static,omitempty"`
}

// StaticTLS names Secrets with certificates.
type StaticTLS struct {
	// member holds the Secrets of the members.
	// +optional
	Member *MemberSecret `json:"member,omitempty"`
	// operatorSecret is the Secret with etcd-client.crt, etcd-client.key and etcd-client-ca.crt for the operator.
	// +optional
	OperatorSecret string `json:"operatorSecret,omitempty"`
}

// MemberSecret names the Secrets that members use.
type MemberSecret struct {
	// peerSecret holds peer.crt, peer.key and peer-ca.crt.
	// +optional
	PeerSecret string `json:"peerSecret,omitempty"`
	// serverSecret holds server.crt, server.key and server-ca.crt.
	// +optional
	ServerSecret string `json:"serverSecret,omitempty"`
}

// StaticTLS returns tls.static, or TLS.static, and the name of that field; nil if neither is set.
func (s *EtcdClusterSpec) StaticTLS() (static *StaticTLS, field string) {
	switch {
	case s.TLS != nil && s.TLS.Static != nil:
		return s.TLS.Static, "spec.tls.static"
	case s.LegacyTLS != nil && s.LegacyTLS.Static != nil:
		return s.LegacyTLS.Static, "spec.TLS.static"
	}
	return nil, ""
}
