package certificates

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// TestLostAuthority replaces authorities whose keys are lost in a cluster of members without volumes: each is updated by another one that
// joins, while the others still trust nobody but the lost authority.
func TestLostAuthority(t *testing.T) {
	for _, size := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			var members []string
			for i := range size {
				members = append(members, fmt.Sprint("db-", i))
			}
			c := managed(t, members...)
			c.run()
			lost := c.o.Trust[KeyPeerCA]
			c.o.Authority = nil
			for next := size; ; next++ {
				d := c.replaceOne(fmt.Sprint("db-", next))
				if d.Settled {
					break
				}
				if next > 4*size+size {
					t.Fatalf("it never settles: %q", d.Step)
				}
			}
			if c.trusted() != 1 || bytes.Equal(c.o.Trust[KeyPeerCA], lost) {
				t.Errorf("%d authorities are trusted in the end", c.trusted())
			}
		})
	}
}

// replaceOne carries out decisions until nothing is left to do but to replace a member, and does that.
func (c *cluster) replaceOne(name string) Decision {
	c.t.Helper()
	d := c.pass()
	for range 20 {
		d = c.pass()
	}
	i := slices.IndexFunc(c.o.Pods, func(p Pod) bool { return !maps.EqualFunc(p.Trust, d.Trust, bytes.Equal) })
	if d.Settled || i < 0 {
		return d
	}
	c.o.Members = append(slices.Clone(c.o.Members), name)
	d = c.pass()
	if d = c.pass(); len(d.Waiting) > 0 {
		c.t.Fatalf("%v get no certificate: %q", d.Waiting, d.Step)
	}
	c.o.Pods = append(c.o.Pods, Pod{Name: name, Trust: d.Trust})
	c.serve()
	c.connected()
	for _, m := range c.o.Members {
		for _, key := range []string{KeyPeerCertificate, KeyServerCertificate} {
			if err := parse(c.t, c.o.Published[m][key])[0].VerifyHostname(c.o.Names.host(m)); err != nil {
				c.t.Error(err)
			}
		}
	}
	gone := c.o.Pods[i].Name
	c.o.Pods = slices.Delete(slices.Clone(c.o.Pods), i, i+1)
	c.o.Members = slices.DeleteFunc(c.o.Members, func(m string) bool { return m == gone })
	delete(c.o.Published, gone)
	c.serve()
	return d
}

// pass carries out one decision, and has it served.
func (c *cluster) pass() Decision {
	c.t.Helper()
	d := c.decide()
	c.apply(d)
	c.serve()
	return d
}
