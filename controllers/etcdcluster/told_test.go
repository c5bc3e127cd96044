package etcdcluster

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/internal/certificates"
)

// TestClientsTold counts from when the last client is told, but waits for Secrets no longer than a replacement of authorities does.
func TestClientsTold(t *testing.T) {
	start := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	name := types.NamespacedName{Name: "demo"}
	for title, test := range map[string]struct {
		left untold
		// until is how long somebody is still to be told, and want when it is seen that the last one is told, both from the start.
		until, want time.Duration
	}{
		"everybody at once":           {untold{}, 0, 0},
		"applications, late":          {untold{client: true}, time.Hour, time.Hour + time.Minute},
		"a user, late":                {untold{users: true}, 10 * time.Minute, 11 * time.Minute},
		"a user, never":               {untold{users: true}, 10 * time.Hour, certificates.Patience},
		"applications, before a user": {untold{client: true, users: true}, time.Hour, time.Hour + time.Minute},
		"applications, never":         {untold{client: true}, 100 * time.Hour, certificates.ClientPatience},
		"unknown":                     {untold{unknown: true}, 40 * time.Hour, 40*time.Hour + time.Minute},
	} {
		t.Run(title, func(t *testing.T) {
			var told clientsTold
			at := time.Time{}
			for passed := time.Duration(0); passed < 48*time.Hour; passed += time.Minute {
				left := test.left
				if passed > test.until {
					left = untold{}
				}
				at = told.of(name, true, left, start.Add(passed))
			}
			if got := at.Sub(start); got != test.want {
				t.Errorf("the last one is told after %s, want %s", got, test.want)
			}
			later := start.Add(49 * time.Hour)
			if at := told.of(name, false, untold{}, later); at != later {
				t.Errorf("told the other way %s, it counts from %s", later, at)
			}
		})
	}
}
