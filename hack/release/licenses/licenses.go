// Package licenses collects the licenses of everything that is compiled into programs, and refuses what may not be shipped with them.
package licenses

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
)

// Programs are what licenses are collected for.
type Programs struct {
	// Dir is a folder of the Go module that builds them.
	Dir string
	// Packages of the programs, as for go build.
	Packages []string
	// Tags that they are built with, separated by commas; those of GOFLAGS if empty.
	Tags string
}

// folder is a place in which a license may be, and the module that it is a part of.
type folder struct{ dir, top, module string }

// standard is what Go's own packages are a module of, here. The license in the folder boring is of an object file there, which is linked
// with cgo only.
const (
	standard = "Go's standard library"
	boring   = "crypto/internal/boring"
)

// goPackage is what go list says of a package.
type goPackage struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path string
		Dir  string
		Main bool
	}
}

// folders gives the folders of all packages that are compiled into the programs on one of the platforms, except our own.
func (p Programs) folders(ctx context.Context, platforms []string) (map[folder]bool, error) {
	goroot, err := p.command(ctx, nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	found := map[folder]bool{}
	for _, platform := range platforms {
		system, architecture, _ := strings.Cut(platform, "/")
		args := []string{"list", "-deps", "-json=Dir,Standard,Module"}
		if p.Tags != "" {
			args = append(args, "-tags="+p.Tags)
		}
		output, err := p.command(ctx, []string{"GOOS=" + system, "GOARCH=" + architecture}, append(args, p.Packages...)...)
		if err != nil {
			return nil, err
		}
		for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
			var pkg goPackage
			if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("read what go list says: %w", err)
			}
			switch {
			case pkg.Standard:
				found[folder{pkg.Dir, strings.TrimSpace(string(goroot)), standard}] = true
			case pkg.Module == nil:
				return nil, fmt.Errorf("%s is in no module", pkg.Dir)
			case !pkg.Module.Main:
				found[folder{pkg.Dir, pkg.Module.Dir, pkg.Module.Path}] = true
			}
		}
	}
	return found, nil
}

func (p Programs) command(ctx context.Context, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = p.Dir, append(append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off"), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return output, nil
}

// Text is one license, or a notice that goes with one.
type Text struct {
	// Modules that have it.
	Modules []string
	// Kinds are its SPDX identifiers; none of a notice.
	Kinds []string
	// Content as it is in the modules.
	Content string
}

// Collect reads the licenses of all modules that are compiled into programs on one of the platforms, such as linux/amd64. Each text is there
// once. A module without a license, or with one that is not among those that may be shipped, is an error that names it.
func Collect(ctx context.Context, platforms []string, programs ...Programs) ([]Text, error) {
	texts, refused := map[string]*Text{}, []string{}
	for _, p := range programs {
		folders, err := p.folders(ctx, platforms)
		if err != nil {
			return nil, err
		}
		licensed := map[string]bool{}
		for f := range folders {
			licensed[f.module] = licensed[f.module] || false
			if err := f.read(texts, licensed); err != nil {
				refused = append(refused, err.Error())
			}
		}
		for module, is := range licensed {
			if !is {
				refused = append(refused, module+" has no license: it must not be shipped")
			}
		}
	}
	if slices.Sort(refused); len(refused) > 0 {
		return nil, errors.New(strings.Join(slices.Compact(refused), "\n"))
	}
	all := make([]Text, 0, len(texts))
	for _, text := range texts {
		slices.Sort(text.Modules)
		text.Modules = slices.Compact(text.Modules)
		all = append(all, *text)
	}
	slices.SortFunc(all, func(a, b Text) int {
		return strings.Compare(strings.Join(a.Modules, " ")+a.Content, strings.Join(b.Modules, " ")+b.Content)
	})
	return all, nil
}

// read adds what is in a folder, and in those above it in the same module.
func (f folder) read(texts map[string]*Text, licensed map[string]bool) error {
	for dir := f.dir; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("look for licenses: %w", err)
		}
		for _, entry := range entries {
			if entry.IsDir() || !named.MatchString(entry.Name()) || f.module == standard && strings.HasSuffix(filepath.ToSlash(dir), boring) {
				continue
			}
			file := filepath.Join(dir, entry.Name())
			content, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("read a license: %w", err)
			}
			text, err := judged(string(content))
			if err != nil {
				return fmt.Errorf("%s of %s: %w", file, f.module, err)
			}
			if texts[text.Content] == nil {
				texts[text.Content] = &text
			}
			texts[text.Content].Modules = append(texts[text.Content].Modules, f.module)
			licensed[f.module] = licensed[f.module] || len(text.Kinds) > 0
		}
		if dir == f.top || dir == filepath.Dir(dir) {
			return nil
		}
	}
}
