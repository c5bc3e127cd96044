package certificates

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"slices"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// cluster is what the controller keeps: it carries decisions out.
type cluster struct {
	t *testing.T
	o Observed
}

// managed is a cluster that is to be started in mode managed.
func managed(t *testing.T, members ...string) *cluster {
	return &cluster{t: t, o: Observed{
		Now: start, Names: Names{Cluster: "db", Namespace: "prod"}, Members: members, Managed: &Managed{},
		Transport: member.Transport{PeerTLS: true, ClientTLS: true}, Endpoints: "https://db-client.prod.svc:2379", AuthOff: true,
		Users: []User{{Name: "app", Secret: "app-tls"}, {Name: "other", Secret: "other-tls"}},
	}}
}

// decide makes a decision.
func (c *cluster) decide() Decision {
	c.t.Helper()
	d, err := Decide(c.o, rand.Reader)
	if err != nil {
		c.t.Fatal(err)
	}
	return d
}

// carryOut does what a decision says, in each pass that is needed until nothing more is to be written, and returns the last one.
func (c *cluster) carryOut() Decision {
	c.t.Helper()
	for range 50 {
		d := c.decide()
		c.apply(d)
		if len(d.Writes) == 0 && !d.Recording {
			return d
		}
	}
	c.t.Fatal("there is always something to write")
	return Decision{}
}

// apply writes what a decision says, and records it.
func (c *cluster) apply(d Decision) {
	for _, w := range d.Writes {
		switch w.Kind {
		case KindAuthority:
			c.o.Authority = w.Data
		case KindAgent:
			c.o.Agent = w.Data
		case KindClient:
			c.o.Client = w.Data
		case KindMember:
			if c.o.Published == nil {
				c.o.Published = map[string]map[string][]byte{}
			}
			c.o.Published[w.Member] = w.Data
		case KindUser:
			for i := range c.o.Users {
				if c.o.Users[i].Secret == w.Member {
					c.o.Users[i].Data = w.Data
				}
			}
		case kindOperator: // of no Secret
		}
	}
	c.o.Rotated, c.o.Operator, c.o.Authorities, c.o.Made, c.o.Roots = d.Rotated, d.Operator, d.Authorities, d.Authorities, d.Roots
	if d.Trust != nil { // as long as nothing is decided, status names what was decided before
		c.o.Trust = d.Trust
	}
}

func TestStart(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	d := c.carryOut()
	if !d.Settled || d.Problem != nil || d.Step != "" || len(d.Waiting) > 0 {
		t.Errorf("%+v", d)
	}
}

// TestUserCertificates has each user get a certificate with its name, and another one when authorities are replaced. One whose Secret is
// deleted gets it again, and one that is gone is forgotten.
func TestUserCertificates(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	c.run()
	named := func() (names []string) {
		for _, u := range c.o.Users {
			leaf := parse(t, u.Data["tls.crt"])[0]
			names = append(names, u.Secret+" "+leaf.Subject.CommonName)
			if !slices.Equal(leaf.ExtKeyUsage, clientOnly) || string(u.Data["endpoints"]) != c.o.Endpoints || len(u.Data["ca.crt"]) == 0 {
				t.Errorf("%s holds %v", u.Secret, u.Data)
			}
		}
		return names
	}
	if got := named(); !slices.Equal(got, []string{"app-tls app", "other-tls other"}) {
		t.Fatalf("certificates %q", got)
	}
	before := c.o.Users[0].Data
	c.o.Rotate = "ca:1"
	c.settle()
	if after := c.o.Users[0].Data; bytes.Equal(after["tls.crt"], before["tls.crt"]) || bytes.Equal(after["ca.crt"], before["ca.crt"]) {
		t.Error("the user has what it had")
	}
	c.o.Users[0].Data = nil
	c.carryOut()
	named()
	c.o.Users = c.o.Users[1:]
	if d := c.carryOut(); !d.Settled || slices.ContainsFunc(d.Certificates, func(i Info) bool { return i.Name == "app-tls" }) {
		t.Errorf("%+v", d)
	}
}

// run starts the members that are in Members with what is decided, and lets them serve what is published.
func (c *cluster) run() Decision {
	c.t.Helper()
	d := c.carryOut()
	c.o.Pods = nil
	for _, m := range c.o.Members {
		c.o.Pods = append(c.o.Pods, Pod{Name: m, Trust: d.Trust})
	}
	c.serve()
	return c.decide()
}

// serve has the kubelets pass on what is published, and the members asked.
func (c *cluster) serve() {
	c.o.Served = map[string]Served{}
	for name, data := range c.o.Published {
		c.o.Served[name] = Served{Peer: fingerprint(c.t, data["peer.crt"]), Client: fingerprint(c.t, data["server.crt"])}
	}
}

func fingerprint(t *testing.T, text []byte) string {
	t.Helper()
	return pki.Fingerprint(parse(t, text)[0])
}

func parse(t *testing.T, text []byte) []*x509.Certificate {
	t.Helper()
	all, err := pki.ParseCertificates(pki.Text{PEM: text})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTrustHash holds that the name of a trust Secret says what is in it, beyond what anybody could find by trying.
func TestTrustHash(t *testing.T) {
	t.Parallel()
	one, other := Hash(map[string][]byte{"peer-ca.crt": []byte("a")}), Hash(map[string][]byte{"peer-ca.crt": []byte("b")})
	if one == other || len(one) < 32 {
		t.Errorf("got %s and %s", one, other)
	}
}
