package intern_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/etcdpilot/etcd-operator/internal/intern"
)

// TestOne wants equal strings to share their memory, and others to stay as they are.
func TestOne(t *testing.T) {
	known := intern.Strings{}
	first, again := known.One(strings.Clone("issuer")), known.One(strings.Clone("issuer"))
	if unsafe.StringData(first) != unsafe.StringData(again) {
		t.Error("equal strings are kept twice")
	}
	if other := known.One("other"); other != "other" || first != "issuer" {
		t.Errorf("they are %q and %q", first, other)
	}
}
