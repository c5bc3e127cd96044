package certificates

import "testing"

// TestBlocking says that no certificate can be given where that is so only. What concerns one user, or the issuer of an authority that is
// there, keeps nobody else from having certificates.
func TestBlocking(t *testing.T) {
	for title, c := range map[string]struct {
		spoil    func(*cluster)
		blocking bool
	}{
		"a user's Secret":                 {spoil: func(c *cluster) { c.o.Users[0].Refused = "no" }},
		"a user's Secret that never was":  {spoil: func(c *cluster) { c.o.Users[0].Refused, c.o.Users[0].Data = "no", nil }},
		"the issuer":                      {spoil: func(c *cluster) { c.o.Managed.Issued = absent("it says no") }},
		"the issuer, without authorities": {spoil: func(c *cluster) { c.o.Managed.Issued, c.o.Authority = absent("it says no"), nil }, blocking: true},
		"the source":                      {spoil: func(c *cluster) { c.o.Managed = nil }, blocking: true},
		"what members trust":              {spoil: func(c *cluster) { c.o.Altered = []Altered{{Secret: "db-trust-x", Why: "it is"}} }, blocking: true},
	} {
		t.Run(title, func(t *testing.T) {
			o := managed(t, "db-0", "db-1")
			o.o.Managed.Issued = issued(o, year)
			if d := o.run(); !d.Settled || !d.Certified || d.Blocking != nil {
				t.Fatalf("nothing is wrong: %+v", d)
			}
			c.spoil(o)
			d := o.decide()
			if d.Problem == nil || (d.Blocking != nil) != c.blocking || d.Certified == c.blocking || d.Settled {
				t.Errorf("problem %+v, blocking %+v, certified: %v, settled: %v", d.Problem, d.Blocking, d.Certified, d.Settled)
			}
		})
	}
}

// TestCertified waits for certificates of the cluster's own that are to be written or replaced.
func TestCertified(t *testing.T) {
	for title, change := range map[string]func(*cluster){
		"to be written":   func(c *cluster) { c.o.Client = nil },
		"to be replaced":  func(c *cluster) { c.o.Rotate = "ca:1" },
		"to be renewed":   func(c *cluster) { c.o.Rotate = "leaves:1" },
		"of a new member": func(c *cluster) { c.o.Members = append(c.o.Members, "db-9") },
	} {
		c := managed(t, "db-0", "db-1")
		c.run()
		if change(c); c.decide().Certified {
			t.Errorf("%s: it counts as certified", title)
		}
	}
}
