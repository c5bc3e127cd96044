package version

import (
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	for _, v := range append([]string{"3.4.0", "3.99.123"}, Tested...) {
		if got := Plain(v); got != v {
			t.Errorf("Plain(%q) = %q", v, got)
		}
	}
	for _, v := range []string{
		"", "3.6", "v3.6.16", "3.6.0@sha256:0123", "3.7.0-rc.0", "3.6.16+" + strings.Repeat("a", 60_000), " 3.6.16", "3.6.16\n", "03.6.16",
		"3.6.99999999999999999999",
	} {
		if got := Plain(v); got != "" {
			t.Errorf("Plain(%.40q) = %.40q", v, got)
		}
	}
}
