package plugin

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/hack/release/images"
)

func TestWrite(t *testing.T) {
	programs, out := t.TempDir(), t.TempDir()
	license := filepath.Join(programs, "LICENSE")
	for file, content := range map[string]string{
		"LICENSE": "license", "linux-arm64/kubectl-etcd": "for Linux", "windows-amd64/kubectl-etcd": "for Windows",
	} {
		path := filepath.Join(programs, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := Plugin{Programs: programs, Version: "1.2.3", Source: "https://example.com/a", Licenses: []string{license}}
	platforms := []images.Platform{{OS: "linux", Architecture: "arm64"}, {OS: "windows", Architecture: "amd64"}}
	if err := p.Write(out, platforms, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	listed, err := exec.CommandContext(t.Context(), "tar", "-tvf", filepath.Join(out, "kubectl-etcd_v1.2.3_linux_arm64.tar.gz")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(string(listed)), "\n"); len(lines) != 2 || !strings.HasSuffix(lines[0], " LICENSE") ||
		!strings.HasPrefix(lines[1], "-rwxr-xr-x") || !strings.HasSuffix(lines[1], " kubectl-etcd") {
		t.Errorf("for Linux there is\n%s", listed)
	}
	zipped, err := zip.OpenReader(filepath.Join(out, "kubectl-etcd_v1.2.3_windows_amd64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = zipped.Close() }()
	if !slices.ContainsFunc(zipped.File, func(file *zip.File) bool { return file.Name == "kubectl-etcd.exe" }) {
		t.Errorf("for Windows there is %v", zipped.File)
	}
	wantManifest(t, out)
	if err := p.Write(out, []images.Platform{{OS: "darwin", Architecture: "arm64"}}, time.Unix(1, 0)); err == nil ||
		!strings.Contains(err.Error(), "darwin/arm64") {
		t.Errorf("a program that was not built: %v", err)
	}
}

// wantManifest compares krew's manifest with the archives beside it.
func wantManifest(t *testing.T, out string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(out, "etcd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := yaml.UnmarshalStrict(text, &m); err != nil {
		t.Fatal(err)
	}
	if m.Metadata["name"] != "etcd" || m.Spec.Version != "v1.2.3" || len(m.Spec.Platforms) != 2 {
		t.Errorf("the manifest is\n%s", text)
	}
	for _, d := range m.Spec.Platforms {
		file := strings.TrimPrefix(d.URI, "https://example.com/a/releases/download/v1.2.3/")
		content, err := os.ReadFile(filepath.Join(out, file))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); d.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s has another checksum than %s", file, d.SHA256)
		}
		if system := d.Selector.MatchLabels["os"]; !strings.Contains(file, system) || strings.HasSuffix(d.Bin, ".exe") != (system == "windows") {
			t.Errorf("%s runs %s from %s", system, d.Bin, file)
		}
	}
}
