package certificates

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

var bothSides = member.Transport{PeerTLS: true, ClientTLS: true}

// TestComing has certificates made for a cluster whose members serve no TLS yet: none of them has to be asked, or waited for.
func TestComing(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	c.o.AuthOff, c.o.Coming = false, bothSides
	c.o.Pods = []Pod{{Name: "db-0"}, {Name: "db-1"}}
	if d := c.carryOut(); !d.Settled || d.Problem != nil || len(d.Trust) != 2 || len(d.Trusting) > 0 {
		t.Errorf("%+v", d)
	}
	if len(c.o.Published) != 2 || c.o.Agent == nil || c.o.Client == nil {
		t.Errorf("published %v", c.o.Published)
	}
}

// TestComingSide adds TLS for clients where there is TLS between members. While the Secret for it is wrong, a member that joins gets what
// the others have; afterwards all have what they need already.
func TestComingSide(t *testing.T) {
	user := newUser(t, start)
	c := managed(t, "db-0")
	c.o.Managed, c.o.Users, c.o.Static, c.o.Transport = nil, nil, user.static(), member.Transport{PeerTLS: true}
	before := c.carryOut()
	c.o.Pods = []Pod{{Name: "db-0", Trust: before.Trust}}
	c.o.Transport, c.o.Coming = bothSides, member.Transport{ClientTLS: true}
	certificate := c.o.Static.Server.Data["server.crt"]
	c.o.Static.Server.Data["server.crt"] = []byte("garbage")
	c.o.Members = append(c.o.Members, "db-1")
	d := c.carryOut()
	if d.Problem == nil || !strings.Contains(d.Problem.Message, "server.crt") || len(d.Waiting) > 0 || d.TrustHash != before.TrustHash {
		t.Errorf("%+v", d)
	}
	if len(c.o.Published["db-1"]["peer.crt"]) == 0 {
		t.Error("the new member has no certificate")
	}
	c.o.Static.Server.Data["server.crt"] = certificate
	if d = c.carryOut(); !d.Settled || len(d.Trust) != 2 || !slices.Equal(d.Trusting, []string{"db-0"}) {
		t.Errorf("%+v", d)
	}
	if len(c.o.Published["db-0"]["server.crt"]) == 0 {
		t.Error("the member has no certificate for clients")
	}
}

// TestLeavingManaged goes on renewing certificates that the spec does not ask for any more, with the names that clients use.
func TestLeavingManaged(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	c.o.Managed = &Managed{LeafDuration: 9 * 24 * time.Hour, ExtraServerNames: []string{"db.example.com", "2001:DB8::1"}}
	c.run()
	before := parse(t, c.o.Published["db-0"]["server.crt"])[0]
	c.o.Managed, c.o.Leaving = nil, bothSides
	if d := c.decide(); len(d.Writes) > 0 || d.Problem != nil || !d.Settled {
		t.Errorf("%+v", d)
	}
	c.o.Now = start.Add(6 * 24 * time.Hour)
	for range 9 {
		c.carryOut()
		c.serve()
	}
	after := parse(t, c.o.Published["db-0"]["server.crt"])[0]
	if after.Equal(before) || !slices.Equal(after.DNSNames, before.DNSNames) || len(after.IPAddresses) != len(before.IPAddresses) ||
		after.NotAfter.Sub(after.NotBefore) != before.NotAfter.Sub(before.NotBefore) {
		t.Errorf("got %v %v until %v, want %v %v", after.DNSNames, after.IPAddresses, after.NotAfter, before.DNSNames, before.IPAddresses)
	}
	if users := parse(t, c.o.Users[0].Data["tls.crt"]); !users[0].NotBefore.Equal(c.o.Now.Add(-pki.Backdate)) {
		t.Errorf("the user's is from %v", users[0].NotBefore)
	}
	c.connected()
}

// TestLeavingStatic keeps what members and operator have of the user's, on the side that the spec does not name any more, and follows the
// user on the other one.
func TestLeavingStatic(t *testing.T) {
	user := newUser(t, start)
	c := managed(t, "db-0")
	c.o.Managed, c.o.Users, c.o.Static = nil, nil, user.static()
	c.run()
	before, operator := c.o.Published["db-0"], c.o.Operator
	c.o.Static = user.static()
	c.o.Static.Server, c.o.Static.Operator, c.o.Leaving = Source{}, Source{}, member.Transport{ClientTLS: true}
	d := c.run()
	if d.Problem != nil || d.Operator == nil || !bytes.Equal(d.Operator.Certificate, operator.Certificate) {
		t.Errorf("%+v", d)
	}
	if now := c.o.Published["db-0"]; !bytes.Equal(now["server.crt"], before["server.crt"]) || bytes.Equal(now["peer.crt"], before["peer.crt"]) {
		t.Error("it does not keep the one, or not renew the other")
	}
	c.o.Static, c.o.Leaving = nil, bothSides
	if d = c.decide(); d.Problem != nil || len(d.Writes) > 0 || d.Operator == nil {
		t.Errorf("%+v", d)
	}
}

// TestLeavingTells has applications know where to connect while their certificates are left, whether anybody can renew them or not.
func TestLeavingTells(t *testing.T) {
	for title, change := range map[string]func(*Observed){
		"by the operator's authorities": func(*Observed) {},
		"the authorities are lost":      func(o *Observed) { o.Authority, o.Made = nil, nil },
	} {
		t.Run(title, func(t *testing.T) {
			c := managed(t, "db-0")
			c.run()
			before := c.o.Client
			c.o.Managed, c.o.Leaving, c.o.Endpoints = nil, bothSides, "http://db-client.prod.svc:2379"
			change(&c.o)
			d := c.carryOut()
			for _, data := range []map[string][]byte{c.o.Client, c.o.Users[0].Data} {
				if string(data[KeyEndpoints]) != c.o.Endpoints {
					t.Errorf("applications are told %s", data[KeyEndpoints])
				}
			}
			if !bytes.Equal(c.o.Client[KeyKey], before[KeyKey]) || !slices.Equal(d.Applications, []string{"db-client", "app-tls", "other-tls"}) {
				t.Errorf("they have another key, or %q are told", d.Applications)
			}
		})
	}
	c := userGiven(t, newUser(t, start).static(), "db-0")
	c.run()
	c.o.Client = map[string][]byte{KeyEndpoints: []byte("https://before")}
	if d := c.carryOut(); len(d.Applications) > 0 || string(c.o.Client[KeyEndpoints]) != "https://before" {
		t.Errorf("with certificates of the user's, %q are told", d.Applications)
	}
}
