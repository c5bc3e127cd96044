package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dry has make say what it would run for a target, and returns that.
func dry(t *testing.T, target, version string, more ...string) (string, error) {
	t.Helper()
	return runMake(t, nil, append([]string{"-n", target, "VERSION=" + version}, more...)...)
}

// runMake runs make in the top folder, as somebody who has these variables set, and returns what it says.
func runMake(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	gnu := "make"
	if _, err := exec.LookPath("gmake"); err == nil {
		gnu = "gmake" // on macOS, where make is too old
	}
	cmd := exec.CommandContext(t.Context(), gnu, args...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return strings.HasPrefix(name, "MAKE") || name == "MFLAGS" || name == "COSIGN_KEY"
	}), env...)
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// TestVersionIsNoCommand has make refuse a version that is none before a recipe has it: git allows a tag's name to hold commands.
func TestVersionIsNoCommand(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "run")
	for _, version := range []string{
		"1.0.0$(shell touch " + mark + ")", "1.0.0;touch${IFS}" + mark, "1.0.0`id`", "1.0.0|id", "1.0.0&id", "1.0.0'", `1.0.0"`, "1.0.0 -x",
		"1.0.0\n", "1.0.0#", "", "v1.0.0", "1.0", "01.0.0", "-1.0.0", "1.0.0+build", "1.0.0-", "../1.0.0",
	} {
		for _, target := range []string{"release-push", "chart"} {
			output, err := dry(t, target, version)
			if err == nil || !strings.Contains(output, "VERSION") || !strings.Contains(output, "want one such as 1.2.3") {
				t.Errorf("make %s VERSION=%q: %v\n%s", target, version, err, output)
			}
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a version has run a command")
	}
	for _, version := range []string{"1.0.0", "10.20.30", "0.1.0-rc.1"} {
		if output, err := dry(t, "release-push", version); err != nil || !strings.Contains(output, "--version "+version+" ") {
			t.Errorf("make release-push VERSION=%s: %v\n%s", version, err, output)
		}
	}
}

// TestPushLeavesLatest moves the tag that OLM follows only for those who say so.
func TestPushLeavesLatest(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		want      bool
	}{{nil, false}, {[]string{"LATEST=no"}, false}, {[]string{"LATEST=yes"}, true}} {
		output, err := dry(t, "release-push", "1.0.0", test.arguments...)
		if err != nil || strings.Contains(output, "--latest") != test.want {
			t.Errorf("make release-push %q: %v, want it to move latest: %v\n%s", test.arguments, err, test.want, output)
		}
	}
}

// TestLicensesOfAllPlatforms has make list the licenses of all platforms whatever it builds for: a release for one is compared with the
// same file, and could not be made otherwise.
func TestLicensesOfAllPlatforms(t *testing.T) {
	of := func(more ...string) string {
		output, err := dry(t, "generate", "1.0.0", more...)
		_, command, found := strings.Cut(output, " licenses ")
		if err != nil || !found {
			t.Fatalf("make generate %q: %v\n%s", more, err, output)
		}
		return command
	}
	if all, one := of(), of("PLATFORMS=linux/amd64", "PLUGIN_PLATFORMS=linux/amd64"); all != one || !strings.Contains(all, "windows/arm64") {
		t.Errorf("for one platform make lists the licenses by\n%swant\n%s", one, all)
	}
}
