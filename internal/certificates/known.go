package certificates

import (
	"crypto/x509"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// known are all authorities that anybody on a side trusts, by fingerprint.
type known struct {
	now time.Time
	all map[string]*x509.Certificate
	// verified are the issuers of chains, by fingerprints, so that each chain is verified once in a decision: in mode static all members
	// have the same. What is added later empties it.
	verified map[string]authorities
	// verifications counts them.
	verifications int
}

func newKnown(now time.Time) *known {
	return &known{now: now, all: map[string]*x509.Certificate{}, verified: map[string]authorities{}}
}

// add makes authorities known, and returns their set.
func (k *known) add(certificates []*x509.Certificate) authorities {
	var set authorities
	for _, c := range certificates {
		fingerprint := pki.Fingerprint(c)
		if k.all[fingerprint] == nil {
			k.all[fingerprint], k.verified = c, map[string]authorities{}
		}
		set = append(set, fingerprint)
	}
	return union(set)
}

// read is add of what the operator has written itself.
func (k *known) read(text []byte) authorities {
	return k.readIf(text, func(string) bool { return true })
}

// readIf is read of what others may have written to, too: only those authorities count, by fingerprint, that the operator can vouch for.
func (k *known) readIf(text []byte, vouched func(string) bool) authorities {
	all, err := pki.ParseAuthorities(pki.Text{PEM: text, Own: true})
	if err != nil {
		return nil
	}
	return k.add(slices.DeleteFunc(all, func(c *x509.Certificate) bool { return !vouched(pki.Fingerprint(c)) }))
}

// live are those that have not expired.
func (k *known) live(set authorities) authorities {
	return slices.DeleteFunc(slices.Clone(set), func(a string) bool { return k.now.After(k.all[a].NotAfter) })
}

// issuers are the known authorities that verify a leaf now. There are none if it has expired.
func (k *known) issuers(chain []*x509.Certificate) authorities {
	var key strings.Builder
	for _, c := range chain {
		key.WriteString(pki.Fingerprint(c))
	}
	set, done := k.verified[key.String()]
	if !done {
		k.verifications++
		for _, c := range pki.Issuers(chain, slices.Collect(maps.Values(k.all)), k.now) {
			set = append(set, pki.Fingerprint(c))
		}
		set = union(set)
		k.verified[key.String()] = set
	}
	return set
}

// encode writes a set as PEM: always in the same way, so that the same set has the same hash.
func (k *known) encode(set authorities) []byte {
	var all []*x509.Certificate
	for _, fingerprint := range set {
		all = append(all, k.all[fingerprint])
	}
	return pki.Encode(all)
}
