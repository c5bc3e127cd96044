package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/internal/version"
)

const (
	releasedImage = "registry.example.com/etcd-operator@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	disconnected  = "features.operators.openshift.io/disconnected"
)

// byTag is an image of etcd without its digest.
var byTag = regexp.MustCompile(`coreos/etcd(:[\w.]+)?["\s]`)

// TestReleaseByDigest makes what a release installs by, and wants it to name no image of etcd by its tag, and the bundle to list each.
func TestReleaseByDigest(t *testing.T) {
	var digests, want []string
	for _, v := range version.Tested {
		digest := "@sha256:" + strings.Repeat(strings.ReplaceAll(v, ".", ""), 64)[:64]
		digests, want = append(digests, version.Image("", v)+digest), append(want, version.DefaultRepository+digest)
	}
	dir := manifestsWith(t, digests)
	h := helm{asset(t, "TEST_ASSET_HELM"), filepath.Join(dir, "etcd-operator-9.8.7.tgz")}
	chart, err := h.template(t)
	if err != nil {
		t.Fatalf("%v\n%s", err, chart)
	}
	bundle := filepath.Join(dir, "stage", "bundle")
	text := contentOf(t, filepath.Join(bundle, csvFile))
	for what, text := range map[string]string{
		"the bundle": text, "the chart": chart, "install.yaml": contentOf(t, filepath.Join(dir, "install.yaml")),
		"install-namespaced.yaml": contentOf(t, filepath.Join(dir, "install-namespaced.yaml")),
	} {
		if found := byTag.FindString(text); found != "" {
			t.Errorf("%s names %q", what, found)
		}
		for _, image := range want {
			if !strings.Contains(text, image) {
				t.Errorf("%s does not name %s", what, image)
			}
		}
	}
	wantDisconnected(t, text, len(want)+1)
	valid := exec.CommandContext(t.Context(), asset(t, "TEST_ASSET_SDK"), "bundle", "validate", "bundle", "--select-optional", "suite=operatorframework")
	valid.Dir = bundle
	if said, err := valid.CombinedOutput(); err != nil || strings.Contains(string(said), "level=warning") {
		t.Errorf("it is not valid: %v\n%s", err, said)
	}
}

// manifestsWith makes what a release installs by, with digests of etcd's images, and returns the folder.
func manifestsWith(t *testing.T, digests []string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, "digests")
	if err := os.WriteFile(file, []byte(strings.Join(digests, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := inRoot(t, "release-manifests", "VERSION=9.8.7", "IMG="+releasedImage, "SCORECARD_IMG="+releasedImage, "ETCD_DIGESTS="+file,
		"NAMESPACES=etcd-operator-system", "BIN="+dir+"/bin", "STAGE="+dir+"/stage", "DIST="+dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return dir
}

// wantDisconnected wants a bundle to say that it works from a mirror that has digests only, where it lists so many images by digest, and that
// of the source tree, which names tags, not to.
func wantDisconnected(t *testing.T, text string, images int) {
	t.Helper()
	if claims := readCSV(t).Metadata.Annotations[disconnected]; claims != "false" {
		t.Errorf("the bundle in the tree names tags, and claims %s: %q", disconnected, claims)
	}
	var c csv
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if claims := c.Metadata.Annotations[disconnected]; claims != "true" || len(c.Spec.RelatedImages) != images {
		t.Errorf("it claims %s: %q, and lists %+v", disconnected, claims, c.Spec.RelatedImages)
	}
	for _, listed := range c.Spec.RelatedImages {
		if !strings.Contains(listed.Image, "@sha256:") {
			t.Errorf("it lists %s", listed.Image)
		}
	}
}

func contentOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
