package wrap_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/etcdpilot/etcd-operator/internal/wrap"
)

// TestWords breaks between words, and keeps what is to be copied.
func TestWords(t *testing.T) {
	long := strings.Repeat("x", 100)
	for text, want := range map[string][]string{
		"":                 {""},
		"a  b\n\tc":        {"a b c"},
		long + " y":        {long, "y"},
		"y " + long + " z": {"y", long, "z"},
	} {
		if got := wrap.Words(text, 80); !slices.Equal(got, want) {
			t.Errorf("%q is broken into %q", text, got)
		}
	}
	for _, line := range wrap.Words(strings.Repeat("größe ", 48), 23) {
		if n := utf8.RuneCountInString(line); n != 23 {
			t.Errorf("a line has %d columns", n)
		}
	}
}
