package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

// Two values with their keys fill four pages of the database, which leaves hardly any of it empty.
const (
	valueSize = 8000
	keyPages  = 8192
	// batch is how many keys a transaction writes: less than etcd's limits of 128, and of 1.5 MiB for a request.
	batch   = 64
	writers = 4
)

// etcd is a cluster of one member.
type etcd struct {
	program, dir string
	quota        int64
	keys         int64

	*server
	*clientv3.Client
	endpoint string
}

// start starts it with its data of before, if there is any.
func (e *etcd) start(ctx context.Context, args ...string) error {
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	peer, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	e.endpoint = "http://" + address
	e.server, err = startServer(filepath.Join(e.dir, "log"), nil, e.program, append([]string{
		"--name=bench", "--data-dir=" + filepath.Join(e.dir, "data"), "--log-level=warn",
		"--listen-client-urls=" + e.endpoint, "--advertise-client-urls=" + e.endpoint,
		"--listen-peer-urls=http://" + peer, "--initial-advertise-peer-urls=http://" + peer,
		"--initial-cluster=bench=http://" + peer, fmt.Sprintf("--quota-backend-bytes=%d", e.quota),
	}, args...)...)
	if err != nil {
		return err
	}
	e.Client, err = clientv3.New(clientv3.Config{Endpoints: []string{e.endpoint}, Logger: zap.NewNop()})
	if err != nil {
		return errors.Join(err, e.server.stop())
	}
	if err := e.await(ctx, func(ctx context.Context) error { _, err := e.Get(ctx, "any"); return err }); err != nil {
		return errors.Join(err, e.stop())
	}
	return nil
}

func (e *etcd) stop() error { return errors.Join(e.Close(), e.server.stop()) }

// grow fills it to a size, in bytes, and starts it anew: as it is filled, it must not keep in memory what it was sent.
func (e *etcd) grow(ctx context.Context, size int64) error {
	if err := e.start(ctx, "--snapshot-count=50", "--snapshot-catchup-entries=50"); err != nil {
		return err
	}
	if err := errors.Join(e.fill(ctx, size/keyPages), e.stop()); err != nil {
		return fmt.Errorf("fill etcd: %w", err)
	}
	return e.start(ctx)
}

// fill writes until there are so many keys.
func (e *etcd) fill(ctx context.Context, keys int64) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for ; e.keys < keys; e.keys += batch {
		first := e.keys
		group.Go(func() error { return e.put(ctx, first) })
	}
	return group.Wait()
}

// put writes a batch of values that do not compress.
func (e *etcd) put(ctx context.Context, first int64) error {
	value := make([]byte, valueSize)
	var puts []clientv3.Op
	for i := range int64(batch) {
		_, _ = rand.Read(value) // it never fails
		puts = append(puts, clientv3.OpPut(fmt.Sprintf("bench/%010d", first+i), string(value)))
	}
	_, err := e.Txn(ctx).Then(puts...).Commit()
	return err
}
