package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Blocks are the blocks of a language in a section, "## SECTION", of a document in docs.
func (e *Env) Blocks(document, section, language string) (blocks []string, err error) {
	text, err := os.ReadFile(filepath.Join(e.Root, "docs", document))
	if err != nil {
		return nil, fmt.Errorf("read a document: %w", err)
	}
	_, rest, found := strings.Cut(string(text), "\n## "+section+"\n")
	if !found {
		return nil, fmt.Errorf("%s has no section %s", document, section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	for found {
		var block string
		if _, rest, found = strings.Cut(rest, "\n```"+language+"\n"); found {
			block, rest, _ = strings.Cut(rest, "\n```")
			blocks = append(blocks, block)
		}
	}
	return blocks, nil
}

// Commands is the only block of commands in a section of a document that has a text.
func (e *Env) Commands(document, section, having string) (string, error) {
	blocks, err := e.Blocks(document, section, "sh")
	if err != nil {
		return "", err
	}
	blocks = slices.DeleteFunc(blocks, func(block string) bool { return !strings.Contains(block, having) })
	if len(blocks) != 1 {
		return "", fmt.Errorf("%s of %s has %d blocks of commands with %q: %q", section, document, len(blocks), having, blocks)
	}
	return blocks[0], nil
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
