package certificates

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// text is a key of the user's Secret, called so that users find it.
func (s Source) text(key string) pki.Text {
	return pki.Text{Name: fmt.Sprintf("key %s of Secret %s", key, s.Name), PEM: s.Data[key]}
}

// present returns an error if there is nothing to read.
func (s Source) present(field string) error {
	switch {
	case s.Name == "":
		return fmt.Errorf("%s is not set, but the cluster runs with TLS on this side: name the Secret", field)
	case s.Data == nil:
		return fmt.Errorf("Secret %s (%s) does not exist: create it", s.Name, field) //nolint:staticcheck // a kind begins it
	}
	return nil
}

// pair reads a certificate and its key that are stored under these names.
func (s Source) pair(certificate, key string) (*given, error) {
	read, err := pki.ParsePair(s.text(certificate), s.text(key))
	if err != nil {
		return nil, err
	}
	return &given{Pair: read, text: s.text(certificate), certificate: s.Data[certificate], key: s.Data[key]}, nil
}

// given is a pair that the user maintains, as it is stored.
type given struct {
	*pki.Pair
	text             pki.Text
	certificate, key []byte
}

// verified returns an error unless these authorities verify the certificate now, in all of these ways.
func (g *given) verified(o Observed, authorities pki.Text, roots []*x509.Certificate, usages ...x509.ExtKeyUsage) error {
	return cmp.Or(
		pki.CheckWindow(g.text, g.Leaf(), o.Now),
		pki.CheckUsages(g.text, g.Leaf(), usages...),
		pki.CheckChain(g.text, g.Chain, authorities, roots, o.Now, usages...),
	)
}

// hosts are the DNS names of the members.
func hosts(o Observed) []string {
	var all []string
	for _, m := range o.Members {
		all = append(all, o.Names.host(m))
	}
	return all
}

// staticPeers checks the Secret for the members' connections to each other.
func staticPeers(o Observed) (*source, error) {
	from := o.Static.Peer
	if err := from.present(o.Static.Field + ".member.peerSecret"); err != nil {
		return nil, err
	}
	ca := from.text(KeyPeerCA)
	trust, err := pki.ParseAuthorities(ca)
	if err != nil {
		return nil, err
	}
	leaf, err := from.pair(KeyPeerCertificate, KeyPeerKey)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(
		leaf.verified(o, ca, trust, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth),
		pki.CheckNames(leaf.text, leaf.Leaf(), hosts(o)),
		reachable(o.Names, leaf),
	); err != nil {
		return nil, err
	}
	s := &source{trust: trust, leaf: leaf}
	s.warnings = append(outlives(leaf, trust), onlyWildcards(o.Names, leaf)...)
	return s, nil
}

// reachable returns an error if members could not recognize each other by a certificate. A member that is connected to looks for
// the other one's address in what the certificate's names resolve to. It cannot resolve a wildcard, so that has to match the name
// that the address resolves to in reverse, which always ends in the DNS domain of the Kubernetes cluster (etcd,
// client/pkg/transport, isHostInDNS).
func reachable(n Names, leaf *given) error {
	c := leaf.Leaf()
	wildcard := "*." + n.headless()
	longer := func(name string) bool { return strings.HasPrefix(name, wildcard+".") }
	if n.Domain != "" || len(direct(n, c)) > 0 || slices.ContainsFunc(c.DNSNames, longer) || len(c.IPAddresses) > 0 {
		return nil
	}
	return fmt.Errorf("%s has the wildcard %s only, by which members cannot recognize each other: add %s, or the wildcard with the DNS "+
		"domain of the Kubernetes cluster, such as %s.cluster.local", leaf.text.Name, wildcard, n.headless(), wildcard)
}

// direct are the names that resolve to members, and need no reverse lookup.
func direct(n Names, c *x509.Certificate) []string {
	return slices.DeleteFunc(slices.Clone(c.DNSNames), func(name string) bool {
		return name != n.headless() && (strings.HasPrefix(name, "*") || !strings.HasSuffix(name, "."+n.headless()))
	})
}

