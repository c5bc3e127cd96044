package pki

import (
	"crypto"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Pair is a certificate with its private key.
type Pair struct {
	// Chain is the certificate and then those between it and its authority, if there are any. It is never empty.
	Chain []*x509.Certificate
	// Key is the private key of the first.
	Key crypto.Signer
}

// Leaf is the certificate itself.
func (p *Pair) Leaf() *x509.Certificate { return p.Chain[0] }

// ParsePair reads a certificate, those between it and its authority, and its private key. A key that belongs to another certificate
// is an error, and so are more than MaxIntermediates between, unless the operator has written them.
func ParsePair(certificate, key Text) (*Pair, error) {
	chain, err := ParseCertificates(certificate)
	if err != nil {
		return nil, err
	}
	if between := len(chain) - 1; between > MaxIntermediates && !certificate.Own {
		return nil, certificate.errorf("has %d certificates after the first one, and may have %d: keep those between it and its authority",
			between, MaxIntermediates)
	}
	signer, err := keyOf(key)
	if err != nil {
		return nil, err
	}
	if public, ok := chain[0].PublicKey.(interface{ Equal(crypto.PublicKey) bool }); !ok || !public.Equal(signer.Public()) {
		return nil, key.errorf("is not the private key of the first certificate in %s, which is for %s: store the two that belong together",
			certificate.Name, Subject(chain[0]))
	}
	return &Pair{Chain: chain, Key: signer}, nil
}

// usageNames are those that openssl has.
var usageNames = map[x509.ExtKeyUsage]string{
	x509.ExtKeyUsageServerAuth: "serverAuth",
	x509.ExtKeyUsageClientAuth: "clientAuth",
}

// Permits reports whether a certificate may be used so. One without extended key usages may be used for everything.
func Permits(c *x509.Certificate, usage x509.ExtKeyUsage) bool {
	return len(c.ExtKeyUsage)+len(c.UnknownExtKeyUsage) == 0 ||
		slices.Contains(c.ExtKeyUsage, usage) || slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageAny)
}

// CheckUsages returns an error if a certificate may not be used in all of these ways.
func CheckUsages(t Text, c *x509.Certificate, usages ...x509.ExtKeyUsage) error {
	var missing []string
	for _, usage := range usages {
		if !Permits(c, usage) {
			missing = append(missing, usageNames[usage])
		}
	}
	if len(missing) > 0 {
		return t.errorf("lacks the extended key usage %s: issue it with that", strings.Join(missing, " and "))
	}
	return nil
}

// CheckWindow returns an error if the time is outside of a certificate's validity.
func CheckWindow(t Text, c *x509.Certificate, now time.Time) error {
	switch {
	case now.After(c.NotAfter):
		return t.errorf("has expired at %s (%s): renew it", stamp(c.NotAfter), Subject(c))
	case now.Before(c.NotBefore):
		return t.errorf("is not valid before %s (%s): check the clocks, or issue it anew", stamp(c.NotBefore), Subject(c))
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// CheckNames returns an error that lists the DNS names and IP addresses which a certificate does not stand for.
func CheckNames(t Text, c *x509.Certificate, names []string) error {
	var missing []string
	for _, name := range names {
		if c.VerifyHostname(name) != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	has := slices.Concat(c.DNSNames, addresses(c))
	return t.errorf("does not stand for %s, but for %s: issue it with these as subject alternative names, or a wildcard",
		short(missing), short(has))
}

func addresses(c *x509.Certificate) []string {
	var all []string
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	return all
}

// short lists names in a message, the first few of many.
func short(names []string) string {
	const most = 8
	switch {
	case len(names) == 0:
		return "no names at all"
	case len(names) > most:
		return fmt.Sprintf("%s and %d more", short(names[:most]), len(names)-most)
	}
	var all []string
	for _, name := range names {
		all = append(all, cut(name))
	}
	return strings.Join(all, ", ")
}

// CheckChain returns an error if none of the authorities has signed a certificate for these uses, directly or through the others of
// its chain.
func CheckChain(
	t Text, chain []*x509.Certificate, authorities Text, roots []*x509.Certificate, now time.Time, usages ...x509.ExtKeyUsage,
) error {
	for _, usage := range usages {
		if _, err := verify(chain, roots, now, usage); err != nil {
			return t.errorf("is not verified by %s as %s: %s; it was issued by %q: store that authority in %s, and those between the two in %s",
				authorities.Name, usageNames[usage], why(err), Issuer(chain[0]), authorities.Name, t.Name)
		}
	}
	return nil
}

// why is what crypto/x509 finds wrong, in one line.
func why(err error) string {
	const most = 300 // it may name certificates
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "x509: "), "\n")
	return failure.Cut(text, most)
}

// Verifies reports whether an authority has signed a certificate, directly or through the others of its chain, and both are valid
// at that time.
func Verifies(chain []*x509.Certificate, authority *x509.Certificate, now time.Time) bool {
	return len(Issuers(chain, []*x509.Certificate{authority}, now)) > 0
}

// Issuers are those of the authorities that verify a certificate at that time, in any order and maybe repeated. It is one verification,
// however many authorities there are, and crypto/x509 bounds the signatures that it checks.
func Issuers(chain, authorities []*x509.Certificate, now time.Time) []*x509.Certificate {
	found, err := verify(chain, authorities, now, x509.ExtKeyUsageAny)
	if err != nil {
		return nil
	}
	var all []*x509.Certificate
	for _, way := range found {
		all = append(all, way[len(way)-1])
	}
	return all
}

func verify(chain, roots []*x509.Certificate, now time.Time, usage x509.ExtKeyUsage) (ways [][]*x509.Certificate, err error) {
	options := x509.VerifyOptions{
		Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(), CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{usage},
	}
	for _, c := range roots {
		options.Roots.AddCert(c)
	}
	for _, c := range chain[1:] {
		options.Intermediates.AddCert(c)
	}
	return chain[0].Verify(options)
}
