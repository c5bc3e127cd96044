package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/storage/schema"

	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
)

// TestUndecidedVersion restores a snapshot of a cluster's first seconds, in which its leader has not heard of every member what
// that runs: it says nothing of a version, and etcd starts from it.
func TestUndecidedVersion(t *testing.T) {
	cluster := embedtest.Start(t, 1)
	revision := fill(t, client(t, cluster), 50)
	_, _, file := backUp(t, cluster)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	early := filepath.Join(t.TempDir(), "early.db")
	if err := os.WriteFile(early, text[:len(text)-len(text)%512], 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(early, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		return errors.Join(
			tx.Bucket(schema.Cluster.Name()).Put(schema.ClusterClusterVersionKeyName, []byte(version.MinClusterVersion)),
			tx.Bucket(schema.Meta.Name()).Delete(schema.MetaStorageVersionName),
		)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(early); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(early, sealed(text), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	before, _, err := Restore(early, data, "3.7.3", who, 0)
	if err != nil || before.Version != "" {
		t.Fatalf("restored data of %q, %v", before.Version, err)
	}
	testRestoredKeys(t, client(t, start(t, data)), revision)
}
