package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	keys      = 1000
	valueSize = 1024
	// warmUp is how long a workload goes on before it is measured.
	warmUp = time.Second
)

// workload is what every client does again and again.
type workload struct {
	name string
	// do is one operation, the n-th of one client.
	do func(ctx context.Context, client, n int) error
}

// measured is one run of a workload.
type measured struct {
	// perSecond are the operations of all clients, median and p99 how long one took, cpu the members' processor time for one.
	perSecond        float64
	median, p99, cpu time.Duration
}

func workloads(c *cluster, clients []*clientv3.Client) []workload {
	value := strings.Repeat("v", valueSize)
	key := func(client, n int) string { return fmt.Sprintf("key-%d-%d", client, n%keys) }
	return []workload{
		{"put", func(ctx context.Context, i, n int) error {
			_, err := clients[i].Put(ctx, key(i, n), value)
			return err
		}},
		{"range", func(ctx context.Context, i, n int) error {
			_, err := clients[i].Get(ctx, key(i, n))
			return err
		}},
		{"range of 100 keys", func(ctx context.Context, i, _ int) error {
			_, err := clients[i].Get(ctx, "key-", clientv3.WithPrefix(), clientv3.WithLimit(100))
			return err
		}},
		{"txn", func(ctx context.Context, i, n int) error {
			k := key(i, n)
			_, err := clients[i].Txn(ctx).If(clientv3.Compare(clientv3.Version(k), ">", -1)).Then(
				clientv3.OpGet(k), clientv3.OpPut(k, value)).Commit()
			return err
		}},
		{"connect and range", func(ctx context.Context, i, n int) error {
			client, err := c.client(i)
			if err != nil {
				return err
			}
			_, err = client.Get(ctx, key(i, n))
			return errors.Join(err, client.Close())
		}},
	}
}

// measure has all clients work at the same time.
func measure(ctx context.Context, c *cluster, w workload, o options) (measured, error) {
	if _, err := drive(ctx, w, o.clients, warmUp); err != nil {
		return measured{}, err
	}
	before, err := c.used()
	if err != nil {
		return measured{}, err
	}
	start := time.Now()
	took, err := drive(ctx, w, o.clients, o.duration)
	if err != nil {
		return measured{}, err
	}
	all := time.Since(start)
	after, err := c.used()
	if err != nil {
		return measured{}, err
	}
	slices.Sort(took)
	n := len(took)
	return measured{
		perSecond: float64(n) / all.Seconds(), median: took[n/2], p99: took[n*99/100], cpu: (after - before) / time.Duration(n),
	}, nil
}

// drive returns how long each operation took.
func drive(ctx context.Context, w workload, clients int, d time.Duration) ([]time.Duration, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var all []time.Duration
	var failed error
	end := time.Now().Add(d)
	for i := range clients {
		wg.Go(func() {
			var took []time.Duration
			var err error
			for n := 0; err == nil && (n == 0 || time.Now().Before(end)); n++ {
				start := time.Now()
				err = w.do(ctx, i, n)
				took = append(took, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			all, failed = append(all, took...), errors.Join(failed, err)
		})
	}
	wg.Wait()
	return all, failed
}
