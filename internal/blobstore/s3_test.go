package blobstore_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/blobstore/storetest"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// TestS3 asks one real server for everything: it takes seconds to start.
func TestS3(t *testing.T) {
	m := storetest.StartMinIO(t)
	for name, test := range map[string]func(*testing.T, *storetest.MinIO){
		"objects": testS3Objects, "credentials": testS3Credentials, "abort": testS3Abort, "cut off": testS3CutOff,
		"refusals": testS3Refusals, "locked": testS3Locked,
		"new":     func(t *testing.T, m *storetest.MinIO) { testNew(t, open(t, below(m.Target, "new"), m.Credentials)) },
		"resumes": func(t *testing.T, m *storetest.MinIO) { testResumes(t, below(m.Target, "resumes"), m.Credentials) },
	} {
		t.Run(name, func(t *testing.T) { test(t, m) })
	}
}

func open(t *testing.T, target blobstore.Target, c blobstore.Credentials) *blobstore.Bucket {
	t.Helper()
	b, err := blobstore.Open(t.Context(), target, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func below(target blobstore.Target, folder string) blobstore.Target {
	target.URL += "/" + folder
	return target
}

func write(b *blobstore.Bucket, name string, r io.Reader) error {
	w, err := b.Create(context.Background(), name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		w.Abort()
		return err
	}
	return w.Commit()
}

func list(t *testing.T, b *blobstore.Bucket) []string {
	t.Helper()
	var all []string
	for o, err := range b.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o.Name)
	}
	return all
}

func testS3Objects(t *testing.T, m *storetest.MinIO) {
	b := open(t, below(m.Target, "objects/some"), m.Credentials)
	big := make([]byte, 50<<20) // of several parts
	_, _ = rand.Read(big)
	for name, content := range map[string][]byte{"big": big, "small": []byte("small"), "empty": nil} {
		if err := write(b, name, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Read(t.Context(), name, int64(len(content))); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: read %d bytes, %v", name, len(got), err)
		}
	}
	if got := list(t, b); !slices.Equal(got, []string{"big", "empty", "small"}) {
		t.Errorf("listed %v", got)
	}
	if above := open(t, below(m.Target, "objects"), m.Credentials); len(list(t, above)) != 0 {
		t.Error("objects of a folder in it were listed")
	}
	for range 2 {
		if err := b.Delete(t.Context(), "small"); err != nil {
			t.Error(err)
		}
	}
	if got := list(t, b); !slices.Equal(got, []string{"big", "empty"}) {
		t.Errorf("listed %v", got)
	}
}

