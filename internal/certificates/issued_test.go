package certificates

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// issued are two authorities as cert-manager leaves them in its Secrets.
func issued(c *cluster, lifetime time.Duration) *Issued {
	c.t.Helper()
	one := func(peer bool) IssuedAuthority {
		made, err := pki.NewAuthority(rand.Reader, AuthoritySubject("prod", "db", peer), c.o.Now, lifetime)
		if err != nil {
			c.t.Fatal(err)
		}
		certificate, key, err := made.Encode()
		if err != nil {
			c.t.Fatal(err)
		}
		return IssuedAuthority{
			Source: Source{Name: IssuedName("db", peer), Data: map[string][]byte{KeyCertificate: certificate, KeyKey: key}},
			Signed: [][]byte{certificate},
		}
	}
	return &Issued{Peer: one(true), Server: one(false)}
}

// absent is what there is before cert-manager has issued anything.
func absent(refused string) *Issued {
	one := func(peer bool) IssuedAuthority {
		return IssuedAuthority{Source: Source{Name: IssuedName("db", peer)}, Refused: refused}
	}
	return &Issued{Peer: one(true), Server: one(false)}
}

// TestIssuedStart starts a cluster once cert-manager has issued both authorities, and reports why it does not.
func TestIssuedStart(t *testing.T) {
	c := managed(t, "db-0")
	c.o.Managed.Issued = absent("")
	d := c.carryOut()
	if d.Problem != nil || d.Settled || len(d.Waiting) != 1 || !strings.Contains(d.Step, "Secret db-ca-peer") {
		t.Errorf("before anything is wrong: %+v", d)
	}
	c.o.Managed.Issued = absent("it says no")
	if d = c.carryOut(); d.Problem == nil || d.Problem.Reason != v1beta2.ReasonIssuerUnavailable || !strings.Contains(d.Problem.Message, "it says no") {
		t.Errorf("once it refuses: %+v", d.Problem)
	}
	c.o.Managed.Issued = issued(c, year)
	if d = c.run(); !d.Settled || d.Problem != nil || !bytes.Equal(c.o.Authority["peer.crt"], c.o.Managed.Issued.Peer.Data[KeyCertificate]) {
		t.Errorf("once it has issued: %+v", d)
	}
	if !bytes.Equal(c.o.Pods[0].Trust["server-ca.crt"], c.o.Managed.Issued.Server.Data[KeyCertificate]) {
		t.Error("members trust something else than the authority that was issued")
	}
	for _, info := range d.Certificates {
		if want := IssuedName("db", info.Use == "peer"); info.Name == AuthorityName("db") && (!info.RenewAt.IsZero() || info.Certificate != want) {
			t.Errorf("it says that %q renews the authority, at %s", info.Certificate, info.RenewAt)
		}
	}
}

// TestIssuedUnusable takes no authority that cannot sign, or that cannot be read.
func TestIssuedUnusable(t *testing.T) {
	for want, spoil := range map[string]func(*cluster, *IssuedAuthority){
		"is no authority": func(c *cluster, i *IssuedAuthority) {
			u := newUser(c.t, c.o.Now).static()
			i.Data = map[string][]byte{KeyCertificate: u.Peer.Data[KeyPeerCertificate], KeyKey: u.Peer.Data[KeyPeerKey]}
		},
		"key tls.key of Secret db-ca-peer": func(c *cluster, i *IssuedAuthority) { i.Data[KeyKey] = issued(c, year).Peer.Data[KeyKey] },
		"expired":                          func(c *cluster, i *IssuedAuthority) { c.o.Now = c.o.Now.Add(2 * year) },
	} {
		c := managed(t, "db-0")
		c.o.Managed.Issued = issued(c, year)
		spoil(c, &c.o.Managed.Issued.Peer)
		if d := c.carryOut(); d.Problem == nil || !strings.Contains(d.Problem.Message, want) || len(d.Waiting) != 1 {
			t.Errorf("want %q, got %+v, waiting %v", want, d.Problem, d.Waiting)
		}
	}
}

