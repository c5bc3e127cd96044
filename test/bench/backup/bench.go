package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// quiet is how long, at least, a client is watched while no snapshot is taken.
const quiet = 5 * time.Second

// What a restore is for.
const (
	memberName = "bench"
	peerURL    = "http://127.0.0.1:2380"
	token      = "restored"
)

// bench is all that runs.
type bench struct {
	options
	dir    string
	etcd   *etcd
	minio  *minio
	pod    *pod
	report *report
}

// measure does everything for one size.
func (b *bench) measure(ctx context.Context, size int64) (err error) {
	if b.etcd == nil {
		quota := b.sizes[len(b.sizes)-1]*3/2 + gib
		b.etcd = &etcd{program: b.options.etcd, dir: filepath.Join(b.dir, "etcd"), quota: quota}
	}
	progress("filling etcd to %s", sizeName(size))
	if err := b.etcd.grow(ctx, size); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.etcd.stop()) }()
	table := b.report.add(size)
	defer table.print()
	for i := range b.runs {
		progress("%s, run %d of %d", sizeName(size), i+1, b.runs)
		if err := b.round(ctx, table); err != nil {
			return fmt.Errorf("run %d: %w", i+1, err)
		}
	}
	return b.slow(ctx, table)
}

// round does everything once, so that whatever changes in time changes for all.
func (b *bench) round(ctx context.Context, t *table) error {
	if err := b.plain(ctx, t); err != nil {
		return err
	}
	for _, place := range []struct {
		name    string
		storage v1beta2.Storage
	}{
		{"file", v1beta2.Storage{URL: "file:///backups", PersistentVolumeClaim: "bench"}},
		{"MinIO", v1beta2.Storage{
			URL: "s3://" + bucket + "/bench", Endpoint: b.minio.endpoint, ForcePathStyle: true, CredentialsSecretRef: v1beta2.SecretRef{Name: "minio"},
		}},
	} {
		for _, compress := range []bool{false, true} {
			for _, verify := range []v1beta2.Verification{v1beta2.VerifyNone, v1beta2.VerifyChecksum} {
				err := b.agent(ctx, t, place.name, place.storage, task.Backup{Compress: compress, Verify: verify})
				if err != nil {
					return fmt.Errorf("%s, compressed %v, verify %s: %w", place.name, compress, verify, err)
				}
			}
		}
	}
	return nil
}

// plain is what etcd's own tools do.
func (b *bench) plain(ctx context.Context, t *table) error {
	file, folder := filepath.Join(b.dir, "plain.db"), filepath.Join(b.dir, "plain")
	defer func() { _ = errors.Join(os.Remove(file), os.RemoveAll(folder)) }()
	tool := func(name string) string { return filepath.Join(filepath.Dir(b.options.etcd), name) }
	var saved cost
	seen, err := b.watched(ctx, func() (err error) {
		saved, err = succeed(ctx, tool("etcdctl"), "--endpoints="+b.etcd.endpoint, "snapshot", "save", file)
		return err
	})
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	t.backups.add(plainBackup, moved{saved, info.Size()})
	t.pauses.add(plainBackup, seen)
	seen, err = b.watched(ctx, func() error { return idle(ctx, max(quiet, saved.took)) })
	if err != nil {
		return err
	}
	t.pauses.add("no snapshot, for as long", seen)
	if err := freshen(); err != nil {
		return err
	}
	restored, err := succeed(ctx, tool("etcdutl"), "snapshot", "restore", file, "--data-dir="+folder,
		"--name="+memberName, "--initial-cluster="+memberName+"="+peerURL, "--initial-advertise-peer-urls="+peerURL,
		"--initial-cluster-token="+token, fmt.Sprintf("--bump-revision=%d", task.RevisionBump), "--mark-compacted")
	if err != nil {
		return err
	}
	t.restores.add(plainRestore, moved{restored, info.Size()})
	return nil
}

// agent takes a backup, restores what has not been read yet, and deletes it.
func (b *bench) agent(
	ctx context.Context, t *table, place string, storage v1beta2.Storage, asked task.Backup,
) error {
	asked.Endpoints = []string{b.etcd.endpoint}
	var taken task.Result
	var spent cost
	seen, err := b.watched(ctx, func() (err error) {
		taken, spent, err = b.pod.run(ctx, task.Task{Storage: storage, Backup: &asked})
		return err
	})
	if err != nil {
		return err
	}
	name := place
	if asked.Compress {
		name += ", zstd"
	}
	if asked.Verify == v1beta2.VerifyNone {
		if err := b.restore(ctx, t, name, storage, *taken.Snapshot); err != nil {
			return err
		}
	} else {
		name += ", read back"
	}
	t.backups.add("agent to "+name, moved{spent, taken.Snapshot.SizeBytes})
	t.pauses.add("agent to "+name, seen)
	_, _, err = b.pod.run(ctx, task.Task{Storage: storage, Clean: &task.Clean{}})
	return err
}

func (b *bench) restore(
	ctx context.Context, t *table, name string, storage v1beta2.Storage, s v1beta2.SnapshotStatus,
) error {
	folder := b.pod.path(memberFolder)
	defer func() { _ = os.RemoveAll(folder) }()
	if err := freshen(); err != nil {
		return err
	}
	_, spent, err := b.pod.run(ctx, task.Task{Storage: storage, Restore: &task.Restore{
		Object: s.Name, SHA256: s.SHA256, Folder: memberFolder, EtcdVersion: s.EtcdVersion,
		Identity: task.Identity{Name: memberName, PeerURL: peerURL, Token: token},
	}})
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	t.restores.add("agent from "+name, moved{spent, s.SizeBytes})
	return nil
}

// watched works beside a client.
func (b *bench) watched(ctx context.Context, work func() error) (pause, error) {
	if err := freshen(); err != nil {
		return pause{}, err
	}
	return beside(ctx, b.etcd.Client, work)
}

// freshen leaves nothing to write to the disk, and nothing in the page cache but what processes have mapped: etcd's
// database, as it is in life.
func freshen() error {
	syscall.Sync()
	return os.WriteFile("/proc/sys/vm/drop_caches", []byte("1"), 0)
}

// succeed runs a program that must not fail.
func succeed(ctx context.Context, path string, args ...string) (cost, error) {
	c, err := spend(ctx, program{path: path, args: args})
	if err == nil && c.exit != 0 {
		err = fmt.Errorf("%s ended with %d:\n%s", path, c.exit, c.output)
	}
	return c, err
}

func idle(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
