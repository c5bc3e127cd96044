package certificates

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/pki"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// RotatedAnnotation of the Secret of AuthorityName is the value of v1beta2.AnnotationRotate that was carried out last.
const RotatedAnnotation = "etcd.database.coreos.com/rotated"

// AuthorityName is the Secret with a cluster's own authorities. No pod mounts it.
func AuthorityName(cluster string) string { return cluster + "-ca" }

// IssuedName is the Certificate, and its Secret, of the authority of the peers' side or the clients' that cert-manager is asked for. No
// pod mounts it. No Secret of another cluster can have such a name.
func IssuedName(cluster string, peer bool) string {
	if peer {
		return AuthorityName(cluster) + "-" + peers.use
	}
	return AuthorityName(cluster) + "-" + clients.use
}

// AuthoritySubject is the common name of a cluster's authority for one side.
func AuthoritySubject(namespace, cluster string, peer bool) string {
	h := clients
	if peer {
		h = peers
	}
	return pki.CommonName(fmt.Sprintf("%s %s/%s", h.authority, namespace, cluster))
}

// MemberName is the Secret with a member's leaves.
func MemberName(name string) string { return name + "-tls" }

// TrustName is the immutable Secret with the authorities of that TrustHash.
func TrustName(cluster, hash string) string { return cluster + "-trust-" + hash }

// ClientName is the Secret for applications.
func ClientName(cluster string) string { return cluster + "-client" }

// AgentName is the Secret for the pods that back up and restore.
func AgentName(cluster string) string { return cluster + "-agent" }

// Reserved reports whether a Secret of that name is, or could become, one of the cluster's, or what cert-manager writes for any other
// cluster, even one that does not exist yet: cert-manager would put an authority and its key into whatever Secret has its name.
func Reserved(cluster, name string) bool {
	if strings.HasSuffix(name, IssuedName("", true)) || strings.HasSuffix(name, IssuedName("", false)) {
		return true
	}
	rest, of := strings.CutPrefix(name, cluster+"-")
	if !of {
		return false
	}
	if number, members := strings.CutSuffix(rest, "-tls"); members {
		_, err := strconv.ParseUint(number, 10, 64)
		return err == nil
	}
	return rest == "ca" || rest == "client" || rest == "agent" || strings.HasPrefix(rest, "trust-")
}

// Keys of the Secrets.
const (
	KeyPeerCertificate   = member.PeerCertFile
	KeyPeerKey           = member.PeerKeyFile
	KeyPeerCA            = member.PeerAuthoritiesFile
	KeyServerCertificate = member.ServerCertFile
	KeyServerKey         = member.ServerKeyFile
	KeyServerCA          = member.ServerAuthoritiesFile
	// Of the Secret of AuthorityName, while another authority takes the place of this one.
	KeyFormerServer = formerPrefix + KeyServerCertificate
	// Of the operator's Secret, and of those for clients.
	KeyClientCertificate = task.KeyClientCertificate
	KeyClientKey         = task.KeyClientKey
	KeyClientCA          = task.KeyClientCA
	// Of the Secret for applications, besides the three above.
	KeyCertificate = "tls.crt"
	KeyKey         = "tls.key"
	KeyCA          = "ca.crt"
	KeyEndpoints   = "endpoints"
)

// host is a member's DNS name.
func (n Names) host(name string) string { return member.Host(name, n.Cluster, n.Namespace, n.Domain) }

// headless is the DNS name that all members have in common.
func (n Names) headless() string { return fmt.Sprintf("%s.%s.svc%s", n.Cluster, n.Namespace, n.Domain) }

// service is the DNS name of the Service for clients.
func (n Names) service() string {
	return fmt.Sprintf("%s.%s.svc%s", member.ClientService(n.Cluster), n.Namespace, n.Domain)
}
