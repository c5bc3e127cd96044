package stories

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// runbookPath is a folder with kubectl, its plugin, and etcdctl, by the names that runbooks have for them.
func runbookPath(t *testing.T) string {
	t.Helper()
	folder := buildPlugin(t)
	must(t, os.Symlink(env.Kubectl, filepath.Join(folder, "kubectl")))
	must(t, os.Symlink(builtEtcdctl(t), filepath.Join(folder, "etcdctl")))
	return folder
}

// runbook is the alert's, below docs.
func (s *alerted) runbook() string { return filepath.Join("runbooks", s.alert+".md") }

// blocksIn are the blocks of a language in a section of a document.
func blocksIn(t *testing.T, document, section, language string) []string {
	t.Helper()
	blocks, err := env.Blocks(document, section, language)
	must(t, err)
	return blocks
}

// runs runs the only block of commands under "Cure" that has a text, in a folder.
func (s *alerted) runs(having, folder string) {
	s.t.Helper()
	block, err := env.Commands(s.runbook(), "Cure", having)
	must(s.t, err)
	out, err := s.shell(s.t.Context(), block, folder)
	s.t.Logf("the cure in the runbook of %s:\n%s\n%s", s.alert, s.filled(block), out)
	if err != nil {
		s.t.Fatalf("the cure in the runbook of %s does not work: %v\n%s", s.alert, err, s.view())
	}
}

// checks runs each command under "Check", as somebody would who reads what it says. What fails is tried again: a pod may just be starting.
func (s *alerted) checks() {
	s.t.Helper()
	for _, block := range blocksIn(s.t, s.runbook(), "Check", "sh") {
		for line := range strings.Lines(block) {
			if slices.ContainsFunc(s.unchecked, func(part string) bool { return strings.Contains(line, part) }) {
				continue
			}
			err := harness.Await(s.t.Context(), "a check of the runbook works: "+s.filled(line), time.Minute, func(ctx context.Context) (string, bool) {
				out, err := s.shell(ctx, line, "")
				return fmt.Sprintf("%v: %s", err, out), err == nil
			})
			if err != nil {
				s.t.Error(err)
			}
		}
	}
}

// capitals are what the reader of a runbook is to replace.
var capitals = regexp.MustCompile(`\b(NAMESPACE|NAME-0|NAME|NODE|BACKUP|VERSION|SIZE|SECRET|FEATURE)\b`)

// filled is a command with the names of this story.
func (s *alerted) filled(commands string) string {
	return capitals.ReplaceAllStringFunc(commands, func(word string) string {
		switch {
		case s.words[word] != "":
			return s.words[word]
		case word == "NAMESPACE":
			return s.Namespace
		case word == "NAME":
			return s.Name
		case word == "NAME-0" && s.pod.Name == "":
			return s.Name + "-0"
		case word == "NAME-0":
			return s.pod.Name
		case word == "NODE" && s.pod.Spec.NodeName == "":
			return nodes.Nodes()[0]
		case word == "NODE":
			return s.pod.Spec.NodeName
		}
		return word
	})
}

// shell runs commands of the runbook in a folder.
func (s *alerted) shell(ctx context.Context, commands, folder string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, alertLimit)
	defer cancel()
	return harness.Prompt{Folder: folder, Path: s.path, Kubeconfig: env.Kubeconfig}.Run(ctx, s.filled(commands))
}
