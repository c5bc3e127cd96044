package build

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Builder builds tools into a cache.
type Builder struct {
	// Root is the top of the source tree.
	Root string
	// Cache is the folder of built programs.
	Cache string
	// Out gets a line before and after each build.
	Out io.Writer
}

// New returns a builder for the source tree around the current folder and the default cache.
func New(out io.Writer) (*Builder, error) {
	root, err := SourceRoot()
	if err != nil {
		return nil, err
	}
	cache, err := DefaultCache()
	if err != nil {
		return nil, err
	}
	return &Builder{Root: root, Cache: cache, Out: out}, nil
}

// Ensure returns a tool, all of whose programs are built now if they are not in the cache.
func (b *Builder) Ensure(ctx context.Context, name string) (Tool, error) {
	tool, err := b.Pinned(name)
	if err != nil {
		return Tool{}, err
	}
	return tool, b.ensure(ctx, tool, slices.Sorted(maps.Keys(tool.Binaries)))
}

// EnsureFor returns a tool whose programs run on another platform, such as linux/arm64, and not on this machine, built now if they are
// not in the cache.
func (b *Builder) EnsureFor(ctx context.Context, platform, name string) (Tool, error) {
	tool, err := b.Pinned(name)
	if err != nil {
		return Tool{}, err
	}
	if tool, err = tool.crossed(platform); err != nil {
		return Tool{}, err
	}
	return tool, b.ensure(ctx, tool, slices.Sorted(maps.Keys(tool.Binaries)))
}

// Pinned returns a tool as hack/tools pins it, built or not.
func (b *Builder) Pinned(name string) (Tool, error) { return load(b.Root, b.Cache, name) }

// ModuleDir returns the folder of a Go module that a tool pins, fetched now if it is not on this machine.
func (b *Builder) ModuleDir(ctx context.Context, name, module string) (string, error) {
	tool, err := b.Pinned(name)
	if err != nil {
		return "", err
	}
	return RequiredDir(ctx, tool.source, module)
}

// RequiredDir returns the folder of a Go module that the one in a folder requires, fetched now if it is not on this machine.
func RequiredDir(ctx context.Context, by, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module) // #nosec G204 -- a pinned module
	cmd.Dir = by
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		// What went wrong with a module is in the one, what was wrong with the question in the other.
		return "", fmt.Errorf("find the source of %s: %w\n%s", module, err, lastLines(stdout.String()+stderr.String()))
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(stdout.Bytes(), &found); err != nil {
		return "", fmt.Errorf("find the source of %s: %w", module, err)
	}
	return found.Dir, nil
}

// Find returns the path of a program, or the folder of a tool, and builds the tool if needed: all its programs, which are
// found beside each other, but of Kubernetes only the one that is asked for. A program that several tools have is named
// TOOL/PROGRAM; without the tool, etcd's programs are those of the minor that the lab's own control plane runs on, and
// Kubernetes' are those of the lab.
func (b *Builder) Find(ctx context.Context, name string) (string, error) {
	tool, program, err := b.which(name)
	if err != nil {
		return "", err
	}
	programs := slices.Sorted(maps.Keys(tool.Binaries))
	if program != "" && tool.recipe.apart {
		programs = []string{program}
	}
	return tool.Path(program), b.ensure(ctx, tool, programs)
}

// which returns the tool and the program that a name means. If it means a whole tool, there is no program.
func (b *Builder) which(name string) (tool Tool, program string, err error) {
	names, err := list(b.Root)
	if err != nil {
		return Tool{}, "", err
	}
	wanted, program, qualified := strings.Cut(name, "/")
	if !qualified {
		program = name
	}
	// The default minor of etcd goes first, so that it wins. The others stay in the order of their names: Kubernetes before its oldest.
	ordered := slices.Clone(names)
	slices.SortStableFunc(ordered, func(x, y string) int {
		return boolCompare(y == Etcd36, x == Etcd36)
	})
	for _, candidate := range ordered {
		tool, err := b.Pinned(candidate)
		if err != nil {
			return Tool{}, "", err
		}
		if _, has := tool.Binaries[program]; has && (!qualified || wanted == candidate) {
			return tool, program, nil
		}
	}
	if slices.Contains(names, name) {
		tool, err := b.Pinned(name)
		return tool, "", err
	}
	return Tool{}, "", fmt.Errorf("no tool or program is called %q; the tools are %s", name, strings.Join(names, ", "))
}

func boolCompare(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	default:
		return -1
	}
}
