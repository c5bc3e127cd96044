package certificates

import (
	"crypto/x509"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// Who may create Secrets can create the one with the authorities before the operator does, in the cluster's name: everybody who knows its
// keys could then be anyone. So an authority is recorded in status before anything is signed with it, and one that is not recorded is as
// good as absent, unless this very process has made it: then status could not be written since. Only if none is recorded, as by earlier
// operators, members decide: what they trust already is used.

// adopts reports whether an authority of the Secret is the cluster's.
func (o Observed) adopts(h half, c *x509.Certificate) bool {
	fingerprint := pki.Fingerprint(c)
	if slices.Contains(o.Made, fingerprint) {
		return true
	}
	if len(o.Authorities) > 0 {
		return slices.Contains(o.Authorities, fingerprint)
	}
	bundles := [][]byte{o.Trust[h.ca]}
	for _, p := range o.Pods {
		bundles = append(bundles, p.Trust[h.ca])
	}
	return slices.ContainsFunc(bundles, func(text []byte) bool {
		_, trusted := slices.BinarySearch(newKnown(o.Now).read(text), fingerprint)
		return trusted
	})
}

// record says which authorities are to be in status, and signs nothing before they are.
func (d *Decision) record(o Observed, views []*view) {
	var all authorities
	for _, w := range views {
		for _, s := range w.signers.all() {
			all = append(all, pki.Fingerprint(s.Leaf()))
		}
		if w.signers.strange {
			d.warn("Secret %s holds an authority that the operator has not recorded: it is not used. Unless the operator has just been "+
				"restarted, find out who has written it", AuthorityName(o.Names.Cluster))
		}
	}
	d.Authorities = union(all)
	if slices.ContainsFunc(d.Authorities, func(a string) bool { return !slices.Contains(o.Authorities, a) }) {
		d.writeAuthorityOnly()
		d.Trust, d.TrustHash = nil, ""
	}
	d.recordRoots(o, views)
}

// recordRoots says which roots are to be in status, and gives no certificate before they are: once the source names others, nobody else
// knows that members may present leaves of these, and once the Secrets of clients are deleted, whom the operator is to accept.
func (d *Decision) recordRoots(o Observed, views []*view) {
	d.Roots = o.Roots
	for _, w := range views {
		if w.half == clients && len(w.verdict.roots) > 0 {
			d.Roots = w.verdict.roots
		}
	}
	gives := slices.ContainsFunc(d.Writes, func(w Write) bool { return w.Kind != KindAuthority })
	if gives && !authorities(d.Roots).equal(o.Roots) {
		d.writeAuthorityOnly()
	}
}

// writeAuthorityOnly leaves everything else until status records what it is to be based on.
func (d *Decision) writeAuthorityOnly() {
	d.Writes = slices.DeleteFunc(d.Writes, func(w Write) bool { return w.Kind != KindAuthority })
	d.Recording = true
}

// Held are the fingerprints of the authorities that the data of the Secret of AuthorityName holds, sorted.
func Held(data map[string][]byte) []string {
	var all authorities
	for _, h := range []half{peers, clients} {
		for _, key := range []string{h.certificate, formerPrefix + h.certificate} {
			if held, err := pki.ParseCertificates(pki.Text{PEM: data[key]}); err == nil {
				all = append(all, pki.Fingerprint(held[0]))
			}
		}
	}
	return union(all)
}
