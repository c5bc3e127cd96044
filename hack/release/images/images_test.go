package images

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/etcdpilot/etcd-operator/test/lab/image"
)

var (
	made     = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	reviewed = []Platform{{"linux", "amd64"}, {"linux", "s390x"}}
	tag      = name.MustParseReference("example.com/a/operator:v1.2.3").(name.Tag)
)

// index is an image whose only file has the name of its architecture.
func index(t *testing.T, at time.Time) v1.ImageIndex {
	t.Helper()
	made, err := Index(reviewed, at, func(p Platform) (image.Spec, error) {
		return image.Spec{
			Files: map[string]image.File{"/program": {Content: p.Architecture}}, Labels: map[string]string{"org.opencontainers.image.title": "a"},
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestIndex(t *testing.T) {
	made := index(t, made)
	manifest, err := made.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.Annotations["org.opencontainers.image.title"] != "a" || len(manifest.Manifests) != len(reviewed) {
		t.Fatalf("it is %+v", manifest)
	}
	for i, p := range reviewed {
		found := manifest.Manifests[i]
		if found.Platform == nil || found.Platform.OS != p.OS || found.Platform.Architecture != p.Architecture {
			t.Errorf("image %d is for %v, want %s", i, found.Platform, p)
		}
		img, err := made.Image(found.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if file, err := img.ConfigFile(); err != nil || file.Architecture != p.Architecture || !file.Created.Equal(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: it says %+v, %v", p, file, err)
		}
	}
}

func TestIndexRefuses(t *testing.T) {
	if _, err := Index(nil, made, nil); err == nil {
		t.Error("an image for nothing was made")
	}
	broken := errors.New("broken")
	if _, err := Index(reviewed, made, func(Platform) (image.Spec, error) { return image.Spec{}, broken }); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	for _, list := range []string{"", "linux", "linux/amd64,", "/amd64"} {
		if all, err := Platforms(list); err == nil {
			t.Errorf("%q is read as %v", list, all)
		}
	}
	if all, err := Platforms("linux/amd64,darwin/arm64"); err != nil || len(all) != 2 || all[1].Folder() != "darwin-arm64" {
		t.Errorf("%v, %v", all, err)
	}
}

func TestFiles(t *testing.T) {
	var files [2][]byte
	want, err := Pinned(tag, index(t, made))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(want.String(), "example.com/a/operator@sha256:") {
		t.Errorf("by digest it is %s", want)
	}
	for i := range files {
		file := filepath.Join(t.TempDir(), "image.tar")
		if err := Write(file, tag, index(t, made), made); err != nil {
			t.Fatal(err)
		}
		if files[i], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		named, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Pinned(named.Tag, named.Index); err != nil || got != want || named.Tag.String() != tag.String() {
			t.Errorf("it is read as %s, %s (%v), want %s", named.Tag, got, err, want)
		}
		if err := named.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(named.folder); !os.IsNotExist(err) {
			t.Errorf("what was unpacked is still there: %v", err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the same image gave different files")
	}
	if _, err := Read(filepath.Join(t.TempDir(), "absent.tar")); err == nil {
		t.Error("a file that is not there was read")
	}
}
