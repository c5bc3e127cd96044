package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// writer writes ever higher numbers to one key until it is stopped, and reads each of them back. Each replaces
// exactly the one that was read before: a write that timed out may be carried out much later.
type writer struct {
	etcd   *clientv3.Client
	cancel context.CancelFunc
	ended  chan struct{}
	err    error
	// tried is the last number that was sent, taken the last one that etcd has taken, as revision; written is how many were.
	tried, taken, revision, written int64
	// pause is the longest time between two writes that etcd took.
	pause time.Duration
}

// startWriter starts one on a connection, which ends with it.
func startWriter(ctx context.Context, etcd *clientv3.Client) *writer {
	ctx, cancel := context.WithCancel(ctx)
	w := &writer{etcd: etcd, cancel: cancel, ended: make(chan struct{})}
	go w.work(ctx)
	return w
}

// work ends with the context, or with the first write that etcd has taken and does not have.
func (w *writer) work(ctx context.Context) {
	defer close(w.ended)
	const interval = 20 * time.Millisecond
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	last := time.Now()
	for ctx.Err() == nil && w.err == nil {
		if w.write(ctx) {
			w.pause, last = max(w.pause, time.Since(last)), time.Now()
		}
		w.read(ctx)
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	w.pause = max(w.pause, time.Since(last))
}

// key is the writer's own.
const key = "scorecard"

// write writes the next number and reports whether etcd has taken it.
func (w *writer) write(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, operation)
	defer cancel()
	w.tried++
	answer, err := w.etcd.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", w.revision)).
		Then(clientv3.OpPut(key, strconv.FormatInt(w.tried, 10))).Commit()
	if err != nil || !answer.Succeeded {
		return false
	}
	w.taken, w.revision, w.written = w.tried, answer.Header.Revision, w.written+1
	return true
}

// read looks whether the last number that etcd has taken is there, or one that was tried after it.
func (w *writer) read(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, operation)
	defer cancel()
	answer, err := w.etcd.Get(ctx, key)
	if err != nil {
		return
	}
	found := int64(0)
	if len(answer.Kvs) == 1 {
		w.revision = answer.Kvs[0].ModRevision
		found, err = strconv.ParseInt(string(answer.Kvs[0].Value), 10, 64)
	}
	if err != nil || found < w.taken {
		w.err = fmt.Errorf("etcd took the number %d and has %v", w.taken, answer.Kvs)
	}
}

// stop ends the writer and returns what it found wrong.
func (w *writer) stop() error {
	w.cancel()
	<-w.ended
	if w.err == nil && w.written == 0 {
		w.err = errors.New("nothing could be written")
	}
	return errors.Join(w.err, w.etcd.Close())
}
