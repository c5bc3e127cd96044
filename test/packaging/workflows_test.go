package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const workflows = ".github/workflows"

var (
	// gates are the targets that make test builds.
	gates = regexp.MustCompile(`(?m)^test: (.*?) ##`)
	uses  = regexp.MustCompile(`(?m)^[ -]*uses: (\S+)(.*)$`)
	// pinned is an action by the commit that its version, in the comment, was when somebody looked at it.
	pinned = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
)

// TestWorkflowGates wants pull requests to be tested by exactly what gates a change.
func TestWorkflowGates(t *testing.T) {
	const file = workflows + "/ci.yaml"
	var ci struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct{ Targets []string }
			}
		}
	}
	if err := yaml.Unmarshal(read(t, file), &ci); err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(strings.Join(ci.Jobs["test"].Strategy.Matrix.Targets, " "))
	found := gates.FindStringSubmatch(string(read(t, "Makefile")))
	if found == nil {
		t.Fatal("the Makefile has no target test")
	}
	want := strings.Fields(found[1])
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("%s makes %q, and make test %q", file, got, want)
	}
}

// TestWorkflowActions wants every action by its commit, since whoever has its repository can move a tag, and the same one in all workflows.
func TestWorkflowActions(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join(root, workflows))
	if err != nil {
		t.Fatal(err)
	}
	commits := map[string]string{}
	for _, entry := range entries {
		for _, m := range uses.FindAllStringSubmatch(string(read(t, workflows+"/"+entry.Name())), -1) {
			if !pinned.MatchString(m[1] + m[2]) {
				t.Errorf("%s uses %s%s: want a commit, and its version as a comment", entry.Name(), m[1], m[2])
			}
			action, commit, _ := strings.Cut(m[1], "@")
			if other, ok := commits[action]; ok && other != commit {
				t.Errorf("%s uses %s at %s, and elsewhere it is %s", entry.Name(), action, commit, other)
			}
			commits[action] = commit
		}
	}
	if len(commits) == 0 {
		t.Error("no workflow uses any action: the test does not see them")
	}
}