// testS3Credentials writes with credentials in each form that a Secret may have them in. The environment must not count.
func testS3Credentials(t *testing.T, m *storetest.MinIO) {
	id, key := string(m.Credentials["access-key-id"]), string(m.Credentials["secret-access-key"])
	t.Setenv("AWS_ACCESS_KEY_ID", "somebody")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "else")
	t.Setenv("TMPDIR", t.TempDir())
	file := fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n", id, key)
	for title, c := range map[string]blobstore.Credentials{
		"keys":            m.Credentials,
		"with newlines":   {"access-key-id": []byte(id + "\n"), "secret-access-key": []byte(key + "\n")},
		"a file":          {"credentials": []byte(file)},
		"files":           {"credentials": []byte(file), "config": []byte("[default]\nregion = us-east-1\n")},
		"as OSS has them": {"accessKeyID": []byte(id), "accessKeySecret": []byte(key)},
	} {
		if err := write(open(t, below(m.Target, "credentials"), c), "object", strings.NewReader(title)); err != nil {
			t.Errorf("%s: %v", title, err)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("credentials were left in files: %v, %v", left, err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", id)
	t.Setenv("AWS_SECRET_ACCESS_KEY", key)
	if err := write(open(t, below(m.Target, "credentials"), nil), "object", strings.NewReader("x")); err != nil {
		t.Errorf("the pod's own identity: %v", err)
	}
}

// testS3Abort ends uploads of several parts without a commit.
func testS3Abort(t *testing.T, m *storetest.MinIO) {
	b := open(t, below(m.Target, "abort"), m.Credentials)
	for title, end := range map[string]func(*blobstore.Writer, context.CancelFunc) error{
		"abort":  func(w *blobstore.Writer, _ context.CancelFunc) error { w.Abort(); return nil },
		"cancel": func(w *blobstore.Writer, cancel context.CancelFunc) error { cancel(); w.Abort(); return nil },
		"commit after cancel": func(w *blobstore.Writer, cancel context.CancelFunc) error {
			cancel()
			if w.Commit() == nil {
				return errors.New("committed")
			}
			return nil
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		w, err := b.Create(ctx, "object")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, 80<<20)); err != nil {
			t.Fatal(err)
		}
		if m.Uploads(t, "abort/") == 0 {
			t.Errorf("%s: there is no upload to abort", title)
		}
		if err := end(w, cancel); err != nil {
			t.Errorf("%s: %v", title, err)
		}
		cancel()
		if left, parts := list(t, b), m.Uploads(t, "abort/"); len(left) > 0 || parts > 0 {
			t.Errorf("%s: left objects %v and %d uploads", title, left, parts)
		}
	}
}

// testS3CutOff has the network end in the middle of an upload.
func testS3CutOff(t *testing.T, m *storetest.MinIO) {
	cut := newCutter(t, strings.TrimPrefix(m.Target.Endpoint, "https://"), 40<<20)
	target := below(m.Target, "cut")
	target.Endpoint = "https://" + cut.Addr().String()
	err := write(open(t, target, m.Credentials), "object", io.LimitReader(zeros{}, 120<<20))
	if reasonOf(err) != v1beta2.ReasonStorageUnreachable {
		t.Errorf("got %v", err)
	}
	if left := list(t, open(t, below(m.Target, "cut"), m.Credentials)); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// testS3Refusals asks for what cannot be, in ways that a Secret and a spec can be wrong.
func testS3Refusals(t *testing.T, m *storetest.MinIO) {
	reader := m.User(t, "reader", "s3:GetObject", "s3:ListBucket", "s3:GetBucketLocation")
	stranger := m.User(t, "stranger", "s3:GetBucketLocation")
	wrongKey := blobstore.Credentials{"access-key-id": m.Credentials["access-key-id"], "secret-access-key": []byte("wrong-secret-key-0815")}
	nobody := blobstore.Credentials{"access-key-id": []byte("nobody-known-here"), "secret-access-key": []byte("wrong-secret-key-0815")}
	bucket, untrusted, closed := m.Target, m.Target, m.Target
	bucket.URL, untrusted.CA = "s3://another", nil
	closed.Endpoint = "https://127.0.0.1:1"
	for title, c := range map[string]struct {
		target      blobstore.Target
		credentials blobstore.Credentials
		write, list string
	}{
		"a wrong key":            {m.Target, wrongKey, v1beta2.ReasonStorageCredentialsRefused, v1beta2.ReasonStorageCredentialsRefused},
		"nobody":                 {m.Target, nobody, v1beta2.ReasonStorageCredentialsRefused, v1beta2.ReasonStorageCredentialsRefused},
		"reading only":           {m.Target, reader, v1beta2.ReasonStorageReadOnly, ""},
		"nothing":                {m.Target, stranger, v1beta2.ReasonStorageReadOnly, v1beta2.ReasonStorageAccessDenied},
		"another bucket":         {bucket, m.Credentials, v1beta2.ReasonNoSuchBucket, v1beta2.ReasonNoSuchBucket},
		"an authority not given": {untrusted, m.Credentials, v1beta2.ReasonStorageNotTrusted, v1beta2.ReasonStorageNotTrusted},
		"nobody listens":         {closed, m.Credentials, v1beta2.ReasonStorageUnreachable, v1beta2.ReasonStorageUnreachable},
	} {
		b := open(t, c.target, c.credentials)
		listed := listing(b)
		writing := write(b, "object", strings.NewReader("x"))
		if reasonOf(writing) != c.write || reasonOf(listed) != c.list {
			t.Errorf("%s: got %v and %v", title, writing, listed)
		}
		for _, err := range []error{writing, listed} {
			if err != nil && strings.Contains(fmt.Sprintf("%+v", err), string(c.credentials["secret-access-key"])) {
				t.Errorf("%s: the key is in %v", title, err)
			}
		}
	}
	testS3Slow(t, m)
	lift := m.Quota(t, "1KiB")
	defer lift()
	if err := write(open(t, m.Target, m.Credentials), "object", io.LimitReader(zeros{}, 1<<20)); reasonOf(err) != v1beta2.ReasonStorageFull {
		t.Errorf("full: got %v", err)
	}
}

// testS3Slow asks a server that never answers.
func testS3Slow(t *testing.T, m *storetest.MinIO) {
	t.Helper()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	target := m.Target
	target.Endpoint = silent.URL
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	for _, err := range open(t, target, m.Credentials).List(ctx, "") {
		if reasonOf(err) != v1beta2.ReasonStorageUnreachable {
			t.Errorf("slow: got %v", err)
		}
	}
}

// listing is the first error of a listing.
func listing(b *blobstore.Bucket) error {
	for _, err := range b.List(context.Background(), "") {
		return err
	}
	return nil
}

func reasonOf(err error) string {
	var e *failure.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
