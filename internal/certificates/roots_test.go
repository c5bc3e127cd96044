package certificates

import (
	"bytes"
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// stranger is an authority, in PEM, that somebody else has the key of.
func stranger(t *testing.T) []byte {
	t.Helper()
	made, err := pki.NewAuthority(rand.Reader, "stranger", start, 5*year)
	if err != nil {
		t.Fatal(err)
	}
	return pki.Encode(made.Chain)
}

// names reports whether a decision has anybody trust an authority, or has status record it.
func (d Decision) names(authority []byte, fingerprint string) bool {
	if d.Operator != nil && bytes.Contains(d.Operator.Roots, authority) || slices.Contains(d.Roots, fingerprint) {
		return true
	}
	return slices.ContainsFunc(d.Writes, func(w Write) bool {
		return bytes.Contains(w.Data[KeyCA], authority) || bytes.Contains(w.Data[KeyClientCA], authority)
	})
}

// TestPlantedRoot has somebody put an authority of theirs among those that clients trust, while members still present certificates of another
// authority than the source's. Nobody else ever trusts it, whoever could not be asked, and nobody is cut off.
func TestPlantedRoot(t *testing.T) {
	theirs := stranger(t)
	fingerprint := fingerprint(t, theirs)
	add := func(data map[string][]byte, key string) { data[key] = append(bytes.Clone(data[key]), theirs...) }
	given := func(t *testing.T) *cluster {
		c := userGiven(t, newUser(t, start).static(), "db-0", "db-1")
		c.run()
		c.o.Static = newUser(t, start).static()
		c.apply(c.decide())
		c.apply(c.decide())
		return c
	}
	for title, c := range map[string]struct {
		begin func(*testing.T) *cluster
		plant func(*Observed)
	}{
		"a user's":                 {rotating, func(o *Observed) { add(o.Users[0].Data, KeyCA) }},
		"the client's":             {rotating, func(o *Observed) { add(o.Client, KeyCA) }},
		"the agents'":              {rotating, func(o *Observed) { add(o.Agent, KeyClientCA) }},
		"the agents', mode static": {given, func(o *Observed) { add(o.Agent, KeyClientCA) }},
		"the agents', one is down": {func(t *testing.T) *cluster { c := managed(t, "db-0", "db-1"); c.run(); return c }, func(o *Observed) {
			add(o.Agent, KeyClientCA)
			delete(o.Served, "db-0")
		}},
		"a user's, after an upgrade": {func(t *testing.T) *cluster { c := rotating(t); c.o.Roots = nil; return c }, func(o *Observed) { add(o.Users[0].Data, KeyCA) }},
	} {
		t.Run(title, func(t *testing.T) {
			cluster := c.begin(t)
			for range 3 {
				c.plant(&cluster.o)
				d := cluster.decide()
				if d.names(theirs, fingerprint) {
					t.Fatalf("the authority is passed on: %q", d.Step)
				}
				cluster.apply(d)
				cluster.connected()
				cluster.o.Now = cluster.o.Now.Add(time.Minute)
			}
			cluster.serve()
			cluster.o.Refreshed = time.Time{} // they have been read
			if cluster.settle(); bytes.Contains(cluster.o.Agent[KeyClientCA], theirs) {
				t.Error("the agents trust it in the end")
			}
		})
	}
}

// TestUnrecordedRoots replaces the user's certificates and authorities in a cluster whose status does not record by which authorities clients
// accept members, from before there was a record or because status was lost. Clients go on accepting members with the former certificates.
func TestUnrecordedRoots(t *testing.T) {
	for title, begin := range map[string]func(*testing.T) *cluster{
		"the next of the user's": func(t *testing.T) *cluster {
			c := userGiven(t, newUser(t, start).static(), "db-0", "db-1")
			c.run()
			c.o.Static = newUser(t, start).static()
			return c
		},
		"the operator takes over": func(t *testing.T) *cluster {
			c := userGiven(t, newUser(t, start).static(), "db-0", "db-1")
			c.run()
			c.o.Static, c.o.Managed = nil, &Managed{}
			return c
		},
		"the cluster's own": rotating,
		"the cluster's own are lost": func(t *testing.T) *cluster {
			c := managed(t, "db-0", "db-1")
			c.run()
			c.o.Authority = nil
			return c
		},
	} {
		for passes := range 4 {
			t.Run(title, func(t *testing.T) {
				c := begin(t)
				for range passes {
					c.apply(c.decide())
				}
				c.o.Roots, c.o.Authorities, c.o.Made, c.o.Operator = nil, nil, nil, nil
				c.o.Refreshed = time.Time{} // they have been read
				c.settle()
			})
		}
	}
}

// TestUnrecordedRootsWithoutAgents has nobody but the members know the authority of their certificates: applications go on accepting these.
func TestUnrecordedRootsWithoutAgents(t *testing.T) {
	c := managed(t, "db-0", "db-1")
	c.run()
	before := fingerprint(t, c.o.Client[KeyCA])
	c.o.Authority, c.o.Agent, c.o.Roots, c.o.Authorities, c.o.Made, c.o.Operator = nil, nil, nil, nil, nil, nil
	if d := c.decide(); len(d.Roots) != 2 || !slices.Contains(d.Roots, before) {
		t.Errorf("applications are to accept %v, and members have certificates of %s", d.Roots, before)
	}
}

// TestRootsAreRecordedFirst gives nobody a certificate by an authority that status does not record yet: the user may have named another one by
// the time it does. While there is nothing to give, nobody waits for status.
func TestRootsAreRecordedFirst(t *testing.T) {
	c := userGiven(t, newUser(t, start).static(), "db-0", "db-1")
	if d := c.decide(); len(d.Writes) > 0 || !d.Recording || d.Settled || len(d.Roots) != 1 {
		t.Errorf("before the first start: %d writes, recording %t, roots %v", len(d.Writes), d.Recording, d.Roots)
	}
	c.run()
	before := c.o.Roots
	c.o.Roots = nil
	if d := c.decide(); d.Recording || !d.Settled || !slices.Equal(d.Roots, before) {
		t.Errorf("after an upgrade: %q, roots %v", d.Step, d.Roots)
	}
	c.o.Roots, c.o.Static = before, newUser(t, start).static()
	d := c.decide()
	if len(d.Writes) > 0 || !d.Recording || len(d.Roots) != 2 {
		t.Errorf("with another source: %d writes, recording %t, roots %v", len(d.Writes), d.Recording, d.Roots)
	}
	if c.o.Roots = d.Roots; c.decide().Recording || len(c.decide().Writes) == 0 {
		t.Error("once they are recorded, nothing is written")
	}
}
