package certificates

import (
	"crypto/x509"
	"hash/fnv"
	"net"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// Common names of clients. In etcd they are names of users, if authentication is on.
const (
	operatorUser = "root"
	// ClientUser is the one in the Secret for applications.
	ClientUser = "client"
)

var (
	both       = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	clientOnly = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
)

// peerRequest is what a member's certificate for other members says. Its own name is for those who connect to it, and the one that
// all members have in common for those that it connects to: it resolves to all members, so that no reverse lookup is needed. The wildcard
// is for a member that joins after the keys of the authority were lost: it gets a copy until all trust another one.
func peerRequest(o Observed, name string) pki.Request {
	common := o.Names.headless()
	return pki.Request{CommonName: name, Names: []string{o.Names.host(name), common, "*." + common}, Usages: both}
}

// serverRequest is what a member's certificate for clients says. Its common name is empty and it is good for clients, too, because
// etcd's gateway connects to its own member with it, on behalf of users.
func serverRequest(o Observed, name string) pki.Request {
	n := o.Names
	service := member.ClientService(n.Cluster)
	names := []string{
		n.host(name), "*." + n.headless(),
		service, service + "." + n.Namespace, service + "." + n.Namespace + ".svc",
		"localhost", "127.0.0.1", "::1",
	}
	if n.Domain != "" {
		names = append(names, n.service())
	}
	extra, _ := o.Managed.extraNames()
	for _, extra := range extra {
		if !slices.Contains(names, extra) {
			names = append(names, extra)
		}
	}
	return pki.Request{Names: names, Usages: both}
}

// extraNames are those that the user has added; wrong are those that no certificate can have.
func (m *Managed) extraNames() (names, wrong []string) {
	if m == nil {
		return nil, nil
	}
	for _, n := range m.ExtraServerNames {
		if net.ParseIP(n) != nil || len(validation.IsDNS1123Subdomain(n)) == 0 || len(validation.IsWildcardDNS1123Subdomain(n)) == 0 {
			names = append(names, n)
		} else {
			wrong = append(wrong, n)
		}
	}
	return names, wrong
}

func clientRequest(user string) pki.Request { return pki.Request{CommonName: user, Usages: clientOnly} }

// says reports whether a certificate is one that was made for a request, whoever has signed it.
func says(c *x509.Certificate, r pki.Request) bool {
	var dns, ips []string
	for _, name := range r.Names {
		if ip := net.ParseIP(name); ip != nil {
			ips = append(ips, ip.String())
		} else {
			dns = append(dns, name)
		}
	}
	var has []string
	for _, ip := range c.IPAddresses {
		has = append(has, ip.String())
	}
	return c.Subject.CommonName == pki.CommonName(r.CommonName) && same(c.DNSNames, dns) && same(has, ips) && same(c.ExtKeyUsage, r.Usages)
}

func same[T interface{ ~int | ~string }](a, b []T) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// renewAt is when the cluster's own leaf is renewed: when two thirds of its life are over, and up to a tenth earlier, so that not
// all are renewed at once. It is always the same for the same certificate.
func renewAt(c *x509.Certificate) time.Time {
	const steps = 1000
	sum := fnv.New32a()
	_, _ = sum.Write(c.SerialNumber.Bytes()) // never fails
	life := c.NotAfter.Sub(c.NotBefore)
	jitter := life / 10 / steps * time.Duration(sum.Sum32()%steps)
	return c.NotBefore.Add(life * 2 / 3).Add(-jitter)
}

// ending is whether a sixth of the life of leaves, or of the authority's if that is shorter, is left of an authority: nobody who accepts no
// other one is waited for any longer, because leaves of that authority would expire with it, and members need time to read others.
func (w *view) ending(c *x509.Certificate) bool {
	life := min(w.o.Managed.leafLifetime(), c.NotAfter.Sub(c.NotBefore))
	return !w.o.Now.Before(c.NotAfter.Add(-life / 6))
}

// urgentAt is when a leaf is replaced although others wait: a sixth of its life is left.
func urgentAt(c *x509.Certificate) time.Time {
	return c.NotAfter.Add(-c.NotAfter.Sub(c.NotBefore) / 6)
}
