package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdpilot/etcd-operator/test/e2e/history"
)

// workers at a few registers, so that they meet.
const (
	workers   = 6
	registers = 3
)

// worker does random operations, one at a time. It has a connection of its own: what is written through one member is
// to be read through another.
type worker struct {
	number   int
	recorder *recorder
	link     *link
	prefix   string
	timeout  time.Duration
	// known is what each register held when this worker last saw it.
	known [registers]int64
}

func (w *worker) work(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			w.link.close()
			return
		case <-ticker.C:
			w.recorder.worked(w.one(ctx))
		}
	}
}

// one does one operation and records it.
func (w *worker) one(ctx context.Context) error {
	do, register, choice := w.get, rand.IntN(registers), rand.IntN(3) //nolint:gosec // nobody has to be surprised
	o := history.Operation{Worker: w.number, Register: register, Call: w.recorder.now()}
	switch choice {
	case 0:
		o.Kind, o.Value, do = history.Put, w.recorder.value(), w.put
	case 1:
		o.Kind, o.Value, o.Old, do = history.Swap, w.recorder.value(), w.known[o.Register], w.swap
	default:
		o.Kind = history.Get
	}
	place := w.recorder.history.Begin(o)
	err := try(ctx, w.timeout, func(ctx context.Context) error { return do(ctx, &o) })
	if err != nil {
		return err // whether it took effect stays unknown
	}
	o.Return = w.recorder.now()
	w.recorder.history.End(place, o)
	w.known[o.Register] = o.Seen
	if o.Kind == history.Put || o.Swapped {
		w.known[o.Register] = o.Value
	}
	return nil
}

func (w *worker) key(o *history.Operation) string { return w.prefix + strconv.Itoa(o.Register) }

func (w *worker) put(ctx context.Context, o *history.Operation) error {
	_, err := w.link.current().Put(ctx, w.key(o), strconv.FormatInt(o.Value, 10))
	return err
}

func (w *worker) get(ctx context.Context, o *history.Operation) error {
	answer, err := w.link.current().Get(ctx, w.key(o))
	if err != nil {
		return err
	}
	o.Seen, err = valueOf(answer.Kvs)
	return err
}

func (w *worker) swap(ctx context.Context, o *history.Operation) error {
	as := clientv3.Compare(clientv3.Value(w.key(o)), "=", strconv.FormatInt(o.Old, 10))
	if o.Old == 0 {
		as = clientv3.Compare(clientv3.CreateRevision(w.key(o)), "=", 0)
	}
	answer, err := w.link.current().Txn(ctx).If(as).
		Then(clientv3.OpPut(w.key(o), strconv.FormatInt(o.Value, 10))).
		Else(clientv3.OpGet(w.key(o))).Commit()
	if err != nil {
		return err
	}
	if o.Swapped = answer.Succeeded; o.Swapped {
		return nil
	}
	o.Seen, err = valueOf(answer.Responses[0].GetResponseRange().Kvs)
	return err
}

func valueOf(kvs []*mvccpb.KeyValue) (int64, error) {
	if len(kvs) == 0 {
		return 0, nil
	}
	value, err := strconv.ParseInt(string(kvs[0].Value), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read a register: %w", err)
	}
	return value, nil
}
