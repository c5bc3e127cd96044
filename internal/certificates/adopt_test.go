package certificates

import (
	"bytes"
	"crypto/rand"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// planted is what a stranger who knows the keys puts where the cluster's authorities are kept.
func planted(t *testing.T) map[string][]byte {
	t.Helper()
	data := map[string][]byte{}
	for _, h := range []half{peers, clients} {
		made, err := pki.NewAuthority(rand.Reader, "stranger", start, 5*year)
		if err != nil {
			t.Fatal(err)
		}
		if data[h.certificate], data[h.key], err = made.Encode(); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// TestPlanted uses no authority that somebody else has put where the cluster's own are kept, whenever that is.
func TestPlanted(t *testing.T) {
	for title, c := range map[string]struct {
		begin  func() *cluster
		change func(*cluster)
	}{
		"before the first start": {func() *cluster { return managed(t, "db-0", "db-1") }, nil},
		"while it runs": {func() *cluster {
			c := managed(t, "db-0", "db-1")
			c.run()
			return c
		}, nil},
		"while it runs, and status is lost": {func() *cluster {
			c := managed(t, "db-0", "db-1")
			c.run()
			c.o.Authorities = nil
			return c
		}, nil},
		"before the operator takes over from the user": {func() *cluster {
			c := userGiven(t, newUser(t, start).static(), "db-0", "db-1")
			c.run()
			return c
		}, func(c *cluster) { c.o.Static, c.o.Managed, c.o.Operator = nil, &Managed{}, nil }},
	} {
		t.Run(title, func(t *testing.T) {
			cluster, theirs := c.begin(), planted(t)
			cluster.o.Authority = maps.Clone(theirs)
			if c.change != nil {
				c.change(cluster)
			}
			if d := cluster.decide(); !slices.ContainsFunc(d.Warnings, func(w string) bool { return strings.HasPrefix(w, "Secret db-ca holds an authority") }) {
				t.Errorf("it warns of %q", d.Warnings)
			}
			if len(cluster.o.Pods) > 0 {
				cluster.settle()
			} else {
				cluster.run()
			}
			for _, h := range []half{peers, clients} {
				if bytes.Equal(cluster.o.Authority[h.certificate], theirs[h.certificate]) || bytes.Contains(cluster.o.Trust[h.ca], theirs[h.certificate]) {
					t.Errorf("the stranger's authority is used for connections %s", h.what)
				}
			}
		})
	}
}

// TestRecorded signs nothing with an authority before it is recorded, and goes on with those of before there was a record.
func TestRecorded(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	d := c.decide()
	if len(d.Writes) != 1 || d.Writes[0].Kind != KindAuthority || len(d.Authorities) != 2 || d.Settled {
		t.Errorf("%d writes before its authorities are recorded, %d authorities", len(d.Writes), len(d.Authorities))
	}
	if held := Held(d.Writes[0].Data); !slices.Equal(held, d.Authorities) {
		t.Errorf("the Secret holds %v of %v", held, d.Authorities)
	}
	if held := Held(nil); len(held) > 0 {
		t.Errorf("no Secret holds %v", held)
	}
	before := c.run()
	c.o.Authorities, c.o.Made = nil, nil
	for title, forget := range map[string]func(*Observed){
		"by pods": func(o *Observed) { o.Trust = nil }, "by what status names": func(o *Observed) { o.Pods = nil },
	} {
		o := c.o
		forget(&o)
		d, err := Decide(o, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Authorities, before.Authorities) || len(d.Writes) > 0 || !d.Recording {
			t.Errorf("trusted %s: it records %v, want %v; %d writes", title, d.Authorities, before.Authorities, len(d.Writes))
		}
	}
	if d, _ := c.settle(); !slices.Equal(d.Authorities, before.Authorities) || d.TrustHash != before.TrustHash {
		t.Error("an upgrade replaces the authorities")
	}
}
