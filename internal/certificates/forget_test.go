package certificates

import "testing"

// TestForget drops what the operator would connect with in place of its own certificate, which has the agents' key, and what a trust Secret
// holds that is there; and nothing that the next decision goes on from.
func TestForget(t *testing.T) {
	for _, stored := range []bool{false, true} {
		c := managed(t, "db-0")
		d := c.run()
		before := d
		if d.held == nil || d.Trust == nil {
			t.Fatal("there is nothing to forget")
		}
		d.Forget(stored)
		if d.held != nil || (d.Trust == nil) != stored {
			t.Errorf("the Secret is there: %v, and the decision keeps %v and %v", stored, d.held, d.Trust)
		}
		if d.Operator != before.Operator || d.TrustHash != before.TrustHash || len(d.Authorities) != 2 || len(d.Roots) == 0 {
			t.Errorf("it is left with %+v", d)
		}
	}
}
