package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

const (
	uid        = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
	passphrase = "correct horse battery staple"
	// library is the version of the etcd that the tests run.
	library = "3.7.3"
)

var (
	nightly = task.Writer{Kind: "EtcdBackup", Namespace: "ns", Name: "nightly", UID: uid}
	who     = task.Identity{Name: "example-0", PeerURL: "http://example-0.example.ns.svc:2380", Token: "uid-1"}
)

// pod is what tasks of a test have around them.
type pod struct {
	testing.TB
	dirs      Dirs
	storage   v1beta2.Storage
	encrypted bool
	// identity is true if the Secret has one, and recipients are those of its backups.
	identity   bool
	recipients []string
}

// newPod has storage on a volume.
func newPod(t testing.TB) *pod {
	t.Helper()
	root := t.TempDir()
	in := func(name string) string {
		path := filepath.Join(root, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return &pod{
		TB: t, storage: v1beta2.Storage{URL: "file:///backups", PersistentVolumeClaim: "nfs"},
		dirs: Dirs{Credentials: in("credentials"), CA: in("ca"), Key: in("key"), TLS: in("tls"), Login: in("login"), Store: in("store"), Scratch: in("scratch")},
	}
}

// secret writes a Secret as Kubernetes does: the files are links into a folder that it can swap.
func (p *pod) secret(folder string, keys map[string][]byte) {
	p.Helper()
	hidden := filepath.Join(folder, "..data")
	if err := os.MkdirAll(hidden, 0o700); err != nil {
		p.Fatal(err)
	}
	for key, value := range keys {
		if err := os.WriteFile(filepath.Join(hidden, key), value, 0o600); err != nil {
			p.Fatal(err)
		}
		if err := os.Symlink(filepath.Join("..data", key), filepath.Join(folder, key)); err != nil {
			p.Fatal(err)
		}
	}
}

// encrypt gives the pod a passphrase.
func (p *pod) encrypt() {
	p.Helper()
	p.secret(p.dirs.Key, map[string][]byte{task.KeyPassphrase: []byte(passphrase + "\n")})
	p.encrypted = true
}

// task completes a task.
func (p *pod) task(t task.Task) task.Task {
	t.Storage, t.Encrypted, t.Timeout = p.storage, p.encrypted, time.Minute
	if t.Identity = p.identity; t.Backup != nil {
		t.Recipients = p.recipients
	}
	if t.Writer.UID == "" {
		t.Writer = nightly
	}
	return t
}

func (p *pod) run(t task.Task) task.Result {
	p.Helper()
	return Run(p.Context(), p.task(t), p.dirs, &Tracker{})
}

// must runs a task that has to succeed silently.
func (p *pod) must(t task.Task) task.Result {
	p.Helper()
	result := p.run(t)
	if result.Failure != nil || len(result.Warnings) > 0 {
		p.Fatalf("failure %+v, warnings %v", result.Failure, result.Warnings)
	}
	return result
}

// fails runs a task that has to fail for a reason, and returns the message.
func (p *pod) fails(t task.Task, reason string, terminal bool) string {
	p.Helper()
	result := p.run(t)
	f := result.Failure
	if f == nil || f.Reason != reason || f.Terminal != terminal || result.Snapshot != nil {
		p.Fatalf("got %+v of %+v, want %s", f, result.Snapshot, reason)
	}
	return f.Message
}

// stored are the names of the files in the storage.
func (p *pod) stored() []string { return names(p, filepath.Join(p.dirs.Store, "backups")) }

func names(t testing.TB, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// object is the path of an object.
func (p *pod) object(name string) string { return filepath.Join(p.dirs.Store, "backups", name) }

// flip changes a byte in the middle of a file.
func flip(t testing.TB, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// server is a real etcd.
type server struct {
	*clientv3.Client
	endpoints []string
}

func start(t testing.TB, options ...func(*embed.Config)) *server {
	t.Helper()
	cluster := embedtest.Start(t, 1, options...)
	s := &server{endpoints: []string{"http://" + cluster.Members[0].Address}}
	s.connect(t)
	return s
}

func (s *server) connect(t testing.TB) {
	t.Helper()
	var err error
	if s.Client, err = clientv3.New(clientv3.Config{Endpoints: s.endpoints, Logger: zap.NewNop()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
}

// put writes n keys and returns the revision.
func (s *server) put(t testing.TB, n int) int64 {
	t.Helper()
	var revision int64
	for i := range n {
		answer, err := s.Put(t.Context(), fmt.Sprintf("key-%04d", i), fmt.Sprintf("value %d", i))
		if err != nil {
			t.Fatal(err)
		}
		revision = answer.Header.Revision
	}
	return revision
}

// backup is a task.
func (s *server) backup(change func(*task.Backup)) task.Task {
	b := &task.Backup{Endpoints: s.endpoints, Cluster: task.Cluster{Namespace: "ns", Name: "example"}, Compress: true}
	change(b)
	return task.Task{Backup: b}
}

func plain(*task.Backup) {}

// save writes a backup that was taken at a time, of no real etcd, without the agent. The cluster is called as the writer is.
func (p *pod) save(w task.Writer, at time.Time, revision int64) snapshot.Manifest {
	p.Helper()
	b, err := blobstore.Open(p.Context(), blobstore.Target{URL: p.storage.URL, Root: p.dirs.Store}, nil)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	data := make([]byte, 1024)
	sum := sha256.Sum256(data)
	m, err := snapshot.Save(p.Context(), b, func(context.Context) (*snapshot.Stream, error) {
		return &snapshot.Stream{
			Body: io.NopCloser(bytes.NewReader(append(data, sum[:]...))), TakenAt: at, Revision: revision, ClusterID: "c0ffee",
			EtcdVersion: library, StorageVersion: "3.7.0",
		}, nil
	}, snapshot.Job{
		Name:   func(s *snapshot.Stream) string { return snapshot.Name(revision, at, w.UID, snapshot.Encoding{}) },
		Writer: w, Cluster: task.Cluster{Namespace: w.Namespace, Name: w.Name},
	})
	if err != nil {
		p.Fatal(err)
	}
	return m
}

// written is a backup of no real etcd, as its manifest tells.
func (p *pod) written(w task.Writer, c task.Cluster, at time.Time, revision int64, stale bool) snapshot.Manifest {
	p.Helper()
	m := p.save(w, at, revision)
	m.Cluster, m.Stale = c, stale
	p.describe(m)
	return m
}

// describe writes a manifest over the one that is there.
func (p *pod) describe(m snapshot.Manifest) {
	p.Helper()
	path := p.object(m.Object) + ".manifest.json"
	var envelope struct {
		Format   string          `json:"format"`
		SHA256   string          `json:"sha256"`
		Manifest json.RawMessage `json:"manifest"`
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &envelope)
	}
	if err == nil {
		envelope.Manifest, err = json.Marshal(m)
	}
	sum := sha256.Sum256(envelope.Manifest)
	envelope.SHA256 = hex.EncodeToString(sum[:])
	if err == nil {
		data, err = json.Marshal(envelope)
	}
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		p.Fatal(err)
	}
}
