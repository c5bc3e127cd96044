package member

import "fmt"

// Transport says which sides of a member use TLS. Its zero value is a member that uses none. A cluster's is recorded when the cluster is
// created: the member IDs are made from the peer URLs, and a member that advertises another scheme than it serves is unreachable.
type Transport struct {
	// PeerTLS is for the members among themselves, ClientTLS for clients. They are independent: each has authorities of its own.
	PeerTLS   bool `json:"peerTLS,omitempty"`
	ClientTLS bool `json:"clientTLS,omitempty"`
}

// IsZero reports whether no side uses TLS; encoding/json omits such a Transport by it.
func (t Transport) IsZero() bool { return t == Transport{} }

// String is for messages.
func (t Transport) String() string {
	switch t {
	case Transport{PeerTLS: true, ClientTLS: true}:
		return "TLS for peers and clients"
	case Transport{PeerTLS: true}:
		return "TLS for peers only"
	case Transport{ClientTLS: true}:
		return "TLS for clients only"
	}
	return "no TLS"
}

// PeerScheme is the URL scheme between members.
func (t Transport) PeerScheme() string { return scheme(t.PeerTLS) }

// ClientScheme is the URL scheme for clients.
func (t Transport) ClientScheme() string { return scheme(t.ClientTLS) }

func scheme(tls bool) string {
	if tls {
		return "https"
	}
	return "http"
}

// Side is the files of one side with TLS: Cert and Key in CertificatesDir, Authorities in TrustDir.
type Side struct {
	Cert, Key, Authorities string
	// section is the one in etcd's configuration file.
	section string
}

// peerSection is that of the members among themselves.
const peerSection = "peer-transport-security"

// Sides are those that use TLS.
func (t Transport) Sides() (sides []Side) {
	if t.PeerTLS {
		sides = append(sides, Side{PeerCertFile, PeerKeyFile, PeerAuthoritiesFile, peerSection})
	}
	if t.ClientTLS {
		sides = append(sides, Side{ServerCertFile, ServerKeyFile, ServerAuthoritiesFile, "client-transport-security"})
	}
	return sides
}

// PeerURL is where the other members reach the member on that host.
func PeerURL(host string, t Transport) string {
	return fmt.Sprintf("%s://%s:%d", t.PeerScheme(), host, PeerPort)
}

// ClientURL is where clients reach the member on that host.
func ClientURL(host string, t Transport) string {
	return fmt.Sprintf("%s://%s:%d", t.ClientScheme(), host, ClientPort)
}

// Folders in the etcd container where a member with TLS has its own certificates and the authorities that it trusts.
const (
	CertificatesDir = "/etc/etcdtls/member"
	TrustDir        = "/etc/etcdtls/trust"
)

// Files in CertificatesDir, also the keys of the Secret that is mounted there. A member has those of the sides with TLS only. They are
// named as in the Secrets of coreos/etcd-operator.
const (
	PeerCertFile   = "peer.crt"
	PeerKeyFile    = "peer.key"
	ServerCertFile = "server.crt"
	ServerKeyFile  = "server.key"
)

// Files in TrustDir, also the keys of the Secret that is mounted there: bundles of authorities.
const (
	PeerAuthoritiesFile   = "peer-ca.crt"
	ServerAuthoritiesFile = "server-ca.crt"
)
