package etcdcluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// observeSides finds out which sides there are certificates for. Those that are to come are made before members are told to serve them, and
// those that are left are renewed until the last pod is gone that does.
func (p *pass) observeSides() {
	p.transport = resources.Transport(p.cluster)
	asked := resources.SpecTransport(&p.cluster.Spec)
	served := p.served()
	p.sides = member.Transport{PeerTLS: served.PeerTLS || asked.PeerTLS, ClientTLS: served.ClientTLS || asked.ClientTLS}
}

// served are the sides that members are to serve with TLS, or that any of them still does, or would if its pod were there: a lost pod is
// created as its volume says. A restore that is canceled brings the previous members back, too.
func (p *pass) served() member.Transport {
	peers, clients := p.transport.ServesPeerTLS(), p.transport.ServesClientTLS()
	for _, pod := range p.pods {
		t := resources.PodTransport(pod)
		peers, clients = peers || t.ServesPeerTLS(), clients || t.ServesClientTLS()
	}
	for _, v := range p.observed.Volumes {
		if p.observed.Cluster.Resumes(v) {
			peers, clients = peers || v.Transport.ServesPeerTLS(), clients || v.Transport.ServesClientTLS()
		}
	}
	return member.Transport{PeerTLS: peers, ClientTLS: clients}
}

// coming are the sides that no member serves yet.
func (p *pass) coming() member.Transport {
	served := p.served()
	return member.Transport{PeerTLS: p.sides.PeerTLS && !served.PeerTLS, ClientTLS: p.sides.ClientTLS && !served.ClientTLS}
}

// leaving are the sides that the spec does not ask for any more.
func (p *pass) leaving() member.Transport {
	asked := resources.SpecTransport(&p.cluster.Spec)
	return member.Transport{PeerTLS: p.sides.PeerTLS && !asked.PeerTLS, ClientTLS: p.sides.ClientTLS && !asked.ClientTLS}
}

// switchingClients reports whether clients are about to be served with TLS only.
func (p *pass) switchingClients() bool {
	return resources.SpecTransport(&p.cluster.Spec).ClientsNeedTLS() && !p.transport.ClientsNeedTLS()
}

// prepared reports whether everybody has the certificates that the spec asks for: every member, whom they trust, the operator, and whoever
// finds theirs in a Secret of the cluster. None of them is being replaced.
func (p *pass) prepared() bool {
	asked := resources.SpecTransport(&p.cluster.Spec)
	d := p.certified
	if !asked.SecuresAny() || d == nil || !d.Certified || d.Blocking != nil {
		return false
	}
	var names []string
	var keys []string
	if asked.PeerTLS {
		keys = append(keys, certificates.KeyPeerCertificate, certificates.KeyPeerKey)
	}
	if asked.ClientTLS {
		keys = append(keys, certificates.KeyServerCertificate, certificates.KeyServerKey)
		names = append(names, certificates.AgentName(p.cluster.Name))
	}
	if asked.ClientTLS && p.cluster.Spec.ManagedTLS() != nil {
		names = append(names, certificates.ClientName(p.cluster.Name))
	}
	for _, name := range p.memberNames() {
		if secret := d.secrets[certificates.MemberName(name)]; secret == nil || !secret.holds(keys...) {
			return false
		}
	}
	for _, name := range names {
		if d.secrets[name] == nil {
			return false
		}
	}
	trust := certificates.TrustName(p.cluster.Name, d.TrustHash)
	recorded := p.before.TLS != nil && p.before.TLS.TrustSecret == trust
	return recorded && d.secrets[trust] != nil && (!asked.ClientTLS || p.config != nil)
}

// trusts reports whether a pod trusts those whom new ones are to trust. The Secret that it mounts may be of other sides besides: it need not
// be created anew for what its member does not serve.
func (p *pass) trusts(pod *corev1.Pod, trust string) bool {
	same := trust == certificates.TrustName(p.cluster.Name, p.certified.TrustHash) && slices.Contains(p.certified.Trusting, pod.Name)
	return resources.TrustOf(pod) == trust || same
}
