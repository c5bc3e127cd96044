package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"filippo.io/age"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

const uid = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"

// bucket is a folder on the disk.
func bucket(t testing.TB) (*blobstore.Bucket, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backups")
	b, err := blobstore.Open(t.Context(), blobstore.Target{URL: "file://" + path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b, path
}

func files(t testing.TB, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func key(t testing.TB, passphrase string) *Key {
	t.Helper()
	k, err := ParsePassphrase(map[string][]byte{"passphrase": []byte(passphrase)})
	if err != nil {
		t.Fatal(err)
	}
	k.to[0].(*age.ScryptRecipient).SetWorkFactor(4) // quick, and read like any other
	return k
}

func job(e Encoding) Job {
	return Job{
		Name:     func(s *Stream) string { return Name(s.Revision, s.TakenAt, uid, e) },
		Cluster:  task.Cluster{Namespace: "ns", Name: "example", UID: "cluster-uid"},
		Writer:   task.Writer{Kind: "EtcdBackup", Namespace: "ns", Name: "nightly", UID: uid},
		Encoding: e,
	}
}

// stream is a source of anything.
func stream(body io.Reader) Source {
	return func(context.Context) (*Stream, error) {
		return &Stream{
			Body: io.NopCloser(body), TakenAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), ClusterID: "c0ffee",
			Member: Member{ID: "1", Endpoint: "http://member"}, Revision: 42, EtcdVersion: "3.7.3", StorageVersion: "3.7",
		}, nil
	}
}

// sealed is a stream of bytes with etcd's checksum at its end.
func sealed(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(bytes.Clone(data), sum[:]...)
}

func mustSave(t testing.TB, b *blobstore.Bucket, source Source, j Job) Manifest {
	t.Helper()
	m, err := Save(t.Context(), b, source, j)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return Explain(err).Reason
}

func list(t testing.TB, b *blobstore.Bucket) Listing {
	t.Helper()
	l, err := List(t.Context(), b, "")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// config leads to all members.
func config(c *embedtest.Cluster) clientv3.Config {
	config := clientv3.Config{Logger: zap.NewNop()}
	for _, m := range c.Members {
		config.Endpoints = append(config.Endpoints, "http://"+m.Address)
	}
	return config
}

func client(t testing.TB, c *embedtest.Cluster) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(config(c))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// fill writes n keys, overwrites one of them and deletes one, and returns the last revision.
func fill(t testing.TB, c *clientv3.Client, n int) int64 {
	t.Helper()
	for i := range n {
		if _, err := c.Put(t.Context(), fmt.Sprintf("key-%04d", i), fmt.Sprintf("value %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Put(t.Context(), "key-0000", "overwritten"); err != nil {
		t.Fatal(err)
	}
	gone, err := c.Delete(t.Context(), "key-0001")
	if err != nil {
		t.Fatal(err)
	}
	return gone.Header.Revision
}
