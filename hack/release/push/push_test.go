package push

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/etcdpilot/etcd-operator/hack/release/images"
	"github.com/etcdpilot/etcd-operator/test/lab/image"
)

// serve runs a registry, and gives a folder in it.
func serve(t *testing.T) Registry {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return Registry(strings.TrimPrefix(server.URL, "http://") + "/mirror")
}

// example is an image of the release with that in its only file.
func example(t *testing.T, called, content string) images.Named {
	t.Helper()
	tag, err := name.NewTag("ghcr.io/owner/" + called)
	if err != nil {
		t.Fatal(err)
	}
	index, err := images.Index([]images.Platform{{OS: "linux", Architecture: "arm64"}}, time.Unix(1, 0), func(images.Platform) (image.Spec, error) {
		return image.Spec{Files: map[string]image.File{"/file": {Content: content}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return images.Named{Tag: tag, Index: index}
}

// there is the digest that a registry has for a name.
func there(t *testing.T, reference string) string {
	t.Helper()
	parsed, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	found, err := remote.Head(parsed, options(t.Context())...)
	if missing(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return found.Digest.String()
}

func TestImages(t *testing.T) {
	r := serve(t)
	operator, bundle := example(t, "operator:v1.0.0", "one"), example(t, "bundle:v1.0.0", "one")
	for range 2 { // the second time all of it is there
		pinned, err := r.Images(t.Context(), []images.Named{operator, bundle})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"/mirror/operator@sha256:", "/mirror/bundle@sha256:"} {
			if !strings.Contains(pinned[i].String(), want) {
				t.Errorf("it is %s, want %s", pinned[i], want)
			}
		}
		if got := there(t, string(r)+"/operator:v1.0.0"); got != pinned[0].DigestStr() {
			t.Errorf("v1.0.0 is %q, want %s", got, pinned[0])
		}
	}
}

// TestImagesNeverReplacesAVersion pushes nothing of a release of which one version is taken.
func TestImagesNeverReplacesAVersion(t *testing.T) {
	r := serve(t)
	if _, err := r.Images(t.Context(), []images.Named{example(t, "operator:v1.0.0", "one")}); err != nil {
		t.Fatal(err)
	}
	before := there(t, string(r)+"/operator:v1.0.0")
	_, err := r.Images(t.Context(), []images.Named{example(t, "bundle:v1.0.0", "new"), example(t, "operator:v1.0.0", "other")})
	if err == nil || !strings.Contains(err.Error(), "operator:v1.0.0") || !strings.Contains(err.Error(), "never changed") {
		t.Errorf("%v", err)
	}
	if got := there(t, string(r)+"/bundle:v1.0.0"); got != "" || there(t, string(r)+"/operator:v1.0.0") != before {
		t.Errorf("something was pushed: %s", got)
	}
	for _, wrong := range []Registry{"", "Not/A/Registry", "localhost:1/a"} {
		if _, err := wrong.Images(t.Context(), []images.Named{example(t, "operator:v1.0.0", "one")}); err == nil {
			t.Errorf("to %q it was pushed", wrong)
		}
	}
}

// TestChart wants Helm to be run only if the version is free; Helm itself is run by test-release.
func TestChart(t *testing.T) {
	r, dir := serve(t), t.TempDir()
	file := filepath.Join(dir, "operator-1.0.0.tgz")
	put := func(content string) {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tag, err := name.NewTag(string(r) + "/charts/operator:1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := mutate.AppendLayers(empty.Image, static.NewLayer([]byte("chart"), types.OCILayer))
	if err != nil {
		t.Fatal(err)
	}
	const helm = "/no/such/helm"
	put("chart")
	if _, err := r.Chart(t.Context(), helm, file, "operator", "1.0.0"); err == nil || !strings.Contains(err.Error(), "--plain-http") {
		t.Errorf("a new version: %v, want an error of Helm", err)
	}
	if err := remote.Write(tag, packed, options(t.Context())...); err != nil {
		t.Fatal(err)
	}
	if pinned, err := r.Chart(t.Context(), helm, file, "operator", "1.0.0"); err != nil || pinned.DigestStr() != there(t, tag.String()) {
		t.Errorf("what is there: %s, %v", pinned, err)
	}
	put("another chart")
	if _, err := r.Chart(t.Context(), helm, file, "operator", "1.0.0"); err == nil || !strings.Contains(err.Error(), "never changed") {
		t.Errorf("another content: %v", err)
	}
}
