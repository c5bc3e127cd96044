package certificates

import (
	"bytes"
	"testing"
	"time"
)

// rotating is a cluster whose members all trust the former and the new authorities, at the point where their certificates are to change.
func rotating(t *testing.T) *cluster {
	t.Helper()
	c := managed(t, "db-0", "db-1", "db-2")
	c.run()
	c.o.Rotate = "ca:1"
	for {
		d := c.decide()
		if c.apply(d); d.Recording {
			continue
		}
		for i := range c.o.Pods {
			c.o.Pods[i].Trust = d.Trust
		}
		c.serve()
		c.o.Refreshed = c.o.Now
		return c
	}
}

// turns reports whether a decision gives a member another certificate for clients, or has members trust others.
func (c *cluster) turns(d Decision) bool {
	for _, w := range d.Writes {
		if w.Kind == KindMember && !bytes.Equal(w.Data[KeyServerCertificate], c.o.Published[w.Member][KeyServerCertificate]) {
			return true
		}
	}
	return d.TrustHash != Hash(c.o.Trust)
}

// TestMissingSecretWhileRotating waits for applications whose Secret is missing: they go on with the files that it gave them, and it is not
// known yet when they will have read the next one. Whoever has just been made cannot have any.
func TestMissingSecretWhileRotating(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Observed)
		turns  bool
	}{
		"all have been read":            {func(*Observed) {}, true},
		"the client's was deleted":      {func(o *Observed) { o.Client = nil }, false},
		"the client's is garbage":       {func(o *Observed) { o.Client[KeyCertificate] = []byte("-") }, false},
		"a user's was deleted":          {func(o *Observed) { o.Users[0].Data = nil }, false},
		"that of a new user is not yet": {func(o *Observed) { o.Users[0].Data, o.Users[0].New = nil, true }, true},
		"one that cannot be written for long": {func(o *Observed) {
			o.Users[0].Data, o.Users[0].Refused, o.Now = nil, "no", o.Now.Add(Patience)
		}, true},
		"noted by a clock that is ahead": {func(o *Observed) { o.Refreshed = o.Now.Add(time.Second) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := rotating(t)
			c.o.Now = c.o.Now.Add(ReadTime)
			if test.change(&c.o); c.turns(c.decide()) != test.turns {
				t.Errorf("turns: %t", !test.turns)
			}
		})
	}
}

// TestRenewalWhileReading renews a member's certificate although applications have not read their Secrets yet: they accept its authority.
func TestRenewalWhileReading(t *testing.T) {
	one := authorities{"a"}
	s := side{
		asked: true, reading: true, members: circle{source: one, recorded: one, processes: []authorities{one}},
		clients: &circle{source: one, recorded: one, processes: []authorities{one}},
		holders: []holder{{
			member: true, running: true, has: one, due: true, served: confirmed, offers: []offer{{issuers: one, source: true}},
		}},
	}
	if v := next(s); v.picks[0] != 0 || v.waiting {
		t.Errorf("it waits: %+v", v)
	}
}

// TestNewUserIsNotWaitedFor has nobody wait for a Secret that nobody can have read before.
func TestNewUserIsNotWaitedFor(t *testing.T) {
	for _, isNew := range []bool{true, false} {
		c := managed(t, "db-0")
		c.run()
		c.o.Users[0].Data, c.o.Users[0].New = nil, isNew
		for _, w := range c.decide().Writes {
			if w.Kind != KindUser || w.Refresh == isNew {
				t.Errorf("new: %t; writes %s, to be read again: %t", isNew, w.Kind, w.Refresh)
			}
		}
	}
}
