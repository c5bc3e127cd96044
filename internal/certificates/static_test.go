package certificates

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

const year = 365 * 24 * time.Hour

// user is who maintains the Secrets of mode static.
type user struct {
	t                             *testing.T
	now                           time.Time
	peerCA, serverCA, clientCA    *pki.Pair // serverCA signs servers' certificates, clientCA clients'
	peer, server, client          pki.Request
	peerTrust, serverTrust, roots []byte // in place of those
}

// newUser has three authorities, and certificates as coreos/etcd-operator asked for them.
func newUser(t *testing.T, now time.Time) *user {
	u := &user{t: t, now: now}
	u.peerCA, u.serverCA, u.clientCA = u.authority("peers"), u.authority("servers"), u.authority("clients")
	wildcards := []string{"*.db.prod.svc", "*.db.prod.svc.cluster.local"}
	u.peer = pki.Request{CommonName: "peer", Names: wildcards, Usages: both}
	u.server = pki.Request{Names: append(slices.Clone(wildcards), "db-client.prod.svc", "localhost"), Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	u.client = pki.Request{CommonName: "operator", Usages: clientOnly}
	return u
}

func (u *user) authority(name string) *pki.Pair {
	u.t.Helper()
	a, err := pki.NewAuthority(rand.Reader, name, u.now, 5*year)
	if err != nil {
		u.t.Fatal(err)
	}
	return a
}

func (u *user) issue(by *pki.Pair, r pki.Request) (certificate, key []byte) {
	u.t.Helper()
	if r.Now.IsZero() {
		r.Now = u.now
	}
	if r.Lifetime == 0 {
		r.Lifetime = year
	}
	made, err := pki.Issue(rand.Reader, by, r)
	if err != nil {
		u.t.Fatal(err)
	}
	certificate, key, err = made.Encode()
	if err != nil {
		u.t.Fatal(err)
	}
	return certificate, key
}

// static makes the Secrets.
func (u *user) static() *Static {
	u.t.Helper()
	or := func(given []byte, ca *pki.Pair) []byte {
		if given != nil {
			return given
		}
		return pki.Encode(ca.Chain)
	}
	s := &Static{Field: "spec.tls.static"}
	peer, peerKey := u.issue(u.peerCA, u.peer)
	s.Peer = Source{"peers", map[string][]byte{"peer.crt": peer, "peer.key": peerKey, "peer-ca.crt": or(u.peerTrust, u.peerCA)}}
	server, serverKey := u.issue(u.serverCA, u.server)
	s.Server = Source{"servers", map[string][]byte{"server.crt": server, "server.key": serverKey, "server-ca.crt": or(u.serverTrust, u.clientCA)}}
	client, clientKey := u.issue(u.clientCA, u.client)
	s.Operator = Source{"operator", map[string][]byte{"etcd-client.crt": client, "etcd-client.key": clientKey, "etcd-client-ca.crt": or(u.roots, u.serverCA)}}
	return s
}

// userGiven is a cluster in mode static.
func userGiven(t *testing.T, s *Static, members ...string) *cluster {
	c := managed(t, members...)
	c.o.Managed, c.o.Static = nil, s
	return c
}

// TestBadInput holds that each mistake is named, and that a running cluster keeps what it has.
func TestBadInput(t *testing.T) {
	for title, c := range map[string]struct {
		change func(*user)
		spoil  func(*Static)
		want   string
	}{
		"expired":       {func(u *user) { u.peer.Now = start.Add(-2 * year) }, nil, "key peer.crt of Secret peers has expired at"},
		"not yet valid": {func(u *user) { u.server.Now = start.Add(time.Hour) }, nil, "key server.crt of Secret servers is not valid before 2026-01-02T03:59:05Z"},
		"signed by another authority": {
			func(u *user) { u.peerTrust = pki.Encode(u.serverCA.Chain) }, nil,
			"key peer.crt of Secret peers is not verified by key peer-ca.crt of Secret peers",
		},
		"the server's authority is not the operator's": {
			func(u *user) { u.roots = pki.Encode(u.clientCA.Chain) }, nil,
			"key server.crt of Secret servers is not verified by key etcd-client-ca.crt of Secret operator as serverAuth",
		},
		"the operator's authority is not the server's": {
			func(u *user) { u.serverTrust = pki.Encode(u.serverCA.Chain) }, nil,
			"key etcd-client.crt of Secret operator is not verified by key server-ca.crt of Secret servers as clientAuth",
		},
		"another cluster's names": {
			func(u *user) { u.peer.Names = []string{"*.other.prod.svc"} }, nil,
			"key peer.crt of Secret peers does not stand for db-0.db.prod.svc, db-1.db.prod.svc, but for *.other.prod.svc",
		},
		"one member's name is missing": {
			func(u *user) { u.server.Names = []string{"db-0.db.prod.svc"} }, nil,
			"key server.crt of Secret servers does not stand for db-1.db.prod.svc, but for db-0.db.prod.svc",
		},
		"a wildcard without the DNS domain": {
			func(u *user) { u.peer.Names = []string{"*.db.prod.svc"} }, nil,
			"key peer.crt of Secret peers has the wildcard *.db.prod.svc only, by which members cannot recognize each other: add db.prod.svc",
		},
		"peers that are no clients": {
			func(u *user) { u.peer.Usages = u.server.Usages }, nil, "key peer.crt of Secret peers lacks the extended key usage clientAuth",
		},
		"a server that is none": {func(u *user) { u.server.Usages = clientOnly }, nil, "key server.crt of Secret servers lacks the extended key usage serverAuth"},
		"an operator that is no client": {
			func(u *user) { u.client.Usages = u.server.Usages }, nil, "key etcd-client.crt of Secret operator lacks the extended key usage clientAuth",
		},
		"a bundle of leaves":          {nil, func(s *Static) { s.Peer.Data["peer-ca.crt"] = s.Peer.Data["peer.crt"] }, "key peer-ca.crt of Secret peers has the certificate of \"CN=peer\", which is no authority (CA:FALSE)"},
		"another key":                 {nil, func(s *Static) { s.Peer.Data["peer.key"] = s.Server.Data["server.key"] }, "key peer.key of Secret peers is not the private key"},
		"garbage":                     {nil, func(s *Static) { s.Server.Data["server.crt"] = []byte("x") }, "key server.crt of Secret servers is not PEM"},
		"a damaged bundle":            {nil, func(s *Static) { s.Server.Data["server-ca.crt"] = s.Server.Data["server-ca.crt"][9:] }, "key server-ca.crt of Secret servers is not PEM"},
		"a key is missing":            {nil, func(s *Static) { delete(s.Operator.Data, "etcd-client.key") }, "key etcd-client.key of Secret operator is missing or empty"},
		"no such Secret":              {nil, func(s *Static) { s.Operator.Data = nil }, "Secret operator (spec.tls.static.operatorSecret) does not exist: create it"},
		"servers without an operator": {nil, func(s *Static) { s.Operator = Source{} }, "spec.tls.static.operatorSecret is not set"},
		"members have no Secret":      {nil, func(s *Static) { s.Peer = Source{} }, "spec.tls.static.member.peerSecret is not set"},
	} {
		t.Run(title, func(t *testing.T) {
			user := newUser(t, start)
			good := user.static()
			if c.change != nil {
				c.change(user)
			}
			wrong := user.static()
			if c.spoil != nil {
				c.spoil(wrong)
			}
			if strings.Contains(c.want, "peer") { // The other side stays as it was.
				wrong.Server, wrong.Operator = good.Server, good.Operator
			} else {
				wrong.Peer = good.Peer
			}
			fresh := userGiven(t, wrong, "db-0", "db-1")
			d := fresh.decide()
			if d.Problem == nil || d.Problem.Reason != v1beta2.ReasonCertificatesInvalid || !strings.Contains(d.Problem.Message, c.want) || d.Settled {
				t.Errorf("problem %+v, want %q", d.Problem, c.want)
			}
			if d.Trust != nil || !slices.Equal(d.Waiting, fresh.o.Members) {
				t.Errorf("%d bytes of trust, %v wait: nothing can start with that", len(d.Trust), d.Waiting)
			}
			running := userGiven(t, good, "db-0", "db-1")
			before := running.run()
			running.o.Static = wrong
			d = running.decide()
			if len(d.Writes) > 0 || d.TrustHash != before.TrustHash || d.Operator == nil || len(d.Waiting) > 0 || d.Problem == nil {
				t.Errorf("a running cluster does not keep what it has: %d writes, trust %s before and %s now, %v", len(d.Writes), before.TrustHash, d.TrustHash, d.Problem)
			}
			running.o.Pods = nil
			if d = running.decide(); d.TrustHash != before.TrustHash {
				t.Errorf("pods that are recreated trust %s, before %s", d.TrustHash, before.TrustHash)
			}
			running.o.Members = append(running.o.Members, "db-2")
			if d = running.decide(); len(d.Waiting) > 0 || len(d.Writes) != 1 || !bytes.Equal(d.Writes[0].Data["peer.crt"], running.o.Published["db-0"]["peer.crt"]) {
				t.Errorf("a new member does not get what the others have: %v wait, %d writes", d.Waiting, len(d.Writes))
			}
		})
	}
}

// TestStatic holds what mode static publishes, and what it warns of.
func TestStatic(t *testing.T) {
	u := newUser(t, start)
	c := userGiven(t, u.static(), "db-0")
	d := c.run()
	if !d.Settled || d.Problem != nil {
		t.Fatalf("%+v", d)
	}
	s := c.o.Static
	want := map[string][]byte{
		"peer.crt": s.Peer.Data["peer.crt"], "peer.key": s.Peer.Data["peer.key"],
		"server.crt": s.Server.Data["server.crt"], "server.key": s.Server.Data["server.key"],
	}
	if !maps.EqualFunc(c.o.Published["db-0"], want, bytes.Equal) || !maps.EqualFunc(c.o.Agent, s.Operator.Data, bytes.Equal) || c.o.Client != nil {
		t.Errorf("published %v and %v, want the user's", slices.Sorted(maps.Keys(c.o.Published["db-0"])), slices.Sorted(maps.Keys(c.o.Agent)))
	}
	if !bytes.Equal(d.Operator.Certificate, s.Operator.Data["etcd-client.crt"]) || !bytes.Equal(d.Operator.Roots, s.Operator.Data["etcd-client-ca.crt"]) {
		t.Error("the operator has other certificates than operatorSecret")
	}
	if all := strings.Join(d.Warnings, "\n"); len(d.Warnings) != 2 || !strings.Contains(all, "gateway") || !strings.Contains(all, "reverse DNS") {
		t.Errorf("warnings: %s", all)
	}
	u.peer.Names, u.server.Usages = append(u.peer.Names, "db.prod.svc"), both
	u.serverCA = u.clientCA
	c = userGiven(t, u.static(), "db-0")
	if d = c.run(); len(d.Warnings) > 0 {
		t.Errorf("warnings: %q", d.Warnings)
	}
	u.peerCA = u.serverCA
	c = userGiven(t, u.static(), "db-0")
	shared := `key peer-ca.crt of Secret peers and key server-ca.crt of Secret servers have the authority "CN=clients" in common`
	if d = c.run(); len(d.Warnings) != 1 || !strings.HasPrefix(d.Warnings[0], shared) {
		t.Errorf("warnings: %q, want %q", d.Warnings, shared)
	}
	c.o.Transport = member.Transport{PeerTLS: true}
	c.o.Static.Server, c.o.Static.Operator, c.o.Published = Source{}, Source{}, nil
	if d = c.decide(); d.Problem != nil || d.Operator != nil || len(d.Writes) != 1 || len(d.Writes[0].Data) != 2 || len(d.Trust) != 1 {
		t.Errorf("with TLS between members only: %+v", d)
	}
}

// TestOperatorStaysRoot keeps the operator's certificate while another one would lock it out of etcd.
func TestOperatorStaysRoot(t *testing.T) {
	u := newUser(t, start)
	u.client.CommonName = "root"
	c := userGiven(t, u.static(), "db-0")
	c.o.OperatorIsRoot = true
	before := c.run()
	if before.Problem != nil {
		t.Fatalf("%+v", before.Problem)
	}
	u.client.CommonName = "operator"
	c.o.Static = u.static()
	d := c.run()
	if d.Problem == nil || d.Problem.Reason != v1beta2.ReasonOperatorNotRoot || d.AskAuth ||
		!strings.Contains(d.Problem.Message, `(spec.tls.static.operatorSecret) has the common name "operator", and while etcd's authentication is on it has to be root`) {
		t.Errorf("problem %+v", d.Problem)
	}
	if d.Operator == nil || !bytes.Equal(d.Operator.Certificate, before.Operator.Certificate) {
		t.Error("the operator has the other certificate")
	}
	c.o.OperatorIsRoot = false
	c.o.AuthOff = false
	if d = c.run(); d.Problem == nil || d.Problem.Reason != v1beta2.ReasonOperatorNotRoot || !d.AskAuth ||
		!bytes.Equal(d.Operator.Certificate, before.Operator.Certificate) {
		t.Errorf("unknown: %+v", d.Problem)
	}
	agent := c.o.Agent
	if c.o.Agent = nil; c.decide().Problem == nil {
		t.Error("without the agents' Secret, the operator, which is root, becomes another user")
	}
	c.o.Operator, c.o.Agent = before.Operator, agent
	c.o.AuthOff = true
	if d = c.run(); d.Problem != nil || d.AskAuth || bytes.Equal(d.Operator.Certificate, before.Operator.Certificate) {
		t.Errorf("off: %+v", d.Problem)
	}
	c.o.AuthOff = false
	if d = c.run(); d.Problem != nil || d.AskAuth {
		t.Errorf("another user, who is not locked out: %+v", d.Problem)
	}
}
