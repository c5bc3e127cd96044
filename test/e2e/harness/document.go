package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etcdpilot/etcd-operator/test/documents"
)

// Blocks are the blocks of a language in a section, "## SECTION", of a document in docs.
func (e *Env) Blocks(document, section, language string) (texts []string, err error) {
	blocks, err := e.document(document)
	if err != nil {
		return nil, err
	}
	for _, block := range documents.In(blocks, section, language) {
		texts = append(texts, strings.TrimSuffix(block.Text, "\n"))
	}
	return texts, nil
}

// Commands is the only block of commands in a section of a document that has a text, but for the lines that begin with one of these.
func (e *Env) Commands(document, section, having string, without ...string) (string, error) {
	blocks, err := e.document(document)
	if err != nil {
		return "", err
	}
	block, err := documents.Commands(blocks, section, having)
	if err != nil {
		return "", fmt.Errorf("%s: %w", document, err)
	}
	return strings.Join(block.Without(without...), "\n"), nil
}

func (e *Env) document(name string) ([]documents.Block, error) {
	text, err := os.ReadFile(filepath.Join(e.Root, "docs", name))
	if err != nil {
		return nil, fmt.Errorf("read a document: %w", err)
	}
	return documents.Blocks(name, string(text)), nil
}

// Prompt is where somebody types commands.
type Prompt struct {
	// Folder is where they run.
	Folder string
	// Path is a folder with programs of their own.
	Path, Kubeconfig string
	// Env is added to the environment.
	Env []string
}

// Run runs commands up to the first one that fails, and returns what they print.
func (p Prompt) Run(ctx context.Context, commands string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-ec", commands)
	cmd.Dir = p.Folder
	cmd.Env = append(WithoutMake(os.Environ()), "KUBECONFIG="+p.Kubeconfig, "PATH="+p.Path+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Env = append(cmd.Env, p.Env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// madeBy are the variables that the make which runs the tests has set, for itself and for them.
var madeBy = []string{
	"CGO_ENABLED", "GOFLAGS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS",
	"CLIENT_IMG", "IMG", "KUBECTL", "ROOT", "SCORECARD_IMG", "VERSION",
}

// WithoutMake is an environment without what make has set: a make that is run in it starts from nothing, as at a prompt.
func WithoutMake(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(madeBy, name)
	})
}
