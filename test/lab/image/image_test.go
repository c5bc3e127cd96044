package image

import (
	"archive/tar"
	"errors"
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// example is an image with one file of each kind.
func example(t *testing.T) Spec {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("binary"), 0o700); err != nil { // #nosec G306 -- a program
		t.Fatal(err)
	}
	return Spec{
		Files: map[string]File{
			"/usr/local/bin/program": {Source: program},
			"/bin/link":              {Link: "../usr/local/bin/program"},
			"/etc/passwd":            {Content: "root:x:0:0::/:/bin/sh\n"},
		},
		User: "65532", Entrypoint: []string{"/usr/local/bin/program"}, Env: []string{"A=b"},
		Labels: map[string]string{"l": "m"},
	}
}

func build(t *testing.T, spec Spec) v1.Image {
	t.Helper()
	img, err := Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func digest(t *testing.T, img v1.Image) v1.Hash {
	t.Helper()
	hash, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestBuild(t *testing.T) {
	spec := example(t)
	img := build(t, spec)
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config := file.Config
	if config.User != "65532" || !slices.Equal(config.Entrypoint, spec.Entrypoint) || config.Labels["l"] != "m" {
		t.Errorf("the configuration is %+v", config)
	}
	if config.Env[0] != "A=b" || !strings.HasPrefix(config.Env[1], "PATH=/usr/local/sbin:") {
		t.Errorf("the environment is %v", config.Env)
	}
	got := map[string]string{}
	reader := mutate.Extract(img)
	defer func() { _ = reader.Close() }()
	for entries := tar.NewReader(reader); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(entries)
		if err != nil {
			t.Fatal(err)
		}
		got[header.Name] = header.FileInfo().Mode().String() + " " + header.Linkname + string(content)
	}
	want := map[string]string{
		"tmp": "dtrwxrwxrwx ", "etc": "drwxr-xr-x ", "bin": "drwxr-xr-x ",
		"usr": "drwxr-xr-x ", "usr/local": "drwxr-xr-x ", "usr/local/bin": "drwxr-xr-x ",
		"usr/local/bin/program": "-rwxr-xr-x binary",
		"bin/link":              "Lrwxrwxrwx ../usr/local/bin/program",
		"etc/passwd":            "-rw-r--r-- root:x:0:0::/:/bin/sh\n",
	}
	if !maps.Equal(got, want) {
		t.Errorf("the files are %q, want %q", got, want)
	}
}

func TestBuildIsReproducible(t *testing.T) {
	if a, b := digest(t, build(t, example(t))), digest(t, build(t, example(t))); a != b {
		t.Errorf("the same files gave %s, then %s", a, b)
	}
}

// TestBuildForElsewhere builds what is published: for another architecture, with the time of its commit, and compressed.
func TestBuildForElsewhere(t *testing.T) {
	plain, spec := build(t, example(t)), example(t)
	spec.Architecture, spec.Created, spec.Compressed = "s390x", time.Unix(1, 0).UTC(), true
	img := build(t, spec)
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.Architecture != "s390x" || file.OS != "linux" || !file.Created.Equal(spec.Created) {
		t.Errorf("it is for %s/%s, of %s", file.OS, file.Architecture, file.Created)
	}
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	if kind, err := layers[0].MediaType(); err != nil || kind != types.OCILayer {
		t.Errorf("the layer is %s, %v", kind, err)
	}
	want, err := plain.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(file.RootFS.DiffIDs, want.RootFS.DiffIDs) {
		t.Errorf("compressed it has the files %v, want %v", file.RootFS.DiffIDs, want.RootFS.DiffIDs)
	}
	if err := validate.Layer(layers[0]); err != nil {
		t.Error(err)
	}
	if again := digest(t, build(t, spec)); again != digest(t, img) {
		t.Errorf("the same files gave %s, then %s", digest(t, img), again)
	}
}

// TestModeIsNotOfTheUmask wants an image not to tell with which umask its files were made.
func TestModeIsNotOfTheUmask(t *testing.T) {
	var digests []v1.Hash
	for _, mode := range []os.FileMode{0o700, 0o755, 0o775} {
		spec := example(t)
		if err := os.Chmod(spec.Files["/usr/local/bin/program"].Source, mode); err != nil {
			t.Fatal(err)
		}
		digests = append(digests, digest(t, build(t, spec)))
	}
	if len(slices.Compact(digests)) != 1 {
		t.Errorf("the modes give %v", digests)
	}
}

func TestOwnPathIsKept(t *testing.T) {
	if got := withPath([]string{"PATH=/bin"}); !slices.Equal(got, []string{"PATH=/bin"}) {
		t.Errorf("the environment became %v", got)
	}
}

func TestBuildRefuses(t *testing.T) {
	for name, files := range map[string]map[string]File{
		"an empty entry":   {"/x": {}},
		"a missing source": {"/x": {Source: filepath.Join(t.TempDir(), "absent")}},
	} {
		if _, err := Build(Spec{Files: files}); err == nil || !strings.Contains(err.Error(), "/x") {
			t.Errorf("%s: %v, want an error that names the file", name, err)
		}
	}
}

func TestPush(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	img := build(t, example(t))
	for reference, want := range map[string]string{
		"quay.io/coreos/etcd:v3.6.16": "coreos/etcd:v3.6.16",
		"busybox":                     "library/busybox:latest",
		"localhost:5001/a/b/c:d":      "a/b/c:d",
	} {
		if err := Push(t.Context(), img, reference, address); err != nil {
			t.Error(err)
			continue
		}
		target, err := name.ParseReference(address + "/" + want)
		if err != nil {
			t.Fatal(err)
		}
		found, err := remote.Image(target, remote.WithContext(t.Context()))
		if err != nil {
			t.Errorf("%s is not at %s: %v", reference, want, err)
		} else if digest(t, found) != digest(t, img) {
			t.Errorf("another image is at %s", want)
		}
	}
	if err := Push(t.Context(), img, "a/b@sha256:"+strings.Repeat("0", 64), address); err == nil {
		t.Error("a digest was taken for a tag")
	}
}

func TestSaveAndLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "image.tar")
	spec := example(t)
	if err := Save(spec, "example.com/a:b", file); err != nil {
		t.Fatal(err)
	}
	img, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := layers(t, img), layers(t, build(t, spec)); !slices.Equal(got, want) {
		t.Errorf("the layers are %v, want %v", got, want)
	}
}

func layers(t *testing.T, img v1.Image) []v1.Hash {
	t.Helper()
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return file.RootFS.DiffIDs
}

func TestLoadLayout(t *testing.T) {
	dir := t.TempDir()
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	img := build(t, example(t))
	if err := path.AppendImage(img); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if digest(t, loaded) != digest(t, img) {
		t.Error("another image was loaded")
	}
	if err := path.AppendImage(empty.Image); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "absent"), t.TempDir()} {
		if _, err := Load(path); err == nil {
			t.Errorf("%s was loaded as one image", path)
		}
	}
}
