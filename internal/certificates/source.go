package certificates

import (
	"crypto/x509"
	"fmt"
	"io"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// source is where the certificates of one side come from.
type source struct {
	// trust is what members are to trust, and roots what clients are to: nil stands for the same.
	trust, roots []*x509.Certificate
	// leaf is the user's certificate for members, and client that for the operator, in mode static.
	leaf, client *given
	warnings     []string
}

// half is one of the two sides: how its keys are called, and what its leaves are for.
type half struct {
	// use is how its keys begin.
	use                  string
	certificate, key, ca string
	// what is the side in messages, and authority what its authority is called.
	what, authority string
}

// of reports whether it is one of those that use TLS.
func (h half) of(t member.Transport) bool {
	if h.use == peers.use {
		return t.PeerTLS
	}
	return t.ClientTLS
}

var (
	peers   = half{"peer", KeyPeerCertificate, KeyPeerKey, KeyPeerCA, "between members", "etcd peers of"}
	clients = half{"server", KeyServerCertificate, KeyServerKey, KeyServerCA, "of clients", "etcd of"}
)

// signer is an authority of the cluster's own.
type signer struct {
	*pki.Pair
	certificate, key []byte
}

// signers are those of one side.
type signers struct {
	current, former *signer
	// issued is whether the current one is cert-manager's.
	issued bool
	// renew is when all leaves were asked to be renewed, zero if never.
	renew time.Time
	// since is when the present authority took the former one's place, zero if an operator wrote that down that did not note it.
	since time.Time
	// handedOut is when the first client got a certificate of the present authority in place of another one's, zero if none has.
	handedOut time.Time
	// strange is whether the Secret has one that is not the cluster's.
	strange bool
}

const (
	formerPrefix = "former-"
	// keyRenew is when the user has asked for new leaves: those that were made before are due.
	keyRenew = "renew"
	// sinceSuffix ends the key that is when the present authority of a side took the former one's place.
	sinceSuffix = "-since"
	// handedOutSuffix ends the key that is when the first client got a certificate of that.
	handedOutSuffix = "-handed-out"
)

// readSigners reads one side of the Secret with the authorities. One that cannot be read, or has expired, is of no use.
func readSigners(o Observed, h half) signers {
	s := signers{current: readSigner(o, h.certificate, h.key), former: readSigner(o, formerPrefix+h.certificate, formerPrefix+h.key)}
	for _, one := range []**signer{&s.current, &s.former} {
		if *one != nil && !o.adopts(h, (*one).Leaf()) {
			*one, s.strange = nil, true
		}
	}
	s.since, s.handedOut, s.renew = o.noted(h.use+sinceSuffix), o.noted(h.use+handedOutSuffix), o.noted(keyRenew)
	s.issued = s.current != nil && o.Authority[h.use+issuedSuffix] != nil
	return s
}

// noted is a time that the Secret with the authorities says, zero if it does not.
func (o Observed) noted(key string) time.Time {
	t, err := time.Parse(time.RFC3339, string(o.Authority[key]))
	if err != nil {
		return time.Time{}
	}
	return t
}

// replace makes another authority the present one.
func (s *signers) replace(by *signer, issued bool, now time.Time) {
	s.current, s.issued, s.since, s.handedOut = by, issued, now, time.Time{}
}

func readSigner(o Observed, certificate, key string) *signer {
	s := &signer{certificate: o.Authority[certificate], key: o.Authority[key]}
	pair, err := pki.ParsePair(pki.Text{PEM: s.certificate}, pki.Text{PEM: s.key})
	if err != nil || !pair.Leaf().IsCA || o.Now.After(pair.Leaf().NotAfter) {
		return nil
	}
	s.Pair = pair
	return s
}

// turn makes a new authority if there is none, the present one is cert-manager's, the user has asked for one, or less than a third of
// its life is left. It waits for an earlier one to have been replaced everywhere.
func (s *signers) turn(o Observed, h half, asked bool, random io.Reader) error {
	if s.current != nil && (s.former != nil || !asked && !s.issued && o.Now.Before(s.due())) {
		return nil
	}
	name := AuthoritySubject(o.Names.Namespace, o.Names.Cluster, h == peers)
	made, err := pki.NewAuthority(random, name, o.Now, o.Managed.authorityLifetime())
	if err != nil {
		return fmt.Errorf("make an authority for connections %s: %w", h.what, err)
	}
	certificate, key, err := made.Encode()
	if err != nil {
		return fmt.Errorf("make an authority for connections %s: %w", h.what, err)
	}
	if s.current != nil {
		s.former = s.current
	}
	s.replace(&signer{Pair: made, certificate: certificate, key: key}, false, o.Now)
	return nil
}

// began is when the replacement of the former authority did: without a note of that, when the present one was made. It is zero without
// a present one.
func (s *signers) began() time.Time {
	if s.current == nil || !s.since.IsZero() {
		return s.since
	}
	return s.current.Leaf().NotBefore.Add(pki.Backdate)
}

func (s *signers) due() time.Time {
	c := s.current.Leaf()
	return c.NotAfter.Add(-c.NotAfter.Sub(c.NotBefore) / 3)
}

// write puts what is to be kept into the data of the Secret.
func (s *signers) write(h half, data map[string][]byte) {
	if s.current != nil {
		data[h.certificate], data[h.key] = s.current.certificate, s.current.key
		if !s.since.IsZero() {
			data[h.use+sinceSuffix] = []byte(s.since.UTC().Format(time.RFC3339))
		}
		if !s.handedOut.IsZero() {
			data[h.use+handedOutSuffix] = []byte(s.handedOut.UTC().Format(time.RFC3339))
		}
		if s.issued {
			data[h.use+issuedSuffix] = []byte("true")
		}
	}
	if s.former != nil {
		data[formerPrefix+h.certificate], data[formerPrefix+h.key] = s.former.certificate, s.former.key
	}
}

// all are the signers, the one to be used first.
func (s *signers) all() []*signer {
	var all []*signer
	for _, one := range []*signer{s.current, s.former} {
		if one != nil {
			all = append(all, one)
		}
	}
	return all
}

func (m *Managed) authorityLifetime() time.Duration {
	return orDefault(m.CADuration, DefaultCADuration)
}

// leafLifetime is the default in mode static, too, where a leaf of the cluster's own is signed only on the way there.
func (m *Managed) leafLifetime() time.Duration {
	if m == nil {
		return DefaultLeafDuration
	}
	return orDefault(m.LeafDuration, DefaultLeafDuration)
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}
