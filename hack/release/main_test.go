package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/hack/release/images"
)

// run runs one command line, and returns what it prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := command()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// programs is a folder with a program for each of two platforms.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, platform := range []string{"linux-amd64", "linux-s390x"} {
		if err := os.MkdirAll(filepath.Join(dir, platform), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, platform, "program"), []byte(platform), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestImage(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	dir := programs(t)
	file := filepath.Join(dir, "image.tar")
	image := []string{"image", "--name=example.com/a:v1", "--file=" + dir + "/{platform}/program:/program", "--output=" + file}
	printed, err := run(t, append(image, "--platforms=linux/amd64,linux/s390x")...)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^example\.com/a@sha256:[0-9a-f]{64}\n$`).MatchString(printed) {
		t.Errorf("it prints %q", printed)
	}
	named, err := images.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = named.Close() }()
	if pinned, err := images.Pinned(named.Tag, named.Index); err != nil || pinned.String()+"\n" != printed {
		t.Errorf("the file has %s, %v", pinned, err)
	}
	for platforms, want := range map[string]string{
		"linux/arm64": "linux-arm64/program", "windows/amd64": "images are for Linux", "linux": "OS/ARCHITECTURE",
	} {
		if _, err := run(t, append(image, "--platforms="+platforms)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("for %s: %v, want an error with %q", platforms, err, want)
		}
	}
}

func TestNothingIsMadeWithoutATime(t *testing.T) {
	dir := programs(t)
	for _, seconds := range []string{"", "yesterday"} {
		t.Setenv("SOURCE_DATE_EPOCH", seconds)
		for _, line := range []string{
			"image --name=a:v1 --platforms=linux/amd64 --file=" + dir + ":/a", "pack --folder=" + dir,
			"plugin --programs=" + dir + " --version=1.0.0 --source=a --platforms=linux/amd64",
		} {
			file := filepath.Join(t.TempDir(), "out.tar")
			if _, err := run(t, append(strings.Fields(line), "--output="+file)...); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
				t.Errorf("%s: %v", line, err)
			}
			if _, err := os.Stat(file); err == nil {
				t.Errorf("%s has written something", line)
			}
		}
	}
}
