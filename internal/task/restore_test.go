package task

import "testing"

func TestCheckVersion(t *testing.T) {
	for _, c := range []struct {
		data, target string
		ok           bool
	}{
		{"3.6", "3.6.16", true},
		{"3.5", "3.6.16", true},
		{"3.6", "3.7.0", true},
		{"", "3.5.35", true},
		{"3.4", "3.5.35", true}, // etcd upgrades these data, and docs/migrate.md relies on it
		{"3.4", "3.6.16", false},
		{"3.3", "3.5.35", false},
		{"3.7", "3.6.16", false},
		{"3.6", "3.5.35", false},
		{"3.5", "3.7.3", false},
		{"2.3", "3.5.35", false},
		{"3.6", "v3.6", false},
		{"x", "3.6.16", false},
		{"3.10", "3.9.0", false},
	} {
		if err := CheckVersion(c.data, c.target); (err == nil) != c.ok {
			t.Errorf("%s on %s: got %v", c.target, c.data, err)
		}
	}
}
