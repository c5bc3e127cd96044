package main

import (
	"context"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// interval is how often the client writes.
const interval = 10 * time.Millisecond

// pause is what a client sees that writes all the time.
type pause struct {
	// longest is the longest time between two writes that succeeded, and median that of how long a write took.
	longest, median time.Duration
}

// beside works, and lets a client write a little meanwhile.
func beside(ctx context.Context, c *clientv3.Client, work func() error) (pause, error) {
	return besides(ctx, func(ctx context.Context, _ int) error {
		_, err := c.Put(ctx, "pause", time.Now().String())
		return err
	}, work)
}

// besides works, and puts meanwhile. Puts are counted from 0.
func besides(ctx context.Context, put func(context.Context, int) error, work func() error) (pause, error) {
	stop, done := make(chan struct{}), make(chan error, 1)
	var p pause
	go func() {
		var err error
		p, err = write(ctx, put, stop)
		done <- err
	}()
	err := work()
	close(stop)
	if failed := <-done; err == nil {
		err = failed
	}
	return p, err
}

// write writes until it is told to stop. A write under way then counts.
func write(ctx context.Context, put func(context.Context, int) error, stop <-chan struct{}) (pause, error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var p pause
	var took []time.Duration
	last := time.Now()
	for {
		select {
		case <-stop:
			if len(took) > 0 {
				slices.Sort(took)
				p.median = took[len(took)/2]
			}
			return p, nil
		case <-ticker.C:
		}
		begun := time.Now()
		if err := put(ctx, len(took)); err != nil {
			return p, err
		}
		now := time.Now()
		took = append(took, now.Sub(begun))
		p.longest, last = max(p.longest, now.Sub(last)), now
	}
}
