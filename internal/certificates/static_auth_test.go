package certificates

import (
	"strings"
	"testing"
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