func onlyWildcards(n Names, leaf *given) []string {
	if len(direct(n, leaf.Leaf())) > 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s has wildcards only: members recognize each other by reverse DNS, and not at all without it. "+
		"Add %s", leaf.text.Name, n.headless())}
}

// outlives warns of a certificate that is of no use at its end, because none of its authorities is valid then.
func outlives(leaf *given, roots []*x509.Certificate) []string {
	end := leaf.Leaf().NotAfter
	if slices.ContainsFunc(roots, func(r *x509.Certificate) bool { return !r.NotAfter.Before(end) }) {
		return nil
	}
	return []string{leaf.text.Name + " expires after all of its authorities: renew these before"}
}

// staticClients checks the Secrets for connections of clients: of members, and of the operator. If only the operator's certificate cannot be
// used, because it is not root's, there is a source beside the error: the operator goes on with the present one.
func staticClients(o Observed) (*source, error) {
	server, operator := o.Static.Server, o.Static.Operator
	if err := cmp.Or(
		server.present(o.Static.Field+".member.serverSecret"), operator.present(o.Static.Field+".operatorSecret"),
	); err != nil {
		return nil, err
	}
	trustText, rootsText := server.text(KeyServerCA), operator.text(KeyClientCA)
	trust, err1 := pki.ParseAuthorities(trustText)
	roots, err2 := pki.ParseAuthorities(rootsText)
	leaf, err3 := server.pair(KeyServerCertificate, KeyServerKey)
	client, err4 := operator.pair(KeyClientCertificate, KeyClientKey)
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	if err := cmp.Or(
		leaf.verified(o, rootsText, roots, x509.ExtKeyUsageServerAuth),
		pki.CheckNames(leaf.text, leaf.Leaf(), hosts(o)),
		client.verified(o, trustText, trust, x509.ExtKeyUsageClientAuth),
		serverIsNotRoot(o, leaf),
	); err != nil {
		return nil, err
	}
	notRoot := staysRoot(o, client)
	if notRoot != nil {
		if client = usable(o, trustText, trust); client == nil {
			return nil, notRoot
		}
	}
	s := &source{trust: trust, roots: roots, leaf: leaf, client: client}
	s.warnings = slices.Concat(outlives(leaf, roots), outlives(client, trust), gateway(o, leaf, trustText, trust), serverUser(leaf), serviceNames(o.Names, leaf))
	return s, notRoot
}

// gateway warns if the members' HTTP gateway does not work: it connects to its own member with the server's certificate.
func gateway(o Observed, leaf *given, ca pki.Text, trust []*x509.Certificate) []string {
	if err := leaf.verified(o, ca, trust, x509.ExtKeyUsageClientAuth); err != nil {
		return []string{"etcd's HTTP gateway (/v3/) does not work; everything else does: " + err.Error()}
	}
	return nil
}

func serviceNames(n Names, leaf *given) []string {
	if err := pki.CheckNames(leaf.text, leaf.Leaf(), []string{n.service()}); err != nil {
		return []string{"clients cannot use the Service for clients: " + err.Error()}
	}
	return nil
}

// common warns of an authority of clients that is one of peers, too.
func common(o Observed, views []*view) []string {
	if o.Static == nil || len(views) < 2 || views[0].source == nil || views[1].source == nil {
		return nil
	}
	for _, c := range views[0].source.trust {
		if slices.ContainsFunc(views[1].source.trust, c.Equal) {
			return []string{fmt.Sprintf("%s and %s have the authority %s in common: who gets a certificate of it with a member's name is a member. "+
				"Give members another one than clients", o.Static.Peer.text(KeyPeerCA).Name, o.Static.Server.text(KeyServerCA).Name, pki.Subject(c))}
		}
	}
	return nil
}
