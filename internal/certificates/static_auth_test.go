package certificates

import (
	"bytes"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestServerIsNotRoot refuses a server certificate by which the HTTP gateway makes root of clients, and warns of other users.
func TestServerIsNotRoot(t *testing.T) {
	const refusal, warning = "key server.crt of Secret servers has the common name root", "can be that user over the HTTP gateway"
	for title, c := range map[string]struct {
		name        string
		wanted, on  bool
		both        bool
		wrong, warn bool
	}{
		"nobody":                   {wanted: true, both: true},
		"root, without auth":       {name: "root", both: true, warn: true},
		"root, wanted":             {name: "root", wanted: true, both: true, wrong: true},
		"root, on":                 {name: "root", on: true, both: true, wrong: true},
		"root, which is no client": {name: "root", wanted: true, wrong: true},
		"a user":                   {name: "app", wanted: true, both: true, warn: true},
		"a user that is no client": {name: "app", wanted: true},
	} {
		u := newUser(t, start)
		u.client.CommonName, u.server.CommonName = "root", c.name
		if c.both {
			u.server.Usages = both
		}
		w := userGiven(t, u.static(), "db-0")
		w.o.AuthWanted, w.o.OperatorIsRoot = c.wanted, c.on
		d := w.decide()
		if wrong := d.Problem != nil && strings.Contains(d.Problem.Message, refusal); wrong != c.wrong || (d.Problem != nil) != c.wrong {
			t.Errorf("%s: problem %+v", title, d.Problem)
		}
		if warns := strings.Contains(strings.Join(d.Warnings, ""), warning); warns != c.warn {
			t.Errorf("%s: warnings %q", title, d.Warnings)
		}
	}
}

// TestServersWithoutRoot renews the servers' certificates although the new certificate of the operator is not root's, which keeps the present
// one. Without one that the members' authorities verify, nothing of that side changes.
func TestServersWithoutRoot(t *testing.T) {
	for title, cut := range map[string]bool{"the same authorities": false, "other authorities of clients": true} {
		t.Run(title, func(t *testing.T) {
			u := newUser(t, start)
			u.client.CommonName = "root"
			c := userGiven(t, u.static(), "db-0", "db-1")
			c.o.OperatorIsRoot = true
			before := c.run()
			had := c.o.Published["db-1"][KeyServerCertificate]
			if u.client.CommonName = "operator"; cut {
				u.clientCA, u.serverCA = u.authority("other clients"), u.authority("other servers")
			}
			c.o.Static = u.static()
			c.run()
			d := c.run() // one member after the other
			if d.Problem == nil || d.Problem.Reason != v1beta2.ReasonOperatorNotRoot || d.Settled {
				t.Errorf("settled: %t, problem %+v", d.Settled, d.Problem)
			}
			if !bytes.Equal(d.Operator.Certificate, before.Operator.Certificate) {
				t.Error("the operator has the other certificate")
			}
			if kept := bytes.Equal(c.o.Published["db-1"][KeyServerCertificate], had); kept != cut {
				t.Errorf("the server's certificate is kept: %t", kept)
			}
			c.connected()
		})
	}
}
