package snapshot

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/blobstore/storetest"
	"github.com/etcdpilot/etcd-operator/internal/task"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// runEtcd runs the etcd of TEST_ASSET_ETCD, which is of another minor version than this package's library, on a data
// folder until the test ends, or stop is called.
func runEtcd(t *testing.T, data string) (config clientv3.Config, stop func()) {
	t.Helper()
	program := os.Getenv("TEST_ASSET_ETCD")
	if program == "" {
		t.Fatal("TEST_ASSET_ETCD is not set: run this with `make test-unit`")
	}
	url, peer := "http://"+storetest.FreeAddress(t), "http://"+storetest.FreeAddress(t)
	//nolint:noctx // it ends with the test, whose context ends too early
	server := exec.Command(program, "--name=example-0", "--data-dir="+data, "--listen-client-urls="+url,
		"--advertise-client-urls="+url, "--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer,
		"--initial-cluster=example-0="+peer, "--unsafe-no-fsync", "--log-level=error")
	server.Stderr = t.Output()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}
	t.Cleanup(stop)
	config = clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop()}
	c, err := clientv3.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.Get(ctx, "anything"); err != nil {
		t.Fatalf("etcd does not answer: %v", err)
	}
	return config, stop
}

// TestOtherVersion backs an etcd up and restores it for the same version, which is not the library's.
func TestOtherVersion(t *testing.T) {
	first, stop := runEtcd(t, filepath.Join(t.TempDir(), "data"))
	c, err := clientv3.New(first)
	if err != nil {
		t.Fatal(err)
	}
	revision := fill(t, c, 50)
	_ = c.Close()
	b, _ := bucket(t)
	m := mustSave(t, b, FromEtcd(first, 0), job(Encoding{Compress: true}))
	stop()
	if strings.HasPrefix(m.EtcdVersion, "3.7.") {
		t.Errorf("it is etcd %s, and another minor version was to be tried", m.EtcdVersion)
	}
	content, err := VerifyRestore(t.Context(), b, m, nil, t.TempDir(), nil)
	if err != nil || content.Version != version.Minor(m.EtcdVersion) || content.Keys != 49 {
		t.Errorf("verified %+v, %v", content, err)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "snapshot.db")
	if _, err := FetchFile(t.Context(), b, m.Object, &m, nil, file, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Restore(file, filepath.Join(folder, "older"), "3.4.45", who, 0); reason(err) != v1beta2.ReasonSnapshotVersion {
		t.Errorf("for an older version: got %v", err)
	}
	data := filepath.Join(folder, "data")
	if _, _, err := Restore(file, data, m.EtcdVersion, who, 0); err != nil {
		t.Fatal(err)
	}
	second, _ := runEtcd(t, data)
	restored, err := clientv3.New(second)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = restored.Close() }()
	testRestoredKeys(t, restored, revision)
	again := mustSave(t, b, FromEtcd(second, 0), job(Encoding{}))
	if again.Revision < revision+task.RevisionBump || again.Keys != 49 {
		t.Errorf("backed up again: %+v", again)
	}
	t.Logf("etcd %s, data of %s", m.EtcdVersion, content.Version)
}
