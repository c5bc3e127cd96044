package plan

import "testing"

// TestRemaining counts, while a healthy voter is stopped or removed, only those of the others that the budget protects from evictions: a drain may take one
// that is not in the client Service at once. Where the voter is down already the operator takes nothing away.
func TestRemaining(t *testing.T) {
	for title, c := range map[string]struct {
		o             Observed
		stops, leaves bool
	}{
		"all are in the Service":               {healthyCluster(3, true), true, true},
		"it is not itself":                     {unserved(healthyCluster(3, true), 1), true, true},
		"one of the others is not":             {unserved(healthyCluster(3, true), 2), false, false},
		"one of four others is not":            {unserved(healthyCluster(5, true), 2), true, true},
		"it is down, and another one is not":   {unserved(silent(healthyCluster(3, true), 1), 2), true, true},
		"it is down, and another one is, too":  {silent(silent(healthyCluster(3, true), 1), 2), false, false},
		"another one is down":                  {silent(healthyCluster(3, true), 2), false, false},
		"one of four others is down, one away": {unserved(silent(healthyCluster(5, true), 2), 3), false, false},
	} {
		v := newView(c.o)
		if stops, leaves := v.safeToRestart(v.members[name(1)]), v.safeToRemove(v.members[name(1)]); stops != c.stops || leaves != c.leaves {
			t.Errorf("%s: may be stopped: %t, removed: %t", title, stops, leaves)
		}
	}
}
