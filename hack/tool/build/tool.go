package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Variable is the environment variable that moves the cache of built programs.
const Variable = "ETCD_OPERATOR_CACHE"

// Files that pin a tool of either kind.
const (
	goPins  = "go.mod"
	npmPins = "package-lock.json"
)

// rootModule marks the top folder of the source tree.
const rootModule = "github.com/etcdpilot/etcd-operator"

// DefaultCache returns the folder of built programs: $ETCD_OPERATOR_CACHE, or ~/.cache/etcd-operator.
func DefaultCache() (string, error) {
	if dir := os.Getenv(Variable); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("resolve %s: %w", Variable, err)
		}
		return abs, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder (set %s to choose one): %w", Variable, err)
	}
	return filepath.Join(base, "etcd-operator"), nil
}

// SourceRoot finds the top of the source tree, from the current folder upwards.
func SourceRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the current folder: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod")) // #nosec G304 -- looks for its own source
		if err == nil && modfile.ModulePath(data) == rootModule {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside the source tree of %s", start, rootModule)
		}
	}
}

// Tool is one folder below hack/tools: a Go module and the programs that its tool directives name, or an npm package
// of the folder's name and its programs.
type Tool struct {
	// Name of the tool: its folder below hack/tools.
	Name string
	// Version that is pinned.
	Version string
	// Binaries maps the name of each program to its Go package, or to its file in the npm package.
	Binaries map[string]string
	// Dir holds the programs once they are built.
	Dir string

	source string
	recipe recipe
	// env is what the compiler is told by its environment, beyond what all tools share.
	env []string
	// needs are other programs that make runs.
	needs []Need
	// make puts at least these programs into a folder.
	make func(ctx context.Context, tool Tool, programs []string, folder string) error
}

// Path returns where one of the tool's programs is.
func (t Tool) Path(binary string) string { return filepath.Join(t.Dir, binary) }

// Source returns the folder of the Go module that pins the tool, and the packages and the tags, separated by commas, that it is built
// from.
func (t Tool) Source() (dir string, packages []string, tags string) {
	return t.source, slices.Sorted(maps.Values(t.Binaries)), t.recipe.tags
}

// crossed is the tool for another platform.
func (t Tool) crossed(platform string) (Tool, error) {
	system, architecture, found := strings.Cut(platform, "/")
	if !found || system == "" || architecture == "" {
		return Tool{}, fmt.Errorf("platform %q: want OS/ARCHITECTURE", platform)
	}
	if platform == runtime.GOOS+"/"+runtime.GOARCH {
		return t, nil
	}
	if t.recipe.apart || len(t.needs) > 0 {
		return Tool{}, fmt.Errorf("%s is built for this machine only", t.Name)
	}
	t.Dir += "-" + system + "-" + architecture
	t.env = []string{"GOOS=" + system, "GOARCH=" + architecture}
	return t, nil
}

// missing returns those of the programs that are not built.
func (t Tool) missing(programs []string) ([]string, error) {
	var missing []string
	for _, program := range programs {
		if _, err := os.Stat(t.Path(program)); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, program)
		} else if err != nil {
			return nil, fmt.Errorf("look for a built program: %w", err)
		}
	}
	return missing, nil
}

// load reads a tool's pins.
func load(root, cache, name string) (Tool, error) {
	source := filepath.Join(root, "hack", "tools", name)
	if data, err := os.ReadFile(filepath.Join(source, npmPins)); err == nil { // #nosec G304 -- a file of the source tree
		return loadNPM(data, cache, name, source)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Tool{}, fmt.Errorf("read the pins of tool %s: %w", name, err)
	}
	file := filepath.Join(source, goPins)
	data, err := os.ReadFile(file) // #nosec G304 -- a file of the source tree
	if err != nil {
		return Tool{}, fmt.Errorf("read the pins of tool %s: %w", name, err)
	}
	module, err := modfile.Parse(file, data, nil)
	if err != nil {
		return Tool{}, fmt.Errorf("parse the pins of tool %s: %w", name, err)
	}
	tool := Tool{Name: name, Binaries: map[string]string{}, source: source, make: compile}
	for _, directive := range module.Tool {
		tool.Binaries[binaryName(directive.Path)] = directive.Path
		tool.Version = moduleVersion(module, directive.Path)
	}
	if tool.Version == "" {
		return Tool{}, fmt.Errorf("%s requires no module for a tool directive", file)
	}
	tool.recipe = recipeFor(name, tool.Version)
	tool.Dir = filepath.Join(cache, "tools", name+"-"+key(data, tool.recipe))
	return tool, nil
}

// key is what a built program depends on: the pins, how it is built, and with which compiler.
func key(pins []byte, recipe recipe) string {
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "%s\n%s\n%s", pins, strings.Join(recipe.args(), " "), runtime.Version())
	const short = 12
	return hex.EncodeToString(hash.Sum(nil))[:short]
}

var majorSuffix = regexp.MustCompile(`/v[0-9]+$`)

// executableName returns what Go calls the program of a package.
func executableName(pkg string) string { return path.Base(majorSuffix.ReplaceAllString(pkg, "")) }

// binaryName returns what the program of a package is called here. etcd's server is in a package called server.
func binaryName(pkg string) string {
	name := executableName(pkg)
	if name == "server" {
		return "etcd"
	}
	return name
}

// moduleVersion returns the version of the required module that a package belongs to: the one with the longest path.
func moduleVersion(module *modfile.File, pkg string) string {
	var found, version string
	for _, required := range module.Require {
		inside := pkg == required.Mod.Path || strings.HasPrefix(pkg, required.Mod.Path+"/")
		if inside && len(required.Mod.Path) > len(found) {
			found, version = required.Mod.Path, required.Mod.Version
		}
	}
	return version
}

// list returns the names of all tools.
func list(root string) ([]string, error) {
	var names []string
	for _, pins := range []string{goPins, npmPins} {
		files, err := filepath.Glob(filepath.Join(root, "hack", "tools", "*", pins))
		if err != nil {
			return nil, fmt.Errorf("list tools: %w", err)
		}
		for _, file := range files {
			names = append(names, filepath.Base(filepath.Dir(file)))
		}
	}
	slices.Sort(names)
	return names, nil
}
