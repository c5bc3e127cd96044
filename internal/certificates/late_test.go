package certificates

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// note keeps when Secrets for applications were last written so that they have to be read, as the controller notes it with them.
func (c *cluster) note(d Decision) {
	for _, w := range d.Writes {
		switch {
		case w.Refresh && w.Kind == KindClient:
			c.o.Refreshed = c.o.Now
		case w.Refresh:
			c.o.UsersRefreshed = c.o.Now
		}
	}
}

// trustBoth reports whether all members trust two authorities: then others may get certificates of the next one.
func trustBoth(o *Observed) bool {
	return !slices.ContainsFunc(o.Pods, func(p Pod) bool { return bytes.Count(p.Trust[KeyServerCA], []byte("BEGIN")) != 2 })
}

// TestClientWrittenLate has the Secret of applications be written later than anybody waits for users' Secrets, in either step of a replacement of
// authorities. Applications that read it as late as they may reach every member all the while.
func TestClientWrittenLate(t *testing.T) {
	for title, test := range map[string]struct {
		// held is from when on it cannot be written, and gone whether it does not exist meanwhile.
		held func(*Observed) bool
		gone bool
	}{
		"whom to trust, it cannot be written":      {func(*Observed) bool { return true }, false},
		"whom to trust, it is missing":             {func(*Observed) bool { return true }, true},
		"their certificates, it cannot be written": {trustBoth, false},
		"their certificates, it is missing":        {func(o *Observed) bool { return o.Authority["server-handed-out"] != nil }, true},
		"it is written at once":                    {func(*Observed) bool { return false }, false},
	} {
		t.Run(title, func(t *testing.T) {
			c := managed(t, "db-0", "db-1")
			c.run()
			c.o.Now, c.o.Rotate = c.o.Now.Add(time.Hour), "ca:1"
			read, written, heldFrom := c.o.Client, c.o.Now, time.Time{}
			for end := c.o.Now.Add(4 * Patience); c.o.Now.Before(end); c.o.Now = c.o.Now.Add(10 * time.Second) {
				if heldFrom.IsZero() && test.held(&c.o) {
					heldFrom = c.o.Now
				}
				held, client := !heldFrom.IsZero() && c.o.Now.Sub(heldFrom) < Patience+5*time.Minute, c.o.Client
				if held && test.gone {
					client = nil
				}
				c.o.Client = client
				d := c.updated()
				isClient := func(w Write) bool { return w.Kind == KindClient }
				if held {
					c.o.Client, d.Writes = client, slices.DeleteFunc(d.Writes, isClient)
				} else if slices.ContainsFunc(d.Writes, isClient) {
					written = c.o.Now
				}
				if c.note(d); c.o.Client != nil && c.o.Now.Sub(written) >= ReadTime {
					read = c.o.Client
				}
				if c.reaches(read); t.Failed() {
					t.Fatalf("%s after it began, %s after the last write: %q", c.o.Now.Sub(start.Add(time.Hour)), c.o.Now.Sub(written), d.Step)
				}
			}
			if c.trusted() != 1 || c.o.Authority[KeyFormerServer] != nil {
				t.Errorf("%d authorities are trusted in the end", c.trusted())
			}
		})
	}
}
