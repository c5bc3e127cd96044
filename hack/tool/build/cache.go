package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
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

// Ensure returns a tool, built now if it is not in the cache.
func (b *Builder) Ensure(ctx context.Context, name string) (Tool, error) {
	tool, err := load(b.Root, b.Cache, name)
	if err != nil {
		return Tool{}, err
	}
	if built, err := exists(tool.Dir); built || err != nil {
		return tool, err
	}
	if err := b.build(ctx, tool); err != nil {
		return Tool{}, fmt.Errorf("build %s: %w", name, err)
	}
	return tool, nil
}

// Version returns the version that a tool is pinned at.
func (b *Builder) Version(name string) (string, error) {
	tool, err := load(b.Root, b.Cache, name)
	return tool.Version, err
}

// ModuleDir returns the folder of a Go module that a tool pins, fetched now if it is not on this machine.
func (b *Builder) ModuleDir(ctx context.Context, name, module string) (string, error) {
	tool, err := load(b.Root, b.Cache, name)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module) // #nosec G204 -- a pinned module
	cmd.Dir = tool.source
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

// Find returns the path of a program, or the folder of a tool, and builds it if needed. A program that several tools
// have is named TOOL/PROGRAM; without the tool, etcd's programs are those of the minor that the lab's own control
// plane runs on.
func (b *Builder) Find(ctx context.Context, name string) (string, error) {
	names, err := list(b.Root)
	if err != nil {
		return "", err
	}
	wanted, binary, qualified := strings.Cut(name, "/")
	if !qualified {
		binary = name
	}
	// The default minor of etcd goes first, so that it wins.
	slices.SortFunc(names, func(x, y string) int {
		return boolCompare(y == Etcd36, x == Etcd36)
	})
	for _, candidate := range names {
		tool, err := load(b.Root, b.Cache, candidate)
		if err != nil {
			return "", err
		}
		if _, has := tool.Binaries[binary]; has && (!qualified || wanted == candidate) {
			tool, err = b.Ensure(ctx, candidate)
			return tool.Path(binary), err
		}
	}
	if slices.Contains(names, name) {
		tool, err := b.Ensure(ctx, name)
		return tool.Dir, err
	}
	return "", fmt.Errorf("no tool or program is called %q; the tools are %s", name, strings.Join(names, ", "))
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

func (b *Builder) build(ctx context.Context, tool Tool) error {
	unlock, err := lock(ctx, tool.Dir+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	// Another command may have built it while this one waited for the lock.
	if built, err := exists(tool.Dir); built || err != nil {
		return err
	}
	if err := ensurePackages(ctx, b.Out, tool.needs); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(b.Out, "building %s %s (%s the first time)...\n", tool.Name, tool.Version, tool.recipe.takes)
	began := time.Now()
	// The folder appears by rename, so it is never half full.
	staging, err := os.MkdirTemp(filepath.Dir(tool.Dir), ".building-")
	if err != nil {
		return fmt.Errorf("make a folder for the programs: %w", err)
	}
	defer func() { _ = os.RemoveAll(staging) }()
	if err := tool.make(ctx, tool, staging); err != nil {
		return err
	}
	if err := os.Chmod(staging, 0o755); err != nil { // #nosec G302 -- programs for all
		return fmt.Errorf("open the folder of programs: %w", err)
	}
	if err := os.Rename(staging, tool.Dir); err != nil {
		return fmt.Errorf("put the programs in place: %w", err)
	}
	_, _ = fmt.Fprintf(b.Out, "built %s %s in %s\n", tool.Name, tool.Version, time.Since(began).Round(time.Second))
	return nil
}

// compileAll builds the programs of a Go module.
func compileAll(ctx context.Context, tool Tool, folder string) error {
	for binary, pkg := range tool.Binaries {
		if err := compile(ctx, tool, filepath.Join(folder, binary), pkg); err != nil {
			return err
		}
	}
	return nil
}

func compile(ctx context.Context, tool Tool, out, pkg string) error {
	args := append(tool.recipe.args(), "-o", out, pkg)
	cmd := exec.CommandContext(ctx, "go", args...) // #nosec G204 -- packages that the source tree pins
	cmd.Dir = tool.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stderr, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, lastLines(stderr.String()))
	}
	return nil
}

func lastLines(text string) string {
	const most = 20
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// lock takes a file's lock, so that two commands do not build the same tool.
func lock(ctx context.Context, file string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { // #nosec G301 -- programs for all
		return nil, fmt.Errorf("make the cache folder: %w", err)
	}
	handle, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644) // #nosec G302 G304 -- an empty file
	if err != nil {
		return nil, fmt.Errorf("open the build lock: %w", err)
	}
	for {
		err := syscall.Flock(int(handle.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = handle.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			_ = handle.Close()
			return nil, fmt.Errorf("lock the build: %w", err)
		}
		select {
		case <-ctx.Done():
			_ = handle.Close()
			return nil, fmt.Errorf("wait for another build: %w", ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
