package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// operation is how long one call to etcd may take.
const operation = 5 * time.Second

// connect returns a client of the cluster, which reaches it as all do: through what its status says. The caller closes it.
func connect(ctx context.Context, c *harness.Cluster) (*clientv3.Client, error) {
	object, err := c.Get(ctx)
	if err != nil {
		return nil, err
	}
	if len(object.Status.Endpoints) == 0 {
		return nil, errors.New("status.endpoints is empty")
	}
	return clientv3.New(clientv3.Config{
		Endpoints: object.Status.Endpoints, DialTimeout: operation, Logger: zap.NewNop(), // errors are returned
	})
}

// ask calls etcd until it has answered, for at most the time of a step.
func ask(ctx context.Context, c *harness.Cluster, question func(context.Context, *clientv3.Client) error) error {
	etcd, err := connect(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = etcd.Close() }()
	return harness.Await(ctx, "etcd answers", limit, func(ctx context.Context) (string, bool) {
		one, cancel := context.WithTimeout(ctx, operation)
		defer cancel()
		err := question(one, etcd)
		return fmt.Sprint(err), err == nil
	})
}

// puts writes so many keys below a prefix.
func (t *trial) puts(ctx context.Context, c *harness.Cluster, prefix string, n int) error {
	err := ask(ctx, c, func(ctx context.Context, etcd *clientv3.Client) error {
		for i := range n {
			if _, err := etcd.Put(ctx, fmt.Sprintf("%s/%03d", prefix, i), prefix); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		t.note("%d keys written below %s/", n, prefix)
	}
	return err
}

// has checks that there are so many keys below a prefix.
func (t *trial) has(ctx context.Context, c *harness.Cluster, prefix string, want int64) error {
	var found int64
	err := ask(ctx, c, func(ctx context.Context, etcd *clientv3.Client) error {
		answer, err := etcd.Get(ctx, prefix+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err == nil {
			found = answer.Count
		}
		return err
	})
	if err == nil && found != want {
		err = fmt.Errorf("there are %d keys below %s/, want %d", found, prefix, want)
	}
	if err == nil {
		t.note("%d keys found below %s/", found, prefix)
	}
	return err
}
