package build

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// modules is where npm puts packages.
const modules = "node_modules"

// loadNPM reads the lock file of a tool that is an npm package. The file names no registry, so that npm asks the one
// that this machine is set up for.
func loadNPM(lock []byte, cache, name, source string) (Tool, error) {
	var pins struct {
		Packages map[string]struct {
			Version string            `json:"version"`
			Bin     map[string]string `json:"bin"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(lock, &pins); err != nil {
		return Tool{}, fmt.Errorf("parse the pins of tool %s: %w", name, err)
	}
	pinned := pins.Packages[modules+"/"+name]
	if pinned.Version == "" || len(pinned.Bin) == 0 {
		return Tool{}, fmt.Errorf("%s pins no npm package %s with a program", filepath.Join(source, npmPins), name)
	}
	return Tool{
		Name: name, Version: pinned.Version, Binaries: pinned.Bin, source: source, needs: npmNeeds, make: installNPM,
		Dir:    filepath.Join(cache, "tools", name+"-"+key(lock, recipe{})),
		recipe: recipeFor(name, pinned.Version),
	}, nil
}

// npmNeeds is what tools that are npm packages need.
var npmNeeds = []Need{
	{Program: "node", Package: "nodejs"},
	{Program: "npm", Package: "npm"},
}

// installNPM installs an npm package, with all its programs, and all that it needs at their pinned versions, without
// running what they bring for their own installation.
func installNPM(ctx context.Context, tool Tool, _ []string, folder string) error {
	for _, file := range []string{"package.json", npmPins} {
		data, err := os.ReadFile(filepath.Join(tool.source, file)) // #nosec G304 -- a file of the source tree
		if err != nil {
			return fmt.Errorf("read the pins: %w", err)
		}
		if err := os.WriteFile(filepath.Join(folder, file), data, 0o644); err != nil { // #nosec G306 G703 -- no secret
			return fmt.Errorf("copy the pins: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = folder
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, lastLines(output.String()))
	}
	for binary := range tool.Binaries {
		if err := os.Symlink(filepath.Join(modules, ".bin", binary), filepath.Join(folder, binary)); err != nil {
			return fmt.Errorf("link the programs: %w", err)
		}
	}
	return nil
}
