package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ensure builds those of a tool's programs that are not in the cache.
func (b *Builder) ensure(ctx context.Context, tool Tool, programs []string) error {
	missing, err := tool.missing(programs)
	if err != nil || len(missing) == 0 {
		return err
	}
	if err := b.build(ctx, tool, programs); err != nil {
		return fmt.Errorf("build %s: %w", tool.Name, err)
	}
	return nil
}

func (b *Builder) build(ctx context.Context, tool Tool, programs []string) error {
	unlock, err := lock(ctx, tool.Dir+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	// Another command may have built it while this one waited for the lock.
	missing, err := tool.missing(programs)
	if err != nil || len(missing) == 0 {
		return err
	}
	if err := EnsurePrograms(ctx, b.Out, tool.needs); err != nil {
		return err
	}
	what := strings.Join(append([]string{tool.Name, tool.Version}, tool.env...), " ")
	takes := tool.recipe.takes
	if len(missing) < len(tool.Binaries) {
		what, takes = fmt.Sprintf("%s of %s", strings.Join(missing, ", "), what), "up to "+takes
	}
	_, _ = fmt.Fprintf(b.Out, "building %s (%s the first time)...\n", what, takes)
	began := time.Now()
	staging, err := os.MkdirTemp(filepath.Dir(tool.Dir), ".building-")
	if err != nil {
		return fmt.Errorf("make a folder for the programs: %w", err)
	}
	defer func() { _ = os.RemoveAll(staging) }()
	if err := tool.make(ctx, tool, missing, staging); err != nil {
		return err
	}
	if err := place(staging, tool.Dir); err != nil {
		return fmt.Errorf("put the programs in place: %w", err)
	}
	_, _ = fmt.Fprintf(b.Out, "built %s in %s\n", what, time.Since(began).Round(time.Second))
	return nil
}

// place moves what was built to where it is looked for. The folder appears by rename, or if it is there, each program
// does: so none is ever half there.
func place(staging, folder string) error {
	if err := os.Chmod(staging, 0o755); err != nil { // #nosec G302 -- programs for all
		return err
	}
	err := os.Rename(staging, folder)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	built, err := os.ReadDir(staging)
	if err != nil {
		return err
	}
	for _, program := range built {
		if err := os.Rename(filepath.Join(staging, program.Name()), filepath.Join(folder, program.Name())); err != nil {
			return err
		}
	}
	return nil
}

// compile builds programs of a Go module, all at once, so that one is linked while another is compiled.
func compile(ctx context.Context, tool Tool, programs []string, folder string) error {
	args := append(tool.recipe.command(), "-o", folder+string(filepath.Separator))
	for _, program := range programs {
		args = append(args, tool.Binaries[program])
	}
	cmd := exec.CommandContext(ctx, "go", args...) // #nosec G204 -- packages that the source tree pins
	cmd.Dir = tool.source
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off"), tool.env...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stderr, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", strings.Join(programs, " "), err, lastLines(stderr.String()))
	}
	for _, program := range programs {
		built := filepath.Join(folder, executableName(tool.Binaries[program]))
		if err := os.Rename(built, filepath.Join(folder, program)); err != nil {
			return fmt.Errorf("name what was built: %w", err)
		}
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