// TestIssuedByNobody takes no authority that the issuer has not signed, before a cluster starts and later, and goes on with what is in use
// already, of which nothing is left to compare.
func TestIssuedByNobody(t *testing.T) {
	c := managed(t, "db-0")
	theirs := issued(c, year).Peer.Data
	c.o.Managed.Issued = issued(c, year)
	good := c.o.Managed.Issued.Peer
	c.o.Managed.Issued.Peer.Data = theirs
	d := c.carryOut()
	if d.Problem == nil || !strings.Contains(d.Problem.Message, "the issuer has not signed the authority in Secret db-ca-peer") {
		t.Errorf("before the start: %+v", d.Problem)
	}
	if len(d.Waiting) != 1 || c.o.Authority["peer.crt"] != nil {
		t.Error("a cluster starts with it")
	}
	c.o.Managed.Issued.Peer = good
	if d = c.run(); !d.Settled || d.Problem != nil {
		t.Fatalf("once it is the issuer's: %+v", d)
	}
	c.o.Managed.Issued.Peer.Data = theirs
	if d = c.carryOut(); d.Problem == nil || !bytes.Equal(c.o.Authority["peer.crt"], good.Data[KeyCertificate]) || c.o.Authority["former-peer.crt"] != nil {
		t.Errorf("put in later: %+v", d.Problem)
	}
	c.o.Managed.Issued.Peer = good
	c.o.Managed.Issued.Peer.Signed = nil
	if d = c.carryOut(); d.Problem != nil || !d.Settled {
		t.Errorf("in use, and no request is left: %+v", d)
	}
}

// TestIssuedChanges replaces the authorities of a running cluster in every way: all members and clients verify each other throughout.
func TestIssuedChanges(t *testing.T) {
	for title, change := range map[string]func(*cluster){
		"cert-manager renews":                  func(c *cluster) { c.o.Managed.Issued = issued(c, year) },
		"the operator issues from now on":      func(c *cluster) { c.o.Managed.Issued = nil },
		"the user gives certificates":          func(c *cluster) { c.o.Static, c.o.Managed = newUser(c.t, c.o.Now).static(), nil },
		"the operator's Secret is deleted":     func(c *cluster) { c.o.Authority, c.o.Managed.Issued = nil, issued(c, year) },
		"cert-manager renews, and again after": func(c *cluster) { twice(c) },
	} {
		t.Run(title, func(t *testing.T) {
			c := managed(t, "db-0", "db-1", "db-2")
			c.o.Managed.Issued = issued(c, year)
			if d := c.run(); !d.Settled {
				t.Fatalf("%+v", d)
			}
			before := c.o.Published["db-0"]["peer.crt"]
			change(c)
			d, steps := c.settle()
			if bytes.Equal(before, c.o.Published["db-0"]["peer.crt"]) || c.trusted() != 1 || d.Problem != nil || len(steps) == 0 {
				t.Errorf("%d authorities are trusted: %q, %+v", c.trusted(), steps, d)
			}
			if c.o.Managed != nil && (c.o.Managed.Issued != nil) != (c.o.Authority["peer-issued"] != nil) {
				t.Errorf("whose authority it is is not noted: %v", c.o.Managed.Issued)
			}
		})
	}
}

// twice has cert-manager renew again while members do not trust the first renewal yet: that is carried out all the same, because the
// certificates in use are of the one before, whose key is nowhere but in the operator's Secret.
func twice(c *cluster) {
	first := c.o.Authority["peer.crt"]
	c.o.Managed.Issued = issued(c, year)
	c.apply(c.decide())
	c.o.Managed.Issued = issued(c, year)
	c.apply(c.decide())
	if !bytes.Equal(c.o.Authority["former-peer.crt"], first) {
		c.t.Error("the authority that members trust is given up")
	}
}

// TestIssuedLater goes from other certificates to cert-manager's: nothing changes until there are any.
func TestIssuedLater(t *testing.T) {
	for title, start := range map[string]func() *cluster{
		"from the operator's": func() *cluster { return managed(t, "db-0", "db-1", "db-2") },
		"from the user's":     func() *cluster { return userGiven(t, newUser(t, start).static(), "db-0", "db-1", "db-2") },
	} {
		t.Run(title, func(t *testing.T) {
			c := start()
			c.run()
			before := c.o.Published["db-0"]["peer.crt"]
			c.o.Static, c.o.Managed = nil, &Managed{Issued: absent("not yet")}
			for range 3 {
				d := c.decide()
				if d.Problem == nil || d.Problem.Reason != v1beta2.ReasonIssuerUnavailable {
					t.Fatalf("%+v", d)
				}
				c.apply(d)
				c.connected()
			}
			if !bytes.Equal(before, c.o.Published["db-0"]["peer.crt"]) {
				t.Error("a certificate was replaced without a source")
			}
			c.o.Managed.Issued = issued(c, year)
			d, _ := c.settle()
			if c.trusted() != 1 || !bytes.Equal(c.o.Pods[0].Trust["peer-ca.crt"], c.o.Managed.Issued.Peer.Data[KeyCertificate]) {
				t.Errorf("%d authorities are trusted: %+v", c.trusted(), d)
			}
		})
	}
}

