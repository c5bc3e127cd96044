package packaging

import (
	"os"
	"path/filepath"
	"testing"
)

// TestChartInstallsWhatTheManifestsDo compares the two of a release, which have the image by digest.
func TestChartInstallsWhatTheManifestsDo(t *testing.T) {
	dir := t.TempDir()
	const image = "registry.example.com:5000/a/etcd-operator@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	if output, err := inRoot(t, "build-installer", "chart", "VERSION=9.8.7", "IMG="+image, "BIN="+dir+"/bin", "DIST="+dir); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	text, err := os.ReadFile(filepath.Join(dir, "install.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := parsed(t, text)
	if got := want.environment(t)["OPERATOR_IMAGE"].Value; got != image {
		t.Errorf("install.yaml has the image %s", got)
	}
	h := helm{asset(t, "TEST_ASSET_HELM"), filepath.Join(dir, "etcd-operator-9.8.7.tgz")}
	wantObjects(t, h.rendered(t), want)
}
