package main

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const catalog = "etcd-operator-catalog"

// serve runs a registry, and gives a folder in it.
func serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://") + "/mirror"
}

// reference is what an image or a chart is called in a registry.
func reference(t *testing.T, text string) name.Reference {
	t.Helper()
	parsed, err := name.ParseReference(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// digest is what a registry has for a name, or empty.
func digest(t *testing.T, text string) string {
	t.Helper()
	found, err := remote.Head(reference(t, text), remote.WithContext(t.Context()))
	if err != nil {
		return ""
	}
	return found.Digest.String()
}

// putChart puts a chart of that content into a registry, as Helm does.
func putChart(t *testing.T, at, version, content string) {
	t.Helper()
	chart, err := mutate.AppendLayers(empty.Image, static.NewLayer([]byte(content), types.OCILayer))
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(reference(t, at+"/charts/"+chartName+":"+version), chart, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// released is the folder of a release that has the catalog and a chart, each with the version in it.
func released(t *testing.T, version string) string {
	t.Helper()
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	dir, program := t.TempDir(), filepath.Join(t.TempDir(), "program")
	write := func(file, content string) {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(program, version)
	pinned, err := run(t, "image", "--name=example.com/o/"+catalog+":v"+version, "--platforms=linux/amd64", "--file="+program+":/program",
		"--output="+filepath.Join(dir, catalog+"-image.tar"))
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "images.txt"), pinned)
	write(filepath.Join(dir, chartName+"-"+version+".tgz"), version)
	if _, err := run(t, "sums", dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pushTo pushes a release whose chart is there, so that Helm has nothing to do.
func pushTo(t *testing.T, at, version, dir string, more ...string) (string, error) {
	t.Helper()
	return run(t, append([]string{"push", "--release=" + dir, "--version=" + version, "--registry=" + at, "--helm=/no/such/helm"}, more...)...)
}

// TestPushLooksAtAllTagsFirst pushes no image of a release whose chart has the version of another one.
func TestPushLooksAtAllTagsFirst(t *testing.T) {
	at := serve(t)
	putChart(t, at, "1.0.0", "another chart")
	if _, err := pushTo(t, at, "1.0.0", released(t, "1.0.0")); err == nil || !strings.Contains(err.Error(), "never changed") {
		t.Errorf("%v, want a refusal", err)
	}
	if got := digest(t, at+"/"+catalog+":v1.0.0"); got != "" {
		t.Errorf("the catalog was pushed: %s", got)
	}
}

// TestPushMovesLatestUpOnly pushes versions in another order than theirs.
func TestPushMovesLatestUpOnly(t *testing.T) {
	at, want := serve(t), ""
	for _, test := range []struct{ version, latest, says string }{
		{"1.0.0-rc.1", "", "pre-release"},
		{"1.9.0", "1.9.0", ""},
		{"1.10.0", "1.10.0", ""},
		{"1.9.1", "1.10.0", "v1.10.0"},
		{"2.0.0-rc.1", "1.10.0", "pre-release"},
		{"1.10.0", "1.10.0", ""},
	} {
		putChart(t, at, test.version, test.version)
		printed, err := pushTo(t, at, test.version, released(t, test.version), "--latest="+catalog)
		if err != nil {
			t.Fatalf("%s: %v", test.version, err)
		}
		if kept := strings.Contains(printed, "latest stays"); kept != (test.says != "") || !strings.Contains(printed, test.says) {
			t.Errorf("%s: it says %q, want %q", test.version, printed, test.says)
		}
		if want = ""; test.latest != "" {
			want = digest(t, at+"/"+catalog+":v"+test.latest)
		}
		if got := digest(t, at+"/"+catalog+":latest"); got != want {
			t.Errorf("after %s latest is %q, want %q", test.version, got, want)
		}
	}
}

// TestLatest moves the tag after the push, and only to what was pushed from the same files.
func TestLatest(t *testing.T) {
	at, first, second := serve(t), released(t, "1.0.0"), released(t, "1.1.0")
	latest := func(dir, want string) {
		t.Helper()
		_, err := run(t, "latest", "--release="+dir, "--registry="+at, "--image="+catalog)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	latest(first, "push it first")
	for version, dir := range map[string]string{"1.0.0": first, "1.1.0": second} {
		putChart(t, at, version, version)
		if _, err := pushTo(t, at, version, dir); err != nil {
			t.Fatal(err)
		}
	}
	if got := digest(t, at+"/"+catalog+":latest"); got != "" {
		t.Errorf("latest has moved by itself to %s", got)
	}
	latest(first, "")
	latest(second, "")
	if digest(t, at+"/"+catalog+":latest") != digest(t, at+"/"+catalog+":v1.1.0") {
		t.Error("latest has not moved")
	}
	latest(first, "it is v1.1.0")
	other := reference(t, at+"/"+catalog+":v1.2.0")
	if err := remote.Write(other, empty.Image, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
	latest(released(t, "1.2.0"), "find out why")
	if err := remote.Write(reference(t, at+"/"+catalog+":latest"), mutate.MediaType(empty.Image, types.OCIManifestSchema1), remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
	latest(second, "no version there")
	if _, err := run(t, "latest", "--release="+second, "--registry="+at, "--image=other"); err == nil || !strings.Contains(err.Error(), "no image other") {
		t.Errorf("%v", err)
	}
}