// TestIssuedGone goes on with the operator's copy, and renews leaves from it, while cert-manager's Secret is of no use.
func TestIssuedGone(t *testing.T) {
	c := managed(t, "db-0")
	c.o.Managed.Issued = issued(c, year)
	c.run()
	before := c.o.Published["db-0"]["peer.crt"]
	c.o.Managed.Issued, c.o.Now = absent("gone"), c.o.Now.Add(61*24*time.Hour)
	for range 10 {
		d := c.decide()
		c.apply(d)
		c.connected()
		c.serve()
	}
	if d := c.decide(); bytes.Equal(before, c.o.Published["db-0"]["peer.crt"]) || d.Problem == nil {
		t.Errorf("its certificate is not renewed: %+v", d)
	}
}

// TestIssuedBriefly warns of an issuer whose authorities do not last.
func TestIssuedBriefly(t *testing.T) {
	c := managed(t, "db-0")
	c.o.Managed.Issued = issued(c, time.Hour)
	c.o.Rotate = "ca:1"
	d := c.carryOut()
	if text := strings.Join(d.Warnings, "; "); !strings.Contains(text, "for 1h5m0s only") || !strings.Contains(text, "db-ca-peer") {
		t.Errorf("warnings %q", text)
	}
}

// TestIssuedNamesReserved keeps the Secrets of both authorities from being given to users, of the cluster or of another one, for they hold
// keys.
func TestIssuedNamesReserved(t *testing.T) {
	for _, name := range []string{"db-ca-peer", "db-ca-server"} {
		if !Reserved("db", name) || !Reserved("other", name) {
			t.Errorf("%s is reserved for db: %v, for other: %v", name, Reserved("db", name), Reserved("other", name))
		}
	}
}

// TestIssuedUnrecorded ends the operator after it has written the Secret with a renewed authority, and before status records it: the next
// one goes on with the former authority, and takes the renewed one as if it were new.
func TestIssuedUnrecorded(t *testing.T) {
	for title, after := range map[string]func(c *cluster, renewed *Issued){
		"renewed":         func(*cluster, *Issued) {},
		"and gone again":  func(c *cluster, _ *Issued) { c.o.Managed.Issued = absent("it says no") },
		"and not signed":  func(_ *cluster, renewed *Issued) { renewed.Peer.Signed, renewed.Server.Signed = nil, nil },
		"and has expired": func(_ *cluster, renewed *Issued) { renewed.Peer.Data[KeyCertificate] = []byte("-") },
	} {
		t.Run(title, func(t *testing.T) {
			c := managed(t, "db-0")
			c.o.Managed.Issued = issued(c, year)
			c.run()
			first, recorded := c.o.Authority[KeyPeerCertificate], c.o.Authorities
			renewed := issued(c, 2*year)
			c.o.Managed.Issued = renewed
			d := c.decide()
			c.apply(d)
			c.o.Authorities, c.o.Made = recorded, nil
			after(c, renewed)
			d = c.carryOut()
			want := first
			if title == "renewed" {
				want = renewed.Peer.Data[KeyCertificate]
			}
			if !bytes.Equal(c.o.Authority[KeyPeerCertificate], want) {
				t.Errorf("the present authority of peers is another one: %+v", d.Problem)
			}
			c.o.Published = map[string]map[string][]byte{}
			if c.run(); c.o.Published["db-0"] == nil {
				t.Error("no certificate is issued any more")
			}
		})
	}
}

// TestIssuedRestricted takes no authority whose certificates are not accepted.
func TestIssuedRestricted(t *testing.T) {
	for want, c := range map[string]*x509.Certificate{
		"":                   {ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}},
		"extended key usage": {ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}},
		"name constraints":   {Extensions: []pkix.Extension{{Id: nameConstraints}}},
	} {
		if err := unrestricted(pki.Text{Name: "it"}, c); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
