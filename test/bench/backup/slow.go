package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

const (
	// slowRate is how many bytes a second the slow storage takes.
	slowRate = 10 << 20
	// spool is what a backup's pod has by default.
	spool = 1 << 30
	// compactEvery so many writes etcd may use the space of what was overwritten again, unless a snapshot holds it.
	compactEvery = 100
)

// grown is what a slow storage does to etcd.
type grown struct {
	pause
	took time.Duration
	// bytes is by how much etcd's file has grown.
	bytes int64
}

// slow backs up to a storage that is far slower than etcd, with a spool and without, once: it takes its time.
func (b *bench) slow(ctx context.Context, t *table) (err error) {
	l, err := throttle(ctx, strings.TrimPrefix(b.minio.endpoint, "http://"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	storage := v1beta2.Storage{
		URL: "s3://" + bucket + "/slow", Endpoint: "http://" + l.Addr().String(), ForcePathStyle: true, CredentialsSecretRef: v1beta2.SecretRef{Name: "minio"},
	}
	var took time.Duration
	for _, row := range []struct {
		name  string
		spool int64
	}{{"without a spool", 0}, {"with a spool", spool}} {
		progress("%s to %d MiB/s, %s", sizeName(t.size), slowRate>>20, row.name)
		seen, err := b.growing(ctx, func() error {
			_, spent, err := b.pod.run(ctx, task.Task{Storage: storage, Backup: &task.Backup{
				Endpoints: []string{b.etcd.endpoint}, Verify: v1beta2.VerifyNone, Spool: row.spool,
			}})
			took = spent.took
			return err
		})
		if err != nil {
			return fmt.Errorf("slow storage, %s: %w", row.name, err)
		}
		t.slow.add("agent to MinIO at 10 MiB/s, "+row.name, seen)
		if _, _, err := b.pod.run(ctx, task.Task{Storage: storage, Clean: &task.Clean{}}); err != nil {
			return err
		}
	}
	seen, err := b.growing(ctx, func() error { return idle(ctx, took) })
	t.slow.add("no snapshot, for as long", seen)
	return err
}

// growing works while a client overwrites what is in etcd. etcd's file has no free space when it begins.
func (b *bench) growing(ctx context.Context, work func() error) (grown, error) {
	e := b.etcd
	if _, err := e.Defragment(ctx, e.endpoint); err != nil {
		return grown{}, err
	}
	if err := freshen(); err != nil {
		return grown{}, err
	}
	before, err := e.Status(ctx, e.endpoint)
	if err != nil {
		return grown{}, err
	}
	begun, g := time.Now(), grown{}
	if g.pause, err = besides(ctx, e.overwrite, work); err != nil {
		return grown{}, err
	}
	g.took = time.Since(begun)
	after, err := e.Status(ctx, e.endpoint)
	if err != nil {
		return grown{}, err
	}
	g.bytes = after.DbSize - before.DbSize
	return g, nil
}

// overwrite is a write of 8,000 bytes, 0.8 MB a second, and now and then a compaction.
func (e *etcd) overwrite(ctx context.Context, n int) error {
	value := make([]byte, valueSize)
	_, _ = rand.Read(value) // it never fails
	put, err := e.Put(ctx, "pause", string(value))
	if err == nil && n%compactEvery == compactEvery-1 {
		_, err = e.Compact(ctx, put.Header.Revision)
	}
	return err
}

// throttle passes connections on, and of what goes there so many bytes a second in all.
func throttle(ctx context.Context, to string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &pace{next: time.Now()}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(ctx, from, to)
		}
	}()
	return l, nil
}

// pace is when the next byte may go.
type pace struct {
	mu   sync.Mutex
	next time.Time
}

func (p *pace) pass(ctx context.Context, from net.Conn, address string) {
	defer func() { _ = from.Close() }()
	to, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
	_, _ = io.CopyBuffer(struct{ io.Writer }{to}, io.TeeReader(from, p), make([]byte, 32<<10))
}

// Write waits as long as so many bytes take. It never fails.
func (p *pace) Write(part []byte) (int, error) {
	p.mu.Lock()
	if now := time.Now(); p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(time.Duration(len(part)) * time.Second / slowRate)
	until := p.next
	p.mu.Unlock()
	time.Sleep(time.Until(until))
	return len(part), nil
}
