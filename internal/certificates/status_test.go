package certificates

import (
	"bytes"
	"maps"
	"slices"
	"testing"
)

// TestStatusNotWritten carries out decisions while status cannot be written: the authorities stay those that were made first, no Secret is
// wanted for the trust in some that may never be used, and nobody is suspected. A process that did not make them makes others, and warns.
func TestStatusNotWritten(t *testing.T) {
	for title, change := range map[string]func(*cluster){
		"before the first start": nil, "new authorities": func(c *cluster) { c.run(); c.o.Rotate = "ca:1" },
	} {
		t.Run(title, func(t *testing.T) {
			c := managed(t, "db-0", "db-1")
			if change != nil {
				change(c)
			}
			recorded, trust := c.o.Authorities, c.o.Trust
			fail := func() Decision {
				d := c.decide()
				c.apply(d)
				c.o.Authorities, c.o.Trust = recorded, trust
				return d
			}
			first := fail()
			for range 3 {
				d := fail()
				if !slices.Equal(d.Authorities, first.Authorities) || !d.Recording || d.Trust != nil || d.TrustHash != "" || len(d.Warnings) > 0 {
					t.Fatalf("authorities %v, want %v; trust %q; warnings %q", d.Authorities, first.Authorities, d.TrustHash, d.Warnings)
				}
			}
			c.o.Made = nil
			if d := c.decide(); slices.Equal(d.Authorities, first.Authorities) || len(d.Warnings) == 0 {
				t.Errorf("a new process uses what it does not know: %v, warnings %q", d.Authorities, d.Warnings)
			}
		})
	}
}

// TestRestoredAuthorities puts a copy of the Secret with the authorities back after it was deleted. Until the operator has looked, nothing
// has happened. Later the copy is of no use, and is replaced in its turn.
func TestRestoredAuthorities(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	before := c.run()
	old := maps.Clone(c.o.Authority)
	if d := c.decide(); !d.Settled || !slices.Equal(d.Authorities, before.Authorities) {
		t.Errorf("restored at once: %q", d.Step)
	}
	c.o.Authority = nil
	c.carryOut()
	replaced := c.o.Authorities
	c.o.Authority = old
	d := c.decide()
	if len(d.Warnings) == 0 || !d.Recording || slices.ContainsFunc(d.Authorities, func(a string) bool {
		return slices.Contains(before.Authorities, a) || slices.Contains(replaced, a)
	}) {
		t.Errorf("restored too late: authorities %v after %v, warnings %q", d.Authorities, replaced, d.Warnings)
	}
	if d, _ = c.settle(); c.trusted() != 1 || bytes.Contains(c.o.Trust[KeyPeerCA], old[KeyPeerCertificate]) {
		t.Errorf("%d authorities are trusted in the end", c.trusted())
	}
}
