package reproducible

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/crane"
)

// testPush pushes the release twice, looks whether all is there and signed, and whether another content is refused.
func (r release) testPush(t *testing.T) {
	at, root := serve(t), filepath.Join(string(r), "..", "..")
	of := " REHEARSAL=yes VERSION=" + version + " REGISTRY=" + at + "/mirror"
	push := "make release-push" + of
	run(t, root, nil, push)
	if latest, err := crane.Digest(at + "/mirror/etcd-operator-catalog:latest"); err == nil {
		t.Errorf("nobody has asked for it, and latest is %s", latest)
	}
	run(t, root, nil, push+" LATEST=yes")
	run(t, root, []string{"PATH=" + signer(t) + ":" + os.Getenv("PATH")}, "make release-sign COSIGN_KEY=key"+of)
	signed := r.text(t, "SHA256SUMS.sigstore.json")
	for base := range published {
		digest, err := crane.Digest(at + "/mirror/" + base + ":v" + version)
		if want := r.image(t, base); err != nil || !strings.HasSuffix(want, "@"+digest) {
			t.Errorf("%s:v%s is %s (%v), want %s", base, version, digest, err, want)
		}
		if !strings.Contains(signed, "sign --yes --recursive --key key "+at+"/mirror/"+base+"@"+digest+"\n") {
			t.Errorf("%s is not signed:\n%s", base, signed)
		}
	}
	if !strings.Contains(signed, "/mirror/charts/etcd-operator@sha256:") || !strings.HasSuffix(signed, "/SHA256SUMS\n") {
		t.Errorf("chart and checksums are not signed:\n%s", signed)
	}
	versioned, err := crane.Digest(at + "/mirror/etcd-operator-catalog:v" + version)
	if latest, other := crane.Digest(at + "/mirror/etcd-operator-catalog:latest"); err != nil || other != nil || latest != versioned {
		t.Errorf("latest is %s (%v), want %s (%v)", latest, other, versioned, err)
	}
	dir := t.TempDir()
	run(t, dir, nil, tool(t, "helm")+" pull --plain-http oci://"+at+"/mirror/charts/etcd-operator --version "+version)
	wantSame(t, filepath.Join(dir, "etcd-operator-"+version+".tgz"), r.file("etcd-operator-"+version+".tgz"))
	r.testPushRefused(t, push, "make release-sign COSIGN_KEY=key"+of, at)
}

// signer is a folder with a program cosign, which writes down into the signature of the checksums what it was told to sign.
func signer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "cosign"), []byte(`#!/bin/sh
echo "$@" >> "$(dirname "$0")/told"
while [ $# -gt 0 ]; do
  if [ "$1" = --bundle ]; then cp "$(dirname "$0")/told" "$2"; fi
  shift
done
`))
	const executable = 0o700
	if err := os.Chmod(filepath.Join(dir, "cosign"), executable); err != nil {
		t.Fatal(err)
	}
	return dir
}

// testPushRefused pushes where another image has the tag, without the program that signs, and a file that was changed.
func (r release) testPushRefused(t *testing.T, push, sign, at string) {
	t.Helper()
	root := filepath.Join(string(r), "..", "..")
	if err := crane.Copy(at+"/mirror/etcd-operator-bundle:v"+version, at+"/mirror/etcd-operator:v"+version); err != nil {
		t.Fatal(err)
	}
	forReal := strings.ReplaceAll(push, "REHEARSAL=yes", "REHEARSAL=")
	if output := run(t, root, nil, "! "+forReal+" 2>&1"); !strings.Contains(output, "is a rehearsal") {
		t.Errorf("what is rehearsed is published, and it says\n%s", output)
	}
	if output := run(t, root, nil, "! "+push+" 2>&1"); !strings.Contains(output, "never changed") {
		t.Errorf("another image has its tag, and it says\n%s", output)
	}
	nothing := []string{"PATH=" + filepath.Dir(strings.TrimSpace(run(t, root, nil, "command -v go"))) + ":/usr/bin:/bin"}
	if output := run(t, root, nothing, "! "+sign+" 2>&1"); !strings.Contains(output, "put cosign into PATH") {
		t.Errorf("without cosign it says\n%s", output)
	}
	write(t, r.file("crds.yaml"), []byte("kind: Other\n"))
	if output := run(t, root, nil, "! "+push+" 2>&1"); !strings.Contains(output, "crds.yaml has changed") {
		t.Errorf("a file has changed, and it says\n%s", output)
	}
}
