package certificates

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// TestOwnTrust reads what the operator has written itself, however many authorities sources have given: one that was not read would count
// as trusted by nobody.
func TestOwnTrust(t *testing.T) {
	u := newUser(t, start)
	c := userGiven(t, u.static(), "db-0", "db-1")
	c.run()
	all := newKnown(start)
	wide := all.read(c.o.Trust[KeyPeerCA])
	template := pki.Request{CommonName: "many"}
	for i := range 500 {
		template.CommonName = fmt.Sprint(i)
		wide = union(wide, all.add(u.authority(template.CommonName).Chain))
	}
	trust := map[string][]byte{KeyPeerCA: all.encode(wide), KeyServerCA: c.o.Trust[KeyServerCA]}
	c.o.Trust = trust
	for i := range c.o.Pods {
		c.o.Pods[i].Trust = trust
	}
	w, err := look(c.o, peers, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range w.side.members.processes {
		if len(p) != 501 {
			t.Errorf("a process trusts %d authorities, want 501", len(p))
		}
	}
	if len(w.side.members.processes) != 3 {
		t.Errorf("%d processes count, want the recorded one and two pods", len(w.side.members.processes))
	}
}

// TestWork bounds what a decision costs: each chain is verified once, however many members have it and however many authorities there are.
func TestWork(t *testing.T) {
	u := newUser(t, start)
	var members []string
	for i := range 9 {
		members = append(members, fmt.Sprint("db-", i))
	}
	bundle := pki.Encode(u.peerCA.Chain)
	for range pki.MaxAuthorities - 1 {
		bundle = append(bundle, pki.Encode(u.authority("peers").Chain)...)
	}
	u.peerTrust = bundle
	c := userGiven(t, u.static(), members...)
	if d := c.run(); d.Problem != nil {
		t.Fatal(d.Problem)
	}
	w, err := look(c.o, peers, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if w.known.verifications != 1 || len(w.known.all) != pki.MaxAuthorities {
		t.Errorf("%d verifications for one chain in %d places, with %d authorities", w.known.verifications, len(members), len(w.known.all))
	}
}

// TestTooMuch refuses what would cost much time, names it, and goes on with what there is.
func TestTooMuch(t *testing.T) {
	u := newUser(t, start)
	c := userGiven(t, u.static(), "db-0")
	before := c.run()
	ca := pki.Encode(u.peerCA.Chain)
	for want, spoil := range map[string]func(*Static){
		"key peer-ca.crt of Secret peers has 101 authorities, and may have 100: keep": func(s *Static) {
			s.Peer.Data[KeyPeerCA] = bytes.Repeat(ca, pki.MaxAuthorities+1)
		},
		"key peer.crt of Secret peers has 11 certificates after the first one, and may have 10: keep": func(s *Static) {
			s.Peer.Data[KeyPeerCertificate] = append(s.Peer.Data[KeyPeerCertificate], bytes.Repeat(ca, pki.MaxIntermediates+1)...)
		},
	} {
		c.o.Static = u.static()
		spoil(c.o.Static)
		d := c.decide()
		if d.Problem == nil || !strings.Contains(d.Problem.Message, want) || d.TrustHash != before.TrustHash {
			t.Errorf("problem %+v, want %q", d.Problem, want)
		}
	}
}

// TestAltered changes nothing, and says why, while it is unknown what members trust.
func TestAltered(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	before := c.run()
	c.o.Rotate = "leaves:1"
	c.o.Altered = []Altered{{"db-trust-x", "Secret db-trust-x holds other authorities"}}
	c.o.Pods[0].Trust = nil
	d := c.decide()
	if len(d.Writes) > 0 || d.TrustHash != "" || d.Settled || d.Rotated != before.Rotated || d.Operator != c.o.Operator || len(d.Certificates) == 0 {
		t.Errorf("it decides %+v", d)
	}
	const want = "Secret db-trust-x holds other authorities: delete it (kubectl -n prod delete secret db-trust-x), and the operator creates it again, or"
	if d.Problem == nil || !strings.HasPrefix(d.Problem.Message, want) {
		t.Errorf("problem %+v", d.Problem)
	}
	c.o.Altered[0].Secret = TrustName("db", before.TrustHash)
	if d = c.decide(); !strings.Contains(d.Problem.Message, "creates it again as it was") {
		t.Errorf("it would be the same again: %+v", d.Problem)
	}
}
