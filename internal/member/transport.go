package member

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// Transport says which sides of a member use TLS. Its zero value is a member that uses none. A cluster's is recorded when the cluster is
// created: the member IDs are made from the peer URLs, and a member that advertises another scheme than it serves is unreachable. From then
// on it changes step by step.
type Transport struct {
	// PeerTLS is for the members among themselves, ClientTLS for clients. They are independent: each has authorities of its own.
	PeerTLS   bool `json:"peerTLS,omitempty"`
	ClientTLS bool `json:"clientTLS,omitempty"`
	// ClientBoth is whether members serve clients by the other scheme, too, on the same port. That is so while a running cluster is
	// switched: ClientTLS is what clients are told to use.
	ClientBoth bool `json:"clientBoth,omitempty"`
	// ClientUntold is true while ClientBoth is if no client was told to use the other scheme since all members are to serve it: it can be given
	// up at once.
	ClientUntold bool `json:"clientUntold,omitempty"`
	// PeerBoth is the same for peers: PeerTLS is the scheme that members join with. etcd serves peers by one scheme on each port, so the
	// other scheme is on the other one of PeerPort and OtherPeerPort.
	PeerBoth bool `json:"peerBoth,omitempty"`
	// PeerUntold is the same for peers: no member was listed by the other scheme.
	PeerUntold bool `json:"peerUntold,omitempty"`
	// PeerPort is the port of the scheme that PeerTLS says: 0 for the constant PeerPort, or OtherPeerPort. A switch ends on the other port
	// than it began.
	PeerPort int32 `json:"peerPort,omitempty"`
}

// ServesPeerTLS reports whether members serve each other by TLS, and so need certificates for it.
func (t Transport) ServesPeerTLS() bool { return t.PeerTLS || t.PeerBoth }

// ServesClientTLS reports whether members serve clients by TLS, and so need certificates for it.
func (t Transport) ServesClientTLS() bool { return t.ClientTLS || t.ClientBoth }

// ServesClientPlain reports whether members serve clients without TLS.
func (t Transport) ServesClientPlain() bool { return !t.ClientTLS || t.ClientBoth }

// ClientsNeedTLS reports whether members serve clients by TLS alone, so that etcd can know every one of them by a certificate.
func (t Transport) ClientsNeedTLS() bool { return t.ClientTLS && !t.ClientBoth }

// SecuresAny reports whether any side serves TLS, so that members have certificates.
func (t Transport) SecuresAny() bool { return t.ServesPeerTLS() || t.ServesClientTLS() }

// Served is the same for transports that a member serves alike: while it serves both schemes, which one others are told to use changes
// nothing for it. Pods are made from it, so that nothing restarts for that.
func (t Transport) Served() Transport {
	if t.PeerBoth && !t.PeerTLS {
		t = t.OtherPeers()
	}
	t.ClientTLS = t.ServesClientTLS()
	t.PeerUntold, t.ClientUntold = false, false
	return t
}

// Serves reports whether a member with this transport serves whoever was told to connect by that one.
func (t Transport) Serves(told Transport) bool {
	clients := t.ServesClients(told.ClientTLS)
	if t.PeerBoth && t.PeerTLS != told.PeerTLS {
		t = t.OtherPeers()
	}
	return clients && t.PeerTLS == told.PeerTLS && cmp.Or(t.PeerPort, PeerPort) == cmp.Or(told.PeerPort, PeerPort)
}

// ServesClients reports whether a member that serves like that serves clients that connect by TLS, or without.
func (t Transport) ServesClients(tls bool) bool {
	if tls {
		return t.ServesClientTLS()
	}
	return t.ServesClientPlain()
}

// OtherPeers is the transport that tells peers of the other scheme, on the other port.
func (t Transport) OtherPeers() Transport {
	t.PeerTLS, t.PeerUntold = !t.PeerTLS, false
	if t.PeerPort == OtherPeerPort {
		t.PeerPort = 0
	} else {
		t.PeerPort = OtherPeerPort
	}
	return t
}

// IsZero reports whether this is the zero value; encoding/json omits it.
func (t Transport) IsZero() bool { return t == Transport{} }

// String is for messages. It does not say which port peers have.
func (t Transport) String() string {
	text := "no TLS"
	switch {
	case t.ServesPeerTLS() && t.ServesClientTLS():
		text = "TLS for peers and clients"
	case t.ServesPeerTLS():
		text = "TLS for peers only"
	case t.ServesClientTLS():
		text = "TLS for clients only"
	}
	switch {
	case t.PeerBoth && t.ClientBoth:
		text += ", both of whom may still connect without"
	case t.PeerBoth:
		text += ", and peers may still connect without"
	case t.ClientBoth:
		text += ", and clients may still connect without"
	}
	return text
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

// Sides are those that serve TLS.
func (t Transport) Sides() (sides []Side) {
	if t.ServesPeerTLS() {
		sides = append(sides, Side{PeerCertFile, PeerKeyFile, PeerAuthoritiesFile, peerSection})
	}
	if t.ServesClientTLS() {
		sides = append(sides, Side{ServerCertFile, ServerKeyFile, ServerAuthoritiesFile, "client-transport-security"})
	}
	return sides
}

// PeerURL is where the other members reach the member on that host: by the scheme that PeerTLS says.
func PeerURL(host string, t Transport) string {
	return fmt.Sprintf("%s://%s:%d", t.PeerScheme(), host, cmp.Or(t.PeerPort, PeerPort))
}

// PeerTLSPort is the port on which members serve each other with TLS, if they do.
func (t Transport) PeerTLSPort() int {
	if !t.PeerTLS && t.PeerBoth {
		t = t.OtherPeers()
	}
	return int(cmp.Or(t.PeerPort, PeerPort))
}

// PeerURLAt is the URL of the same host as the given one, as PeerURL makes it; that one itself if it is no URL.
func (t Transport) PeerURLAt(listed string) string {
	u, err := url.Parse(listed)
	if err != nil || u.Hostname() == "" {
		return listed
	}
	host := u.Hostname()
	if strings.Contains(host, ":") { // an IPv6 address
		host = "[" + host + "]"
	}
	return PeerURL(host, t)
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
