package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/hack/release/notes"
)

// TestRehearsalStays keeps a rehearsed release from being pushed, offered by the catalog, or signed, but in a rehearsal of that.
func TestRehearsalStays(t *testing.T) {
	dist := t.TempDir()
	put(t, filepath.Join(dist, "v1.0.0", "REHEARSAL"), "")
	for _, target := range []string{"release-push", "release-latest", "release-sign"} {
		for _, test := range []struct {
			rehearsal string
			refused   bool
		}{{"", true}, {"no", true}, {"yes", false}} {
			output, err := runMake(t, nil, target, "VERSION=1.0.0", "DIST="+dist, "REGISTRY=localhost:1/none", "REHEARSAL="+test.rehearsal)
			// The folder has nothing else, so none of them gets far.
			if err == nil || strings.Contains(output, "is a rehearsal, nothing to publish") != test.refused {
				t.Errorf("make %s REHEARSAL=%s: %v, want it to be refused as a rehearsal: %v\n%s", target, test.rehearsal, err, test.refused, output)
			}
		}
	}
}

// TestReleaseIsForAllPlatforms makes a release for some only in a rehearsal, also if it is the environment that names them.
func TestReleaseIsForAllPlatforms(t *testing.T) {
	for _, test := range []struct {
		set, rehearsal string
		refused        bool
	}{
		{"PLATFORMS=linux/amd64", "", true},
		{"PLUGIN_PLATFORMS=linux/amd64", "", true},
		{"PLATFORMS=linux/amd64", "yes", false},
		{"OTHER=linux/amd64", "", false},
	} {
		// Nobody has written about that version, so nothing is made of it.
		set := []string{"PLATFORMS=$(ALL_PLATFORMS)", "PLUGIN_PLATFORMS=$(ALL_PLUGIN_PLATFORMS)", test.set}
		output, err := runMake(t, set, "release", "VERSION=77.0.0", "DIST="+t.TempDir(), "BIN="+t.TempDir(), "REHEARSAL="+test.rehearsal)
		if err == nil || strings.Contains(output, "for all platforms: unset") != test.refused || strings.Contains(output, "CHANGELOG.md") == test.refused {
			t.Errorf("with %s, make release REHEARSAL=%s: %v, want it to be refused for its platforms: %v\n%s", test.set, test.rehearsal, err, test.refused, output)
		}
	}
}

// TestReleaseNamesDigests makes no release that names etcd's images by tag, unless it is a rehearsal.
func TestReleaseNamesDigests(t *testing.T) {
	digests := filepath.Join(t.TempDir(), "digests")
	put(t, digests, "# none yet\n")
	output, err := runMake(t, nil, "release", "VERSION="+current(t), "PLATFORMS=$(ALL_PLATFORMS)", "PLUGIN_PLATFORMS=$(ALL_PLUGIN_PLATFORMS)",
		"ETCD_DIGESTS="+digests, "DIST="+t.TempDir(), "BIN="+t.TempDir())
	if err == nil || !strings.Contains(output, digests+" has no digest of quay.io/coreos/etcd:v") {
		t.Errorf("without digests: %v\n%s", err, output)
	}
	for text, want := range map[string]string{
		"# quay.io/coreos/etcd:v3.6.16@sha256:0\n": "ETCD_DIGESTS=''",
		"quay.io/coreos/etcd:v3.6.16@sha256:0\n":   "ETCD_DIGESTS='" + digests + "'",
	} {
		put(t, digests, text)
		// What is run for it is only said here, because it compiles everything.
		output, err := dry(t, "release", "1.0.0", "REHEARSAL=yes", "ETCD_DIGESTS="+digests, "MAKE=make")
		if err != nil || !strings.Contains(output, want) {
			t.Errorf("rehearsed with %q: %v, want %s\n%s", text, err, want, output)
		}
	}
}

// TestDocumentsNameTheVersion has no document name another version of this operator than the Makefile is at.
func TestDocumentsNameTheVersion(t *testing.T) {
	never, notYet := notes.Tree{Dir: filepath.Join("..", ".."), Version: current(t)}.Check(t.Context())
	if never != nil {
		t.Error(never)
	}
	for line := range strings.Lines(fmt.Sprint(notYet)) {
		if strings.Contains(line, " names version ") {
			t.Error(line)
		}
	}
}

// current is the version that the Makefile is at.
func current(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "\nVERSION ?= ")
	version, _, _ := strings.Cut(after, "\n")
	if !found {
		t.Fatal("the Makefile has no VERSION")
	}
	return version
}
