package certificates

import (
	"bytes"
	"maps"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
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

// TestClientNotedForGood has who may write to the Secret of applications note all the time that it was changed while authorities are replaced. That
// is said once a late write does not explain it any more, and ends after a day.
func TestClientNotedForGood(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	c.run()
	c.o.Now, c.o.Rotate = c.o.Now.Add(time.Hour), "ca:1"
	began := c.o.Now
	for ; ; c.o.Now = c.o.Now.Add(time.Minute) {
		c.o.Refreshed = c.o.Now
		d := c.updated()
		passed := c.o.Now.Sub(began)
		if d.Settled {
			break
		}
		if passed > ClientPatience+time.Hour {
			t.Fatalf("after %s: %q", passed, d.Step)
		}
		switch said := d.Problem; {
		case passed < Patience && said != nil, passed >= ClientPatience+Patience && said != nil:
			t.Fatalf("after %s it says %+v", passed, said)
		case passed < 2*Patience || passed >= ClientPatience: // applications were given certificates meanwhile, which has patience of its own
		case said == nil || said.Reason != v1beta2.ReasonWriteRefused || !strings.Contains(said.Message, "Secret db-client") ||
			!strings.Contains(said.Message, "again and again") || !strings.Contains(said.Message, began.Add(ClientPatience).Format(time.RFC3339)):
			t.Fatalf("after %s it says %+v", passed, said)
		}
	}
	if c.trusted() != 1 || c.o.Authority[KeyFormerServer] != nil || c.o.Now.Sub(began) < ClientPatience {
		t.Errorf("after %s, %d authorities are trusted", c.o.Now.Sub(began), c.trusted())
	}
}

// TestClientPutBack has the certificate of the former authority be put back into that Secret all the time, or the Secret be deleted, which is said.
func TestClientPutBack(t *testing.T) {
	for title, meddle := range map[string]func(o *Observed, before map[string][]byte){
		"it is put back": func(o *Observed, before map[string][]byte) { o.Client = maps.Clone(before) },
		"its authority is put back": func(o *Observed, before map[string][]byte) {
			o.Client = maps.Clone(o.Client)
			o.Client[KeyCA] = before[KeyCA]
		},
		"it is deleted": func(o *Observed, _ map[string][]byte) { o.Client = nil },
	} {
		t.Run(title, func(t *testing.T) {
			c := managed(t, "db-0", "db-1")
			c.run()
			c.o.Now, c.o.Rotate = c.o.Now.Add(time.Hour), "ca:1"
			before, end := c.o.Client, c.o.Now.Add(3*Patience)
			var d Decision
			for ; c.o.Now.Before(end); c.o.Now = c.o.Now.Add(time.Minute) {
				meddle(&c.o, before)
				d = c.updated()
				c.note(d)
			}
			if d.Problem == nil || !strings.Contains(d.Problem.Message, "Secret db-client") {
				t.Errorf("it says %+v, and does: %q", d.Problem, d.Step)
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
