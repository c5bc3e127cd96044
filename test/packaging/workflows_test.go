package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/internal/version"
)

const workflows = ".github/workflows"

var (
	// gates are the targets that make test builds.
	gates = regexp.MustCompile(`(?m)^test: (.*?) ##`)
	uses  = regexp.MustCompile(`(?m)^[ -]*uses: (\S+)(.*)$`)
	// pinned is an action by the commit that its version, in the comment, was when somebody looked at it.
	pinned = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
)

// workflow is what these tests read of one.
type workflow struct {
	Jobs map[string]struct {
		Needs    []string
		Strategy struct {
			Matrix struct{ Target, Targets []string }
		}
		Steps []struct{ Run string }
	}
}

func readWorkflow(t *testing.T, name string) (w workflow) {
	t.Helper()
	if err := yaml.Unmarshal(read(t, workflows+"/"+name), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWorkflowGates wants pull requests to be tested by exactly what gates a change.
func TestWorkflowGates(t *testing.T) {
	matrix := readWorkflow(t, "ci.yaml").Jobs["test"].Strategy.Matrix
	found := gates.FindStringSubmatch(string(read(t, "Makefile")))
	if found == nil {
		t.Fatal("the Makefile has no target test")
	}
	wantTargets(t, "ci.yaml", strings.Join(matrix.Targets, " "), found[1], "make test")
}

// TestWorkflowWeekly wants each week to test exactly what a release asks for besides, Auto Pilot with every version of etcd, each in a job of its own.
func TestWorkflowWeekly(t *testing.T) {
	test := readWorkflow(t, "weekly.yaml").Jobs["test"]
	const document = "docs/release.md"
	_, step, _ := strings.Cut(string(read(t, document)), "\n2. **Check** that commit:")
	step, _, found := strings.Cut(step, ". ")
	if !found {
		t.Fatalf("%s does not say what to check", document)
	}
	_, besides, _ := strings.Cut(step, "; then ")
	var want []string
	for _, m := range target.FindAllStringSubmatch(codeIn(besides), -1) {
		want = append(want, m[1])
	}
	var makes, versions []string
	for _, entry := range test.Strategy.Matrix.Target {
		target, etcd, some := strings.Cut(entry, " ETCD_VERSION=")
		if some {
			versions = append(versions, etcd)
		}
		if !slices.Contains(makes, target) {
			makes = append(makes, target)
		}
	}
	wantTargets(t, "weekly.yaml", strings.Join(makes, " "), strings.Join(want, " "), document)
	if !slices.Equal(versions, version.Tested) {
		t.Errorf("weekly.yaml has Auto Pilot told with etcd %q, and the operator is tested with %q", versions, version.Tested)
	}
	if all := "`make test-autopilot ETCD_VERSION=" + strings.Join(version.Tested, ",") + "`"; !strings.Contains(besides, all) {
		t.Errorf("%s does not ask for %s", document, all)
	}
	if last := test.Steps[len(test.Steps)-1].Run; !strings.HasSuffix(last, ` make $TARGET`) {
		t.Errorf("weekly.yaml runs %q, and no target", last)
	}
}

// wantTargets compares what a workflow makes with what it should.
func wantTargets(t *testing.T, name, makes, wanted, by string) {
	t.Helper()
	got, want := strings.Fields(makes), strings.Fields(wanted)
	slices.Sort(got)
	if slices.Sort(want); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%s makes %q, and %s %q", name, got, by, want)
	}
}

// TestWorkflowDocs wants no documents published but those whose test passes.
func TestWorkflowDocs(t *testing.T) {
	docs := readWorkflow(t, "docs.yaml").Jobs
	if needs := docs["publish"].Needs; !slices.Contains(needs, "test") {
		t.Errorf("the job publish needs %q, and not the test", needs)
	}
	for _, step := range docs["test"].Steps {
		if strings.HasSuffix(step.Run, " make test-docs") {
			return
		}
	}
	t.Error("the job test does not make test-docs")
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
