package reproducible

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	etcdversion "github.com/etcdpilot/etcd-operator/internal/version"
)

// version whose release is rehearsed, from a tree without its tag: make names that of the Makefile.
var version = os.Getenv("VERSION")

// platforms are those that make test-release names by a variable, and that make release reads from it, too.
func platforms(t *testing.T, variable string) []string {
	t.Helper()
	list := os.Getenv(variable)
	if list == "" {
		t.Fatalf("%s is not set: run make test-release", variable)
	}
	return strings.Split(list, ",")
}

// packed is the archive of the plugin for a platform.
func packed(platform string) string {
	ending := ".tar.gz"
	if strings.HasPrefix(platform, "windows/") {
		ending = ".zip"
	}
	return "kubectl-etcd_v" + version + "_" + strings.ReplaceAll(platform, "/", "_") + ending
}

// release is a folder of released files.
type release string

func (r release) file(name string) string { return filepath.Join(string(r), name) }

func (r release) text(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(r.file(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRelease releases this commit from two folders, as people with another umask, language and time zone, compares the files, and looks into
// those of the first. Both use what this machine has compiled before: to compile it anew for all platforms would take too long.
// TestReproducible proves that nothing comes of that, on the platform that it runs on.
func TestRelease(t *testing.T) {
	first, second := made(t, "022", nil, "etcd-operator"), made(t, "077", []string{"LC_ALL=C", "TZ=Asia/Kathmandu"}, "some", "other", "folder")
	names := first.names(t)
	if others := second.names(t); !slices.Equal(names, others) {
		t.Fatalf("one has %q, the other %q", names, others)
	}
	for _, name := range names {
		wantSame(t, first.file(name), second.file(name))
	}
	t.Run("files", first.testFiles)
	t.Run("images", first.testImages)
	t.Run("manifests", first.testManifests)
	t.Run("plugin", first.testPlugin)
	t.Run("sboms", first.testSBOMs)
	t.Run("push", first.testPush)
	t.Run("refused", func(t *testing.T) { testRefused(t, string(first)) })
}

// made makes a release of this commit.
func made(t *testing.T, umask string, env []string, path ...string) release {
	t.Helper()
	dir := clone(t, umask, path...)
	digests := filepath.Join(t.TempDir(), "digests")
	write(t, digests, []byte(etcdDigests()))
	run(t, dir, env, "umask "+umask+"; make release REHEARSAL=yes VERSION="+version+" ETCD_DIGESTS="+digests)
	return release(filepath.Join(dir, "dist", "v"+version))
}

// etcdDigests are some for each version of etcd that the manifests name: those of its images are not looked up here.
func etcdDigests() (lines string) {
	for i, v := range etcdversion.Tested {
		lines += fmt.Sprintf("%s@sha256:%064d\n", etcdversion.Image("", v), i)
	}
	return lines
}

func (r release) names(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(string(r))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// testFiles wants what the page lists, with its checksums.
func (r release) testFiles(t *testing.T) {
	want := []string{
		"REHEARSAL", "SHA256SUMS", "catalog-v" + version + ".yaml", "crds.yaml", "etcd-operator-" + version + ".tgz", "etcd-operator-bundle-image.tar",
		"etcd-operator-catalog-image.tar", "etcd-operator-image.tar", "etcd-operator-scorecard-image.tar", "etcd.yaml", "images.txt", "install-namespaced.yaml", "install.yaml",
		"release-notes.md", "sboms.tar.gz", "third-party-licenses.txt",
	}
	for _, platform := range platforms(t, "PLUGIN_PLATFORMS") {
		want = append(want, packed(platform))
	}
	if slices.Sort(want); !slices.Equal(r.names(t), want) {
		t.Errorf("there are %q, want %q", r.names(t), want)
	}
	run(t, string(r), nil, "sha256sum --check --strict --quiet SHA256SUMS")
	if lines := strings.Count(r.text(t, "SHA256SUMS"), "\n"); lines != len(want)-1 {
		t.Errorf("%d checksums of %d files", lines, len(want)-1)
	}
	notes := r.text(t, "release-notes.md")
	for _, part := range append(strings.Fields(r.text(t, "images.txt")), "### Added") {
		if !strings.Contains(notes, part) {
			t.Errorf("the notes lack %s", part)
		}
	}
	if strings.Contains(notes, "Nothing is published") {
		t.Error("the notes say that nothing is published")
	}
}

// testRefused wants nothing released of a tree with changes, nor a version that nobody has written about. The changelog may have a date by now.
func testRefused(t *testing.T, dir string) {
	root := filepath.Join(dir, "..", "..")
	run(t, root, nil, `sed -i 's/^\(## \['$VERSION'\] - \).*/\1Unreleased/' CHANGELOG.md && grep -q '^## \['$VERSION'\] - Unreleased$' CHANGELOG.md`)
	for arguments, want := range map[string]string{
		"VERSION=" + version:                             "Unreleased",
		"VERSION=" + version + " ETCD_DIGESTS=/dev/null": "no digest of quay.io/coreos/etcd:v",
		"VERSION=" + version + " PLATFORMS=linux/amd64":  "for all platforms",
		"VERSION=7.8.9 REHEARSAL=yes":                    "CHANGELOG.md",
		"VERSION=7.8.9-rc.1 REHEARSAL=yes":               "channels.yaml",
		"VERSION=one REHEARSAL=yes":                      "VERSION",
	} {
		output := run(t, root, nil, "! env -u PLATFORMS -u PLUGIN_PLATFORMS make release "+arguments+" 2>&1")
		if !strings.Contains(output, want) {
			t.Errorf("make release %s: want %s, and it says\n%s", arguments, want, output)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "more.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if output := run(t, root, nil, "! env -u PLATFORMS -u PLUGIN_PLATFORMS make release VERSION="+version+" 2>&1"); !strings.Contains(output, "more.txt") {
		t.Errorf("a file that is in no commit: it says\n%s", output)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("what was released before is gone: %v", err)
	}
}
