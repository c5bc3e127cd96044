package main

import (
	"path/filepath"
	"strings"
	"testing"
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
