package certificates

import (
	"bytes"
	"fmt"
	"maps"
	"testing"
	"time"
)

// TestClientsDeletedWhileRotating has the Secrets of agents and applications deleted before any pass of a replacement of authorities, once or
// all the time for a while, with an operator that goes on and with one that is restarted. They are made again at once by an authority that
// members trust then, the operator and all members accept each other, and the replacement ends.
func TestClientsDeletedWhileRotating(t *testing.T) {
	ours := func(t *testing.T) *cluster { return managed(t, "db-0", "db-1") }
	static := func(t *testing.T) *cluster { return userGiven(t, newUser(t, start).static(), "db-0", "db-1") }
	for title, test := range map[string]struct {
		begin     func(*testing.T) *cluster
		change    func(*cluster)
		restarted bool
	}{
		"the operator goes on":      {ours, func(c *cluster) { c.o.Rotate = "ca:1" }, false},
		"the operator is restarted": {ours, func(c *cluster) { c.o.Rotate = "ca:1" }, true},
		"the keys are lost":         {ours, func(c *cluster) { c.o.Authority = nil }, false},
		"mode static":               {static, func(c *cluster) { c.o.Static = newUser(c.t, c.o.Now).static() }, false},
	} {
		for _, users := range []bool{false, true} {
			for _, times := range []int{1, 3} {
				for pass := range 14 {
					c := test.begin(t)
					if !users || c.o.Managed == nil {
						c.o.Users = nil
					}
					c.run()
					c.o.Now = c.o.Now.Add(time.Hour)
					test.change(c)
					if why := c.survives(pass, times, test.restarted); why != "" {
						t.Errorf("%s, with users: %t, deleted %d times from pass %d on: %s", title, users, times, pass, why)
					}
				}
			}
		}
	}
}

// survives replaces authorities, in which the Secrets of agents and applications are deleted before some of the passes, and returns what is wrong.
func (c *cluster) survives(first, times int, restarted bool) string {
	lost := c.o.Authority == nil && c.o.Managed != nil
	for pass := range 100 {
		if pass >= first && pass < first+times {
			if c.o.Agent, c.o.Client = nil, nil; restarted {
				c.o.Operator, c.o.Made = nil, nil
			}
		}
		d := c.decide()
		if d.Settled && pass > first+times {
			if c.o.Agent == nil || c.trusted() != 1 {
				return fmt.Sprintf("%d authorities are trusted in the end", c.trusted())
			}
			return ""
		}
		c.apply(d)
		if c.note(d); pass >= first && !d.Recording && (c.o.Agent == nil || c.o.Managed != nil && !lost && c.o.Client == nil) {
			return fmt.Sprintf("pass %d does not make them again: %q", pass, d.Step)
		}
		if why := c.operates(d); why != "" {
			return fmt.Sprintf("pass %d: %s: %q", pass, why, d.Step)
		}
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
		c.o.Now = c.o.Now.Add(ReadTime)
	}
	return fmt.Sprintf("it never ends: %q", c.decide().Step)
}

// operates returns why the operator and a member do not accept each other, empty if all do.
func (c *cluster) operates(d Decision) string {
	if d.Operator == nil {
		return "the operator has no certificate"
	}
	known := newKnown(c.o.Now)
	roots := known.read(d.Operator.Roots)
	for _, p := range c.o.Pods {
		trust := known.read(p.Trust[KeyServerCA])
		if !trust.verify(known.issuers(parse(c.t, d.Operator.Certificate))) {
			return p.Name + " does not accept the operator"
		}
		if !roots.verify(known.issuers(parse(c.t, c.o.Published[p.Name][KeyServerCertificate]))) {
			return "the operator does not accept " + p.Name
		}
	}
	return ""
}
