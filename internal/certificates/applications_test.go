package certificates

import (
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// application is what one trusts, and who has issued its leaf.
type application struct {
	roots  set
	client uint8
}

// listed is how many members there are.
func (w world) listed() (n int) {
	for _, m := range w.members {
		if m.listed {
			n++
		}
	}
	return n
}

// reads is whether an application may read next. They begin once there is a member: before, nobody depends on what they have.
func (r *rules) reads(w world) bool {
	if w.client == 0 {
		return false
	}
	if w.has == (application{}) {
		return r.applications && slices.ContainsFunc(w.members[:], func(m person) bool { return m.pod })
	}
	return w.has != application{w.roots, w.client}
}

// missing reports whether the Secret of applications was deleted that have read it.
func (r *rules) missing(w world) bool { return w.client == 0 && w.has != application{} }

// waits is how the operator may find applications: it waits for those that have not read, and perhaps for nobody at all.
func (r *rules) waits(w world) []bool {
	if r.applications && w.has == (application{}) {
		return []bool{false, true}
	}
	return []bool{r.reads(w) || r.missing(w)}
}

// TestUrgentWhileReading replaces a leaf that is about to expire although applications have not read their Secrets yet, and no other.
func TestUrgentWhileReading(t *testing.T) {
	both := authorities{"a", "b"}
	s := side{
		asked: true, reading: true, members: circle{source: both[1:], recorded: both, processes: []authorities{both}},
		clients: &circle{source: both[1:], recorded: both, processes: []authorities{both}},
		holders: []holder{{
			member: true, running: true, has: both[:1], due: true, served: confirmed, offers: []offer{{issuers: both[1:], source: true}},
		}},
	}
	if v := next(s); v.picks[0] != keep || !v.waiting || !v.trust.equal(both) {
		t.Errorf("it gets another leaf: %+v", v)
	}
	s.holders[0].urgent = true
	if v := next(s); v.picks[0] != 0 {
		t.Errorf("it waits: %+v", v)
	}
	s.holders[0].urgent, s.reading = false, false
	if v := next(s); v.picks[0] != 0 || v.waiting {
		t.Errorf("all have read, and it waits: %+v", v)
	}
}

// TestOwnLeafWhileReading gives a member that joins a leaf of its own, not another's, although applications have not read their Secrets yet.
func TestOwnLeafWhileReading(t *testing.T) {
	one := authorities{"a"}
	s := side{
		reading: true, members: circle{source: one, recorded: one, processes: []authorities{one}},
		clients: &circle{source: one, recorded: one, processes: []authorities{one}},
		holders: []holder{{member: true, offers: []offer{{issuers: one, source: true}, {issuers: one, copied: true}}}},
	}
	if v := next(s); v.picks[0] != 0 {
		t.Errorf("got %+v", v)
	}
}

// TestRefresh has applications read what names other authorities, and certificates of another one, and nothing else: each time, members
// wait for two minutes.
func TestRefresh(t *testing.T) {
	first, second := leafOf(t), leafOf(t)
	secret := func(ca string, certificate []byte) map[string][]byte {
		return map[string][]byte{KeyCA: []byte(ca), KeyCertificate: certificate, KeyEndpoints: []byte(ca)}
	}
	other := secret("a", first)
	other[KeyEndpoints] = nil
	for name, test := range map[string]struct {
		kind       Kind
		have, want map[string][]byte
		refresh    bool
	}{
		"another endpoint":                    {KindClient, secret("a", first), other, false},
		"others to trust":                     {KindClient, secret("a", first), secret("b", first), true},
		"a certificate of another one":        {KindUser, secret("a", first), secret("a", second), true},
		"a certificate that was garbage":      {KindUser, secret("a", []byte("-")), secret("a", second), true},
		"a user's that may have been deleted": {KindUser, nil, secret("a", first), true},
		"applications have none any more":     {KindClient, nil, secret("a", first), true},
		"an agent":                            {KindAgent, secret("a", first), secret("b", second), false},
	} {
		d := Decision{}
		if d.write(test.kind, "", test.have, test.want); len(d.Writes) != 1 || d.Writes[0].Refresh != test.refresh {
			t.Errorf("%s: %+v", name, d.Writes)
		}
	}
}

// leafOf is the certificate of an authority of its own.
func leafOf(t *testing.T) []byte {
	t.Helper()
	by, err := pki.NewAuthority(rand.Reader, "one", start, 5*year)
	if err != nil {
		t.Fatal(err)
	}
	r := clientRequest("app")
	r.Now, r.Lifetime = start, time.Hour
	made, err := pki.Issue(rand.Reader, by, r)
	if err != nil {
		t.Fatal(err)
	}
	certificate, _, err := made.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// TestCopyWhileReading gives a member that joins another's leaf, of the former authority, whose key is lost, while applications have not read
// their Secrets yet.
func TestCopyWhileReading(t *testing.T) {
	former, both := authorities{"a"}, authorities{"a", "b"}
	s := side{
		reading: true, members: circle{source: both[1:], recorded: both, processes: []authorities{both}},
		clients: &circle{source: both[1:], recorded: both, processes: []authorities{both}},
		holders: []holder{{member: true, offers: []offer{{issuers: both[1:], source: true}, {issuers: both[1:], copied: true}, {issuers: former, copied: true}}}},
	}
	if v := next(s); v.picks[0] != 2 {
		t.Errorf("got %+v", v)
	}
	if s.reading = false; next(s).picks[0] != 0 {
		t.Error("it gets a copy although all have read")
	}
}
