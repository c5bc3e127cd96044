package certificates

import (
	"bytes"
	"maps"
	"testing"
	"time"
)

// TestClientHeldUp has the Secret of applications not be written, or not be created again, from before authorities are replaced until the
// former one has expired. No member's certificate ever expires with that, and members accept each other all the time.
func TestClientHeldUp(t *testing.T) {
	const day = 24 * time.Hour
	for title, gone := range map[string]bool{"it cannot be written": false, "it is missing": true} {
		t.Run(title, func(t *testing.T) {
			c := managed(t, "db-0", "db-1")
			c.o.Managed.LeafDuration, c.o.Managed.CADuration = 6*day, 60*day
			c.run()
			c.o.Rotate = "ca:1"
			if gone {
				c.o.Client = nil
			}
			for c.o.Now.Before(start.Add(62 * day)) {
				client := c.o.Client
				d := c.updated()
				c.o.Client = client
				c.presentLive()
				if c.o.Now = c.o.Now.Add(day / 2); c.o.Now.After(start.Add(57 * day)) {
					c.o.Now = c.o.Now.Add(-day / 2).Add(time.Hour)
				}
				if c.o.Now.Before(start.Add(50*day)) && c.o.Authority[KeyFormerServer] == nil {
					t.Fatalf("applications are not waited for: %q", d.Step)
				}
			}
			if c.o.Authority[KeyFormerServer] != nil || c.trusted() != 1 {
				t.Errorf("%d authorities are trusted in the end", c.trusted())
			}
		})
	}
}

// updated carries out a decision, and updates a member.
func (c *cluster) updated() Decision {
	c.t.Helper()
	d := c.decide()
	c.apply(d)
	c.serve()
	for i, p := range c.o.Pods {
		if d.Trust != nil && !maps.EqualFunc(p.Trust, d.Trust, bytes.Equal) {
			c.o.Pods[i].Trust = d.Trust
			break
		}
	}
	return d
}

// presentLive wants members to accept each other, and their certificates to be valid for as long as kubelets take to update them.
func (c *cluster) presentLive() {
	c.t.Helper()
	known := newKnown(c.o.Now.Add(ReadTime))
	for _, p := range c.o.Pods {
		for _, h := range []half{peers, clients} {
			trust := known.live(known.read(p.Trust[h.ca]))
			for _, q := range c.o.Pods {
				leaf := parse(c.t, c.o.Published[q.Name][h.certificate])
				if !trust.verify(known.issuers(leaf)) {
					c.t.Errorf("after %s, %s does not accept %s on the side %s: %s", c.o.Now.Sub(start), p.Name, q.Name, h.what, leaf[0].NotAfter)
				}
			}
		}
	}
}
