package etcdimages

import (
	"io"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const shipped = "../../../config"

var a, b = "sha256:" + strings.Repeat("a", 64), "sha256:" + strings.Repeat("b", 64)

func put(t *testing.T, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "digests")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRead(t *testing.T) {
	got, err := Read(put(t, "# those of etcd\n\nquay.io/coreos/etcd:v3.6.16@"+a+"\nmirror.example:5000/x/etcd:v3.7.3@"+b))
	want := Digests{"quay.io/coreos/etcd:v3.6.16": a, "mirror.example:5000/x/etcd:v3.7.3": b}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for text, says := range map[string]string{
		"quay.io/coreos/etcd:v3.6.16":                                 "by tag and digest",
		"quay.io/coreos/etcd@" + a:                                    "by tag and digest",
		"quay.io/coreos/etcd:latest@" + a:                             "by tag and digest",
		"quay.io/coreos/etcd:v3.6.16@" + a[:70]:                       "by tag and digest",
		"quay.io/coreos/etcd:v3.6.16@" + strings.ToUpper(a):           "by tag and digest",
		"v3.6.16@" + a:                                                "by tag and digest",
		"quay.io/a/etcd:v3.6.1@" + a + "\nquay.io/a/etcd:v3.6.1@" + b: "twice",
	} {
		if got, err := Read(put(t, text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v; want an error that says %q", text, got, err, says)
		}
	}
}

// TestWriteKeeps wants what was written to be read again, and the comments to stay.
func TestWriteKeeps(t *testing.T) {
	file, want := put(t, "# one\n# two\nquay.io/coreos/etcd:v3.6.16@"+a+"\n"), Digests{"quay.io/coreos/etcd:v3.6.16": b, "quay.io/coreos/etcd:v3.7.3": a}
	if err := want.Write(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), "# one\n# two\nquay") {
		t.Errorf("%v, it is\n%s", err, text)
	}
	if got, err := Read(file); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// all has a digest for each image that the manifests name.
func all(t *testing.T) Digests {
	t.Helper()
	named, err := Named(shipped)
	if err != nil || len(named) < 2 {
		t.Fatalf("the manifests name %q, %v", named, err)
	}
	digests := Digests{}
	for _, image := range named {
		digests[image] = a
	}
	return digests
}

// pinned is the manager's manifest after Pin.
func pinned(t *testing.T, digests Digests) (manager string, err error) {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(shipped)); err != nil {
		t.Fatal(err)
	}
	err = digests.Pin(folder)
	text, readErr := os.ReadFile(filepath.Join(folder, managerFile))
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(text), err
}

// TestPin wants no tag of etcd to be left in the manifests, and a variable for a version that clusters of an earlier release run.
func TestPin(t *testing.T) {
	digests := all(t)
	digests["quay.io/coreos/etcd:v3.6.15"] = b
	manager, err := pinned(t, digests)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(manager, "quay.io/coreos/etcd:") || strings.Count(manager, "value: quay.io/coreos/etcd@") != len(digests) {
		t.Errorf("not every image is by its digest:\n%s", manager)
	}
	const earlier = "        - name: RELATED_IMAGE_ETCD_3_6_15\n          value: quay.io/coreos/etcd@"
	if !strings.Contains(manager, earlier+b+"\n") {
		t.Errorf("the manager lacks\n%s%s\nin\n%s", earlier, b, manager)
	}
}

// TestPinAllOrNothing wants manifests to stay as they are where a digest is missing, or one is that of another repository.
func TestPinAllOrNothing(t *testing.T) {
	before, err := pinned(t, Digests{})
	if err == nil || !strings.Contains(err.Error(), "there is no digest of quay.io/coreos/etcd:v") {
		t.Errorf("without digests: %v", err)
	}
	some, others := all(t), all(t)
	delete(some, slices.Min(some.tags()))
	others["mirror.example.com/etcd:v3.6.15"] = a
	for what, digests := range map[string]Digests{"one is missing": some, "one is from elsewhere": others} {
		if manager, err := pinned(t, digests); err == nil || manager != before {
			t.Errorf("%s: %v, and the manager is\n%s", what, err, manager)
		}
	}
}

func TestAsk(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	mirror := strings.TrimPrefix(server.URL, "http://")
	index, err := random.Index(10, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	at, err := name.NewTag(mirror + "/coreos/etcd:v3.6.16")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(at, index); err != nil {
		t.Fatal(err)
	}
	want, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	digests := Digests{"quay.io/coreos/etcd:v3.6.15": b}
	if err := digests.Ask(t.Context(), []string{"quay.io/coreos/etcd:v3.6.16"}, mirror, false); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(digests, Digests{"quay.io/coreos/etcd:v3.6.15": b, "quay.io/coreos/etcd:v3.6.16": want.String()}) {
		t.Errorf("the digests are %v, want that of both architectures, %s", digests, want)
	}
	if err := digests.Ask(t.Context(), []string{"quay.io/coreos/etcd:v3.6.17"}, mirror, false); err == nil {
		t.Error("it has the digest of an image that is not there")
	}
}

// TestAskRefuses takes no image of one architecture, except in a rehearsal, and puts no digest in the place of another.
func TestAskRefuses(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	mirror := strings.TrimPrefix(server.URL, "http://")
	one, err := random.Image(10, 1)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := one.Digest()
	if err != nil {
		t.Fatal(err)
	}
	at, err := name.NewTag(mirror + "/coreos/etcd:v3.6.16")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(at, one); err != nil {
		t.Fatal(err)
	}
	const tag = "quay.io/coreos/etcd:v3.6.16"
	for title, c := range map[string]struct {
		before    Digests
		rehearsal bool
		says      string
	}{
		"one architecture":   {Digests{}, false, "one architecture"},
		"of a rehearsal":     {Digests{}, true, ""},
		"as it was":          {Digests{tag: digest.String()}, true, ""},
		"in another's place": {Digests{tag: b}, true, "remove its line first"},
	} {
		t.Run(title, func(t *testing.T) {
			want := Digests{tag: digest.String()}
			if c.says != "" {
				want = maps.Clone(c.before)
			}
			err := c.before.Ask(t.Context(), []string{tag}, mirror, c.rehearsal)
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || !maps.Equal(c.before, want) {
				t.Errorf("got %v, %v; want %v", c.before, err, want)
			}
		})
	}
}
