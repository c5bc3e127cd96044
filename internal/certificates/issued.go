package certificates

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// Issued are the authorities that cert-manager was asked for, one for each side. An issuer signs them for this cluster alone, and
// members trust them, not the issuer: who else gets certificates from that is nobody to them.
type Issued struct {
	Peer, Server IssuedAuthority
}

// IssuedAuthority is the Secret of one of them, with tls.crt and tls.key.
type IssuedAuthority struct {
	Source
	// Refused is why there is none, or why it cannot be renewed, in words for the user; empty if nothing is wrong, or not yet.
	Refused string
	// Signed are the certificates, in PEM, that the issuer has signed for it, as cert-manager says of the last issuance and of one that is
	// just being made. Only what is among them becomes an authority, or, once the operator's copy is lost, what it has recorded as the
	// cluster's: who may change the Secret could have put anything into it.
	Signed [][]byte
}

// issuedSuffix ends the key that is there while the present authority of a side is one of cert-manager's.
const issuedSuffix = "-issued"

// shortest is the life of an authority that is not warned about.
const shortest = 24 * time.Hour

func (i *Issued) of(h half) IssuedAuthority {
	if h == peers {
		return i.Peer
	}
	return i.Server
}

// adopt makes the authority that cert-manager has issued the present one. cert-manager replaces the key at once when it renews it, so
// this is a copy, and the former one is kept until nobody needs it. The next waits until then. Without one that can be used, the copy
// stays in use. pending is what is waited for.
func (s *signers) adopt(o Observed, h half) (pending string, err error) {
	if s.current == nil { // it was lost, has expired, or an operator that ended had not recorded it: the former one goes on
		s.current, s.former = s.former, nil
	}
	given := o.Managed.Issued.of(h)
	if given.Refused != "" {
		err = errors.New(given.Refused)
	}
	if given.Data == nil {
		return "waiting until cert-manager has issued an authority in Secret " + given.Name, err
	}
	made, wrong := given.authority(o.Now)
	switch {
	case wrong != nil:
		return "", cmp.Or(err, wrong)
	case s.current != nil && bytes.Equal(s.current.Leaf().Raw, made.Leaf().Raw):
		s.issued = true
	case !given.signed(made.Leaf()) && (s.current != nil || !slices.Contains(o.Authorities, pki.Fingerprint(made.Leaf()))):
		return "", cmp.Or(err, fmt.Errorf("the issuer has not signed the authority in Secret %s for Certificate %s: delete the "+
			"Secret, so that cert-manager issues one", given.Name, given.Name))
	case o.given(made.Leaf()):
		return "", cmp.Or(err, fmt.Errorf("the authority in Secret %s has the key of a certificate of this cluster, so that its holders could be "+
			"anyone: find out who has changed Certificate %s, and have cert-manager renew it", given.Name, given.Name))
	case s.former != nil:
	default:
		s.former = s.current
		s.replace(made, true, o.Now)
	}
	return "", err
}

// authority is what the Secret holds, if it can sign certificates.
func (i IssuedAuthority) authority(now time.Time) (*signer, error) {
	read, err := i.pair(KeyCertificate, KeyKey)
	if err != nil {
		return nil, err
	}
	c := read.Leaf()
	if !c.BasicConstraintsValid || !c.IsCA || c.KeyUsage != 0 && c.KeyUsage&x509.KeyUsageCertSign == 0 {
		return nil, fmt.Errorf("%s is no authority (CA:TRUE, keyCertSign), although one was asked for: use an issuer that signs "+
			"authorities, such as one of type CA", read.text.Name)
	}
	if err := cmp.Or(pki.CheckWindow(read.text, c, now), unrestricted(read.text, c)); err != nil {
		return nil, err
	}
	only := &pki.Pair{Chain: read.Chain[:1], Key: read.Key}
	return &signer{Pair: only, certificate: pki.Encode(only.Chain), key: read.key}, nil
}

// nameConstraints is the extension of that name (RFC 5280, 4.2.1.10).
var nameConstraints = asn1.ObjectIdentifier{2, 5, 29, 30}

// unrestricted refuses an authority whose certificates members or clients might not accept: they apply what restricts an authority to the
// whole chain (crypto/x509, Certificate.Verify).
func unrestricted(text pki.Text, c *x509.Certificate) error {
	is := func(usage x509.ExtKeyUsage) bool { return slices.Contains(c.ExtKeyUsage, usage) }
	both := is(x509.ExtKeyUsageServerAuth) && is(x509.ExtKeyUsageClientAuth) || is(x509.ExtKeyUsageAny)
	if len(c.ExtKeyUsage)+len(c.UnknownExtKeyUsage) > 0 && !both {
		return fmt.Errorf("%s has an extended key usage that is not both serverAuth and clientAuth: have the issuer leave it out", text.Name)
	}
	if slices.ContainsFunc(c.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(nameConstraints) }) {
		return fmt.Errorf("%s has name constraints, which the members' names may not satisfy: have the issuer leave them out", text.Name)
	}
	return nil
}

// signed reports whether the issuer has signed this certificate.
func (i IssuedAuthority) signed(certificate *x509.Certificate) bool {
	return slices.ContainsFunc(i.Signed, func(text []byte) bool {
		block, _ := pem.Decode(text) // the first is the authority, the issuer's own may follow
		return block != nil && bytes.Equal(block.Bytes, certificate.Raw)
	})
}

// brief warns of an authority that lasts so short that members are recreated all the time.
func (s *signers) brief() []string {
	if s.current == nil || !s.issued {
		return nil
	}
	c := s.current.Leaf()
	if life := c.NotAfter.Sub(c.NotBefore); life < shortest {
		return []string{fmt.Sprintf("the issuer has signed an authority for %s only, and members are recreated twice whenever it is renewed: "+
			"have it sign for longer", life)}
	}
	return nil
}
