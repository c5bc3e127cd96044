package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	mirror     = "registry.example.com/mirror"
	operatorIs = "/etcd-operator@sha256:1111111111111111111111111111111111111111111111111111111111111111\n"
	bundleIs   = "/etcd-operator-bundle@sha256:2222222222222222222222222222222222222222222222222222222222222222\n"
	chartIs    = mirror + "/charts/etcd-operator@sha256:3333333333333333333333333333333333333333333333333333333333333333\n"
)

// signer is a folder with a program cosign, and the file into which that writes what it was told.
func signer(t *testing.T) (dir, told string) {
	t.Helper()
	dir = t.TempDir()
	put(t, filepath.Join(dir, "cosign"), "#!/bin/sh\necho \"$@\" >> \"$(dirname \"$0\")/told\"\n")
	if err := os.Chmod(filepath.Join(dir, "cosign"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, "told")
}

func put(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sign signs a release of two images of which that was pushed, and returns what make says, and what cosign was told.
func sign(t *testing.T, pushed string, arguments ...string) (output, told string, err error) {
	t.Helper()
	dist := t.TempDir()
	put(t, filepath.Join(dist, "v1.0.0", "images.txt"), "ghcr.io/etcdpilot"+operatorIs+"ghcr.io/etcdpilot"+bundleIs)
	put(t, filepath.Join(dist, "v1.0.0", "SHA256SUMS"), "")
	if pushed != "" {
		put(t, filepath.Join(dist, "pushed-v1.0.0.txt"), pushed)
	}
	dir, file := signer(t)
	arguments = append([]string{"release-sign", "VERSION=1.0.0", "DIST=" + dist, "REGISTRY=" + mirror}, arguments...)
	output, err = runMake(t, []string{"PATH=" + dir + ":" + os.Getenv("PATH")}, arguments...)
	text, missing := os.ReadFile(file)
	if missing != nil && !os.IsNotExist(missing) {
		t.Fatal(missing)
	}
	return output, strings.ReplaceAll(string(text), dist, "dist"), err
}

// TestSign signs all that was pushed by its digest, and the checksums.
func TestSign(t *testing.T) {
	output, told, err := sign(t, mirror+bundleIs+mirror+operatorIs+chartIs, "COSIGN_KEY=env://KEY")
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	const command = "sign --yes --recursive --key env://KEY "
	want := command + mirror + bundleIs + command + mirror + operatorIs + command + chartIs +
		"sign-blob --yes --key env://KEY --bundle dist/v1.0.0/SHA256SUMS.sigstore.json dist/v1.0.0/SHA256SUMS\n"
	if told != want {
		t.Errorf("cosign was told\n%s\nwant\n%s", told, want)
	}
}

// TestSignRefuses signs nothing if what was pushed is not the release, and one chart.
func TestSignRefuses(t *testing.T) {
	images := mirror + operatorIs + mirror + bundleIs
	other := strings.ReplaceAll(chartIs, "3", "4")
	for name, test := range map[string]struct{ pushed, key, want string }{
		"nothing to sign with":     {images + chartIs, "", "say what to sign with"},
		"nothing pushed":           {"", "key", "make release-push writes it"},
		"an image is missing":      {mirror + operatorIs + chartIs, "key", "other images"},
		"an image is another":      {strings.ReplaceAll(images, "2", "5") + chartIs, "key", "other images"},
		"an image is elsewhere":    {strings.ReplaceAll(images, "mirror", "other") + chartIs, "key", "other images"},
		"an image by tag":          {images + chartIs + mirror + "/etcd-operator:v1.0.0\n", "key", "other images"},
		"something more":           {images + chartIs + mirror + "/charts/other@sha256:1\n", "key", "other images"},
		"the chart by tag":         {images + mirror + "/charts/etcd-operator:1.0.0\n", "key", "other images"},
		"the chart is missing":     {images, "key", "one chart"},
		"two charts":               {images + chartIs + other, "key", "one chart"},
		"the chart of another one": {images + strings.ReplaceAll(chartIs, "example.com", "example-com"), "key", "other images"},
	} {
		output, told, err := sign(t, test.pushed, "COSIGN_KEY="+test.key)
		if err == nil || !strings.Contains(output, test.want) || told != "" {
			t.Errorf("%s: %v, want %q, and cosign was told %q\n%s", name, err, test.want, told, output)
		}
	}
}

// TestPushTakesNoKey refuses a key where nothing is signed, rather than let somebody believe that it was.
func TestPushTakesNoKey(t *testing.T) {
	output, err := runMake(t, []string{"COSIGN_KEY=key"}, "release-push", "VERSION=1.0.0", "DIST="+t.TempDir())
	if err == nil || !strings.Contains(output, "make release-sign") {
		t.Errorf("%v\n%s", err, output)
	}
}
