package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestWriter runs the writer on an etcd that keeps what it takes, and on one that loses it.
func TestWriter(t *testing.T) {
	address := embedtest.Start(t, 1).Members[0].Address
	w := startWriter(t.Context(), dial(t, address))
	written := func(n int64) {
		t.Helper()
		other := dial(t, address)
		err := harness.Await(t.Context(), "it writes", time.Minute, func(ctx context.Context) (string, bool) {
			answer, err := other.Get(ctx, key)
			return fmt.Sprint(err), err == nil && len(answer.Kvs) == 1 && answer.Kvs[0].Version >= n
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	written(10)
	if err := w.stop(); err != nil || w.written < 10 || w.pause == 0 {
		t.Errorf("%d writes, longest pause %v, %v", w.written, w.pause, err)
	}

	other := dial(t, address)
	if _, err := other.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	w = startWriter(t.Context(), dial(t, address))
	written(10)
	if _, err := other.Put(t.Context(), key, "0"); err != nil {
		t.Fatal(err)
	}
	<-w.ended
	if err := w.stop(); err == nil || !strings.Contains(err.Error(), "etcd took the number") {
		t.Errorf("a write was lost, and the writer says %v", err)
	}
}

func dial(t *testing.T, address string) *clientv3.Client {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + address}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	return etcd
}
