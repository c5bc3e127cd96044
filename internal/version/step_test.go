package version

import (
	"strings"
	"testing"
)

func TestStep(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     Kind
		problem  string
	}{
		{"3.6.16", "3.6.16", Same, ""},
		{"3.6.15", "3.6.16", Patch, ""},
		{"3.6.16", "3.6.15", Patch, ""},
		{"3.5.35", "3.6.16", MinorUp, ""},
		{"3.6.16", "3.7.3", MinorUp, ""},
		{"3.7.3", "3.6.16", MinorDown, ""},
		{"3.6.16", "3.5.35", MinorDown, ""},
		{"3.5.35", "3.7.3", Same, "set 3.6.x first"},
		{"3.7.3", "3.5.35", Same, "set 3.6.x first"},
		{"3.5.31", "3.6.16", MinorUp, "upgraded to 3.5.32 or later first"},
		{"3.6.10", "3.7.3", MinorUp, "upgraded to 3.6.11 or later first"},
		{"3.5.10", "3.5.35", Patch, ""},
		{"3.6.16", "4.6.0", Same, "one minor version at a time"},
		{"unknown", "3.6.16", Same, "is not a version"},
		{"3.6.16", "latest", Same, "is not a version"},
	} {
		got, err := Step(c.from, c.to)
		if got != c.want || c.problem == "" && err != nil ||
			c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)) {
			t.Errorf("Step(%s, %s) = %v, %v; want %v, an error with %q", c.from, c.to, got, err, c.want, c.problem)
		}
	}
}
