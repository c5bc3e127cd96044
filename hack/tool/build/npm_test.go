package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLockFilesNameNoRegistry(t *testing.T) {
	root, err := SourceRoot()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "hack", "tools", "*", npmPins))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no lock file: %v", err)
	}
	for _, file := range files {
		lock, err := os.ReadFile(file) // #nosec G304 -- a file of the source tree
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(lock), `"resolved"`) {
			t.Errorf("%s binds whoever builds it to one registry: make it with npm's --omit-lockfile-registry-resolved", file)
		}
	}
}

func TestNPMPackageWithoutAPin(t *testing.T) {
	for name, lock := range map[string]string{
		"no JSON": "{", "another package": `{"packages":{"node_modules/other":{"version":"1.0.0","bin":{"a":"a.js"}}}}`,
		"no program": `{"packages":{"node_modules/greeter":{"version":"1.0.0"}}}`,
	} {
		root := t.TempDir()
		source := filepath.Join(root, "hack", "tools", "greeter")
		if err := os.MkdirAll(source, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(source, npmPins), []byte(lock), 0o600); err != nil {
			t.Fatal(err)
		}
		if tool, err := load(root, t.TempDir(), "greeter"); err == nil || !strings.Contains(err.Error(), "greeter") {
			t.Errorf("%s: %+v, %v, want an error that names the tool", name, tool, err)
		}
	}
}

func TestNPMToolFollowsItsPins(t *testing.T) {
	const lock = `{"packages":{"node_modules/greeter":{"version":"1.2.3","bin":{"greet":"main.js"}}}}`
	tool, err := loadNPM([]byte(lock), "/cache", "greeter", "/source")
	if err != nil {
		t.Fatal(err)
	}
	if tool.Version != "1.2.3" || tool.Binaries["greet"] == "" || !strings.HasPrefix(tool.Path("greet"), "/cache/tools/greeter-") {
		t.Errorf("the tool is %+v", tool)
	}
	other, err := loadNPM([]byte(strings.Replace(lock, "1.2.3", "1.2.4", 1)), "/cache", "greeter", "/source")
	if err != nil || other.Dir == tool.Dir {
		t.Errorf("another version is in the same folder %s (%v)", other.Dir, err)
	}
}
