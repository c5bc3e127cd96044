package packaging

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestScorecard runs the scorecard's own tests on the bundle, without a cluster: their program finds a bundle in /bundle and
// nothing else, so that is what it gets to see. It must be run as root.
func TestScorecard(t *testing.T) {
	jail := t.TempDir()
	if err := os.CopyFS(filepath.Join(jail, "bundle"), os.DirFS(filepath.Join(root, "bundle"))); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(asset(t, "TEST_ASSET_SCORECARD"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(jail, "scorecard-test"), program, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"basic-check-spec", "olm-bundle-validation", "olm-crds-have-validation", "olm-crds-have-resources",
		"olm-spec-descriptors", "olm-status-descriptors",
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "/scorecard-test", name)
			cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: jail}
			cmd.Dir = "/"
			answer, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, answer)
			}
			var status struct {
				Results []struct {
					State               string
					Errors, Suggestions []string
				}
			}
			if err := json.Unmarshal(answer, &status); err != nil || len(status.Results) == 0 {
				t.Fatalf("%v\n%s", err, answer)
			}
			for _, result := range status.Results {
				if result.State != "pass" {
					t.Errorf("state %s: %s", result.State, answer)
				}
				for _, suggestion := range result.Suggestions {
					if !Unwanted(suggestion) {
						t.Errorf("suggestion: %s", suggestion)
					}
				}
			}
		})
	}
}
