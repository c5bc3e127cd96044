package snapshot

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/blobstore/storetest"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// BenchmarkList lists many backups, as each run does that looks for the latest or for what is to be deleted.
func BenchmarkList(b *testing.B) {
	const backups = 1000
	m := storetest.StartMinIO(b)
	target := m.Target
	target.URL += "/many"
	store, err := blobstore.Open(b.Context(), target, m.Credentials)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(readers)
	for i := range backups {
		group.Go(func() error {
			at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(i) * time.Hour)
			m := Manifest{
				Object: Name(int64(i), at, uid, Encoding{}), TakenAt: at, Revision: int64(i), Cluster: task.Cluster{ID: "c0ffee"},
				StoredSize: 1, Writer: task.Writer{Kind: "EtcdBackup", Namespace: "ns", Name: "nightly", UID: uid},
			}
			w, err := store.Create(ctx, m.Object)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprint(w, "x"); err != nil {
				return err
			}
			if err := w.Commit(); err != nil {
				return err
			}
			return describe(ctx, store, m)
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if l, err := List(b.Context(), store, ""); err != nil || len(l.Snapshots) != backups {
			b.Fatalf("%d backups, %v", len(l.Snapshots), err)
		}
	}
}
