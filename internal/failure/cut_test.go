package failure_test

import (
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// TestCut keeps what fits, and cuts between characters.
func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"ten bytes.":              "ten bytes.",
		"eleven byte":             "eleven …",
		strings.Repeat("é", 5):    "ééééé",
		strings.Repeat("é", 6):    "ééé…",
		strings.Repeat("x", 1000): "xxxxxxx…",
	} {
		if got := failure.Cut(text, 10); got != want {
			t.Errorf("%q is cut to %q, want %q", text, got, want)
		}
	}
}
