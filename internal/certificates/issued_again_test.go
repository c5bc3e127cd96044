package certificates

import (
	"bytes"
	"strings"
	"testing"
)

// TestIssuedCopiedAgain takes cert-manager's authorities once more if the operator's copies are deleted: nothing is replaced. That they are
// recorded is enough, whether the requests are there or not; of others it takes none without.
func TestIssuedCopiedAgain(t *testing.T) {
	for title, signed := range map[string]bool{"with requests": true, "without": false} {
		t.Run(title, func(t *testing.T) {
			c := managed(t, "db-0")
			c.o.Managed.Issued = issued(c, year)
			c.run()
			copied, published := c.o.Authority, c.o.Published["db-0"]
			if c.o.Authority, c.o.Made = nil, nil; !signed {
				c.o.Managed.Issued.Peer.Signed, c.o.Managed.Issued.Server.Signed = nil, nil
			}
			if d := c.carryOut(); !d.Settled || d.Problem != nil || !bytes.Equal(c.o.Authority["server.key"], copied["server.key"]) {
				t.Errorf("%q, %v", d.Step, d.Problem)
			}
			if !bytes.Equal(published["server.crt"], c.o.Published["db-0"]["server.crt"]) {
				t.Error("certificates are replaced")
			}
			theirs := issued(c, year)
			theirs.Peer.Signed, theirs.Server.Signed = nil, nil
			c.o.Authority, c.o.Made, c.o.Managed.Issued = nil, nil, theirs
			if d := c.carryOut(); d.Blocking == nil || c.o.Authority["peer.crt"] != nil {
				t.Errorf("it copies what nobody has signed or recorded: %+v", d.Problem)
			}
		})
	}
}

// TestIssuedNotTakenBack takes no recorded authority in place of the present one without a request: it would be a former one.
func TestIssuedNotTakenBack(t *testing.T) {
	c := managed(t, "db-0")
	c.o.Managed.Issued = issued(c, year)
	former := c.o.Managed.Issued.Peer.Data
	c.run()
	c.o.Managed.Issued = issued(c, year)
	c.apply(c.decide())
	c.apply(c.decide())
	if len(c.o.Authorities) != 4 {
		t.Fatalf("%d authorities are recorded, want both of each side", len(c.o.Authorities))
	}
	present := c.o.Authority["peer.crt"]
	c.o.Managed.Issued.Peer.Data, c.o.Managed.Issued.Peer.Signed = former, nil
	if d := c.decide(); d.Problem == nil || !strings.Contains(d.Problem.Message, "the issuer has not signed") {
		t.Errorf("it says %+v", d.Problem)
	}
	if c.run(); !bytes.Equal(c.o.Authority["peer.crt"], present) {
		t.Error("the former authority is the present one again")
	}
}
