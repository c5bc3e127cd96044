package certificates

import (
	"bytes"
	"crypto/x509"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// connected holds that every pod verifies what every member with a pod has published and serves, and the clients' certificates.
func (c *cluster) connected() {
	c.t.Helper()
	verify := func(what string, leaf, trust []byte) {
		if !slices.ContainsFunc(parse(c.t, trust), func(a *x509.Certificate) bool { return pki.Verifies(parse(c.t, leaf), a, c.o.Now) }) {
			c.t.Errorf("%s is not verified", what)
		}
	}
	for _, pod := range c.o.Pods {
		for _, other := range c.o.Pods {
			verify(other.Name+"'s leaf by "+pod.Name, c.o.Published[other.Name]["peer.crt"], pod.Trust["peer-ca.crt"])
			verify(other.Name+"'s server by clients", c.o.Published[other.Name]["server.crt"], c.o.Agent["etcd-client-ca.crt"])
			for _, u := range c.o.Users {
				if c.o.Managed != nil && u.Data != nil {
					verify(other.Name+"'s server by user "+u.Name, c.o.Published[other.Name]["server.crt"], u.Data["ca.crt"])
				}
			}
		}
		verify("the agents' leaf by "+pod.Name, c.o.Agent["etcd-client.crt"], pod.Trust["server-ca.crt"])
		for _, u := range c.o.Users {
			if c.o.Managed != nil && u.Data != nil {
				verify("user "+u.Name+"'s leaf by "+pod.Name, u.Data["tls.crt"], pod.Trust["server-ca.crt"])
			}
		}
		verify("the operator's leaf by "+pod.Name, c.o.Operator.Certificate, pod.Trust["server-ca.crt"])
	}
}

// settle carries out decisions and updates members one after the other until nothing is left, and returns what was done.
func (c *cluster) settle() (d Decision, steps []string) {
	c.t.Helper()
	for range 200 {
		d = c.decide()
		if d.Settled {
			return d, steps
		}
		if len(steps) == 0 || steps[len(steps)-1] != d.Step {
			steps = append(steps, d.Step)
		}
		c.apply(d)
		c.connected()
		c.serve()
		if len(d.Writes) > 0 || d.Recording || d.Trust == nil {
			continue
		}
		for i, p := range c.o.Pods {
			if !maps.EqualFunc(p.Trust, d.Trust, bytes.Equal) {
				c.o.Pods[i].Trust = d.Trust
				break
			}
		}
		c.connected()
	}
	c.t.Fatalf("it never settles: %q, %v, %d writes, %v wait; %q", d.Step, d.Problem, len(d.Writes), d.Waiting, steps)
	return d, steps
}

// trusted is how many authorities pods trust on the peers' side.
func (c *cluster) trusted() int {
	c.t.Helper()
	return len(parse(c.t, c.o.Pods[0].Trust["peer-ca.crt"]))
}

// TestRotation replaces certificates of a running cluster in every way.
func TestRotation(t *testing.T) {
	first := func(c *cluster, key string) []byte { return c.o.Published["db-0"][key] }
	for title, change := range map[string]func(*cluster){
		"the user asks for new authorities":          func(c *cluster) { c.o.Rotate = "ca:1" },
		"the user asks for new leaves":               func(c *cluster) { c.o.Rotate, c.o.Now = "leaves:1", c.o.Now.Add(time.Minute) },
		"leaves are due":                             func(c *cluster) { c.o.Now = c.o.Now.Add(61 * 24 * time.Hour) },
		"authorities are due":                        func(c *cluster) { c.o.Managed.CADuration = 0; c.o.Now = c.o.Now.Add(61 * 24 * time.Hour) },
		"the Secret with the authorities is deleted": func(c *cluster) { c.o.Authority = nil },
		"clients use another name":                   func(c *cluster) { c.o.Managed.ExtraServerNames = []string{"etcd.example.com", "10.0.0.1"} },
		"the user takes over":                        func(c *cluster) { c.o.Static, c.o.Managed = newUser(c.t, c.o.Now).static(), nil },
		"the operator was restarted, and leaves are due": func(c *cluster) {
			c.o.Now, c.o.Operator = c.o.Now.Add(61*24*time.Hour), nil
		},
	} {
		t.Run(title, func(t *testing.T) {
			c := managed(t, "db-0", "db-1", "db-2")
			if title == "authorities are due" {
				c.o.Managed.CADuration = 90 * 24 * time.Hour
			}
			if d := c.run(); !d.Settled {
				t.Fatalf("%+v", d)
			}
			before := first(c, "server.crt")
			change(c)
			d, steps := c.settle()
			if bytes.Equal(before, first(c, "server.crt")) || len(steps) == 0 || c.trusted() != 1 {
				t.Errorf("nothing was replaced, or %d authorities are trusted in the end: %q", c.trusted(), steps)
			}
			if d.Rotated != c.o.Rotate || strings.Contains(strings.Join(slices.Sorted(maps.Keys(c.o.Authority)), " "), "former") {
				t.Errorf("rotated %q, the Secret with the authorities has %v", d.Rotated, slices.Sorted(maps.Keys(c.o.Authority)))
			}
		})
	}
}

// TestTakeOver goes from the user's certificates to the cluster's own.
func TestTakeOver(t *testing.T) {
	c := userGiven(t, newUser(t, start).static(), "db-0", "db-1", "db-2")
	c.run()
	c.o.Static, c.o.Managed, c.o.Operator = nil, &Managed{}, nil
	_, steps := c.settle()
	if c.trusted() != 1 || c.o.Client == nil || len(steps) < 4 {
		t.Errorf("%d authorities, %q", c.trusted(), steps)
	}
}

// TestOneByOne holds that a renewed leaf is published to one running member, and to the next only once that serves it.
func TestOneByOne(t *testing.T) {
	c := managed(t, "db-0", "db-1", "db-2")
	c.run()
	c.o.Now, c.o.Served = c.o.Now.Add(61*24*time.Hour), nil
	members := func(d Decision) (names []string) {
		for _, w := range d.Writes {
			if w.Kind == KindMember {
				names = append(names, w.Member)
			}
		}
		return names
	}
	d := c.decide()
	if got := members(d); len(got) > 0 || !d.AskServed {
		t.Errorf("%v get leaves before anybody was asked", got)
	}
	c.apply(d)
	c.serve()
	stale := c.o.Served
	d = c.decide()
	if got := members(d); !slices.Equal(got, []string{"db-0"}) {
		t.Errorf("%v get leaves, want db-0", got)
	}
	c.apply(d)
	if got := members(c.decide()); len(got) > 0 {
		t.Errorf("%v get leaves before db-0 serves its own", got)
	}
	c.o.Served = maps.Clone(stale)
	delete(c.o.Served, "db-0")
	if got := members(c.decide()); !slices.Equal(got, []string{"db-1"}) {
		t.Errorf("%v get leaves, want db-1: db-0 does not answer", got)
	}
	c.o.Served, c.o.Now = stale, start.Add(80*24*time.Hour)
	if got := members(c.decide()); len(got) != 2 {
		t.Errorf("%v get leaves: those that expire soon cannot wait", got)
	}
}

// TestAllExpired holds that a cluster comes back whose certificates have all expired: leaves at once, authorities with new pods.
func TestAllExpired(t *testing.T) {
	for title, after := range map[string]time.Duration{"leaves": 100 * 24 * time.Hour, "authorities, too": 6 * year} {
		t.Run(title, func(t *testing.T) {
			c := managed(t, "db-0", "db-1", "db-2")
			c.run()
			c.o.Now, c.o.Served = start.Add(after), nil
			d := c.decide()
			if d.Recording {
				c.apply(d)
				d = c.decide()
			}
			n := 0
			for _, w := range d.Writes {
				if w.Kind == KindMember {
					n++
				}
			}
			if n != 3 {
				t.Errorf("%d members get leaves at once, want 3", n)
			}
			c.apply(d)
			if title == "leaves" {
				c.connected()
			}
			for i := range c.o.Pods {
				c.o.Pods[i].Trust = d.Trust
			}
			c.serve()
			if _, steps := c.settle(); c.trusted() != 1 {
				t.Errorf("%d authorities: %q", c.trusted(), steps)
			}
		})
	}
}
