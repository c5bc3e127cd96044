package registry

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/lab/image"
)

func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, "127.0.0.1:0", Options{Dir: dir, PKI: t.TempDir(), Out: writer}) }()

	lines := bufio.NewScanner(reader)
	if !lines.Scan() {
		t.Fatal("it says nothing")
	}
	_, address, found := strings.Cut(lines.Text(), "listens on ")
	if !found {
		t.Fatalf("it does not say where it listens: %q", lines.Text())
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()

	img, err := image.Build(image.Spec{Files: map[string]image.File{"/hello": {Content: "hello"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := image.Push(t.Context(), img, "quay.io/a/b:c", address); err != nil {
		t.Error(err)
	}
	if blobs, err := os.ReadDir(dir); err != nil || len(blobs) == 0 {
		t.Errorf("the layers are not on the disk: %v, %v", blobs, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("it did not end well: %v", err)
	}
}

func TestServeSaysWhyNot(t *testing.T) {
	options := Options{Dir: t.TempDir(), PKI: t.TempDir(), Out: io.Discard}
	if err := Serve(t.Context(), "192.0.2.77:1", options); err == nil {
		t.Error("it listens on an address that is not this machine's")
	}
}
