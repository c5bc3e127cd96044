package released

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/crane"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
)

func TestFollowing(t *testing.T) {
	for version, want := range map[string]string{
		"0.1.0": "0.1.1", "1.2.9": "1.2.10", "0.2.0-rc.1": "0.2.1", "1.2": "", "v0.1.0": "", "0.1.x": "",
	} {
		if got, err := following(version); got != want || (err == nil) != (want != "") {
			t.Errorf("after %q comes %q, %v; want %q", version, got, err, want)
		}
	}
}

func TestEdit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	for _, test := range []struct{ text, old, changed, want string }{
		{"a\nb\nc\n", "\nb\n", "\nd\n", "a\nd\nc\n"},
		{"a\n", "", "b\n", "a\nb\n"},
		{"a\n", "b", "c", ""},
		{"a a\n", "a", "c", ""},
	} {
		if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := edit(file, test.old, test.changed)
		got, _ := os.ReadFile(file)
		if test.want == "" && (err == nil || string(got) != test.text) || test.want != "" && (err != nil || string(got) != test.want) {
			t.Errorf("%q with %q in the place of %q is %q, %v; want %q", test.text, test.changed, test.old, got, err, test.want)
		}
	}
}

// written is a release that lists images.
func written(t *testing.T, images string) Release {
	t.Helper()
	r := Release{Version: "0.1.0", Tree: t.TempDir()}
	if err := os.MkdirAll(r.Folder(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.File("images.txt"), []byte(images), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestImage(t *testing.T) {
	r := written(t, "ghcr.io/a/etcd-operator@sha256:1\nghcr.io/a/etcd-operator-bundle@sha256:2\n")
	if got, err := r.Image("etcd-operator"); got != "ghcr.io/a/etcd-operator@sha256:1" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := r.Image("operator"); err == nil {
		t.Errorf("it has %q, which is not listed", got)
	}
}

// TestTakeBack wants nothing but the version's tags to be gone.
func TestTakeBack(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	at := strings.TrimPrefix(server.URL, "http://") + "/etcdpilot"
	for _, tag := range []string{"/etcd-operator:v0.1.0", "/etcd-operator:v0.1.1", "/charts/etcd-operator:0.1.0"} {
		if err := crane.Push(empty.Image, at+tag); err != nil {
			t.Fatal(err)
		}
	}
	r := written(t, "ghcr.io/etcdpilot/etcd-operator@sha256:1\nghcr.io/etcdpilot/etcd-operator-bundle@sha256:2\n")
	for range 2 { // What is not there need not be taken back.
		if err := r.takeBack(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	for tag, want := range map[string]bool{"/etcd-operator:v0.1.0": false, "/etcd-operator:v0.1.1": true, "/charts/etcd-operator:0.1.0": false} {
		if _, err := crane.Digest(at + tag); (err == nil) != want {
			t.Errorf("%s: %v, want it to be there: %v", tag, err, want)
		}
	}
}
