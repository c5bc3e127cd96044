package blobstore_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/blobstore/storetest"
)

func TestGCS(t *testing.T) {
	target, c := storetest.StartGCS(t)
	testStore(t, target, c)
}

func TestAzure(t *testing.T) {
	target, c := storetest.StartAzure(t)
	testStore(t, target, c)
	const signature = "c2lnbmF0dXJlIG9mIG5vYm9keQ" // #nosec G101
	target.AllowTokens = true
	wrong := blobstore.Credentials{"storage-account": c["storage-account"], "sas-token": []byte("sv=2024-01-01&sig=" + signature)}
	if err := listing(open(t, target, wrong)); reasonOf(err) != v1beta2.ReasonStorageAccessDenied || strings.Contains(err.Error(), signature) {
		t.Errorf("a wrong token: got %v", err)
	}
	target.Endpoint = "http://127.0.0.1:1"
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := open(t, target, wrong).Open(ctx, "object")
	if err == nil || strings.Contains(err.Error(), signature) {
		t.Errorf("nobody listens: got %v", err)
	}
}

// testStore does with a store what backups need.
func testStore(t *testing.T, target blobstore.Target, c blobstore.Credentials) {
	t.Helper()
	b := open(t, below(target, "some/folder"), c)
	for name, content := range map[string][]byte{
		"big": bytes.Repeat([]byte("0123456789abcdef"), 40<<16), "small": []byte("small"), "empty": nil,
	} {
		if err := write(b, name, bytes.NewReader(content)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := b.Read(t.Context(), name, int64(len(content))); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: read %d bytes, %v", name, len(got), err)
		}
	}
	for _, size := range []int64{1000, 70 << 20} {
		testEnds(t, b, size)
	}
	for range 2 {
		if err := b.Delete(t.Context(), "small"); err != nil {
			t.Error(err)
		}
	}
	if got := list(t, b); !slices.Equal(got, []string{"big", "empty"}) {
		t.Errorf("listed %v", got)
	}
	if _, err := b.Open(t.Context(), "small"); reasonOf(err) != v1beta2.ReasonNoSuchObject {
		t.Errorf("got %v", err)
	}
	testNew(t, b)
	testResumes(t, below(target, "resumes"), c)
	another := target
	another.URL = strings.Replace(target.URL, storetest.Bucket, "another", 1)
	missing := open(t, another, c)
	if err := listing(missing); reasonOf(err) != v1beta2.ReasonNoSuchBucket {
		t.Errorf("list no bucket: got %v", err)
	}
	if err := write(missing, "object", strings.NewReader("x")); reasonOf(err) != v1beta2.ReasonNoSuchBucket {
		t.Errorf("write to no bucket: got %v", err)
	}
}

// testEnds ends the writing of an object without a commit.
func testEnds(t *testing.T, b *blobstore.Bucket, size int64) {
	t.Helper()
	for title, end := range map[string]func(*blobstore.Writer, context.CancelFunc){
		"abort":  func(w *blobstore.Writer, _ context.CancelFunc) { w.Abort() },
		"cancel": func(w *blobstore.Writer, cancel context.CancelFunc) { cancel(); w.Abort() },
		"commit after cancel": func(w *blobstore.Writer, cancel context.CancelFunc) {
			cancel()
			if w.Commit() == nil {
				t.Error("committed")
			}
			w.Abort() // nothing is left to abort
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		w, err := b.Create(ctx, "object")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, io.LimitReader(zeros{}, size)); err != nil {
			t.Fatal(err)
		}
		end(w, cancel)
		cancel()
		if _, err := b.Open(t.Context(), "object"); reasonOf(err) != v1beta2.ReasonNoSuchObject {
			t.Errorf("%s after %d bytes: got %v", title, size, err)
		}
	}
}

// testNew has someone else write an object of the same name before one that is to be new is there: that one stays.
func testNew(t *testing.T, b *blobstore.Bucket) {
	t.Helper()
	for name, size := range map[string]int64{"raced": 10, "raced-in-parts": 20 << 20} {
		w, err := b.CreateNew(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, io.LimitReader(zeros{}, size)); err != nil {
			t.Fatal(err)
		}
		if err := write(b, name, strings.NewReader("theirs")); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); reasonOf(err) != v1beta2.ReasonObjectChanged {
			t.Errorf("%s: got %v", name, err)
		}
		if got, err := b.Read(t.Context(), name, 100); err != nil || string(got) != "theirs" {
			t.Errorf("%s: left %d bytes, %v", name, len(got), err)
		}
		if err := b.Delete(t.Context(), name); err != nil {
			t.Error(err)
		}
		if w, err = b.CreateNew(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Errorf("%s, which nobody else has written: %v", name, err)
		}
		if err := b.Delete(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
}

func TestNewFile(t *testing.T) {
	testNew(t, open(t, blobstore.Target{URL: "file://" + t.TempDir()}, nil))
}
