package certificates

import (
	"bytes"
	"net"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// goingOn is what a decision about one side is made on. A side that the spec does not ask for any more goes on as it was: if the operator
// has issued its certificates, it renews them, with the names and for the time that they have; the user's stay as they were copied.
func (o Observed) goingOn(h half) Observed {
	if !h.of(o.Leaving) {
		return o
	}
	o.Managed, o.Static = o.managedBefore(h), nil
	return o
}

// managedBefore is how the certificates of one side were issued, nil unless all that members have are of the cluster's own authorities.
func (o Observed) managedBefore(h half) *Managed {
	var before *Managed
	signers := readSigners(o, h)
	if signers.current == nil {
		return nil
	}
	for _, name := range o.Members {
		data := o.Published[name]
		pair, err := pki.ParsePair(pki.Text{PEM: data[h.certificate], Own: true}, pki.Text{PEM: data[h.key]})
		if err != nil {
			continue // it may not have any yet
		}
		if !slices.ContainsFunc(signers.all(), func(s *signer) bool { return pair.Leaf().CheckSignatureFrom(s.Leaf()) == nil }) {
			return nil
		}
		if before == nil {
			ca, leaf := signers.current.Leaf(), pair.Leaf()
			before = &Managed{
				LeafDuration: leaf.NotAfter.Sub(leaf.NotBefore) - pki.Backdate, CADuration: ca.NotAfter.Sub(ca.NotBefore) - pki.Backdate,
				ExtraServerNames: extraNames(o, h, name, pair),
			}
		}
	}
	return before
}

// extraNames are those in a member's certificate for clients that the operator would not have given by itself.
func extraNames(o Observed, h half, name string, pair *pki.Pair) []string {
	if h != clients {
		return nil
	}
	o.Managed = nil
	usual := serverRequest(o, name).Names
	names := slices.Clone(pair.Leaf().DNSNames)
	for _, ip := range pair.Leaf().IPAddresses {
		names = append(names, ip.String())
	}
	return slices.DeleteFunc(names, func(given string) bool {
		return slices.ContainsFunc(usual, func(u string) bool {
			return u == given || net.ParseIP(u) != nil && net.ParseIP(u).Equal(net.ParseIP(given))
		})
	})
}

// trusts reports whether a pod trusts these on each side that it has.
func (p Pod) trusts(data map[string][]byte) bool {
	for key, mounted := range p.Trust {
		if wanted := data[key]; wanted != nil && !bytes.Equal(mounted, wanted) {
			return false
		}
	}
	return p.Trust != nil
}
