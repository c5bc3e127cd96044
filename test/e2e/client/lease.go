package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// pause is how long it takes until another lease is asked for.
const pause = time.Second

// holdLeases keeps a lease alive as an application does that tells others by it that it is there. One that is lost is counted, and replaced.
func (r *recorder) holdLeases(ctx context.Context, to target, lives time.Duration) {
	link, err := newLink(to)
	if err != nil {
		log.Print(err)
		return
	}
	defer link.close()
	for ctx.Err() == nil {
		held, err := holdLease(ctx, link, lives)
		if ctx.Err() != nil {
			return
		}
		log.Printf("the lease has ended: %v", err)
		if held {
			r.lostLease()
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// holdLease takes a lease, and returns once it is lost: etcd says so, or has not renewed it for as long as it lives. held is false if there was none.
func holdLease(ctx context.Context, link *link, lives time.Duration) (held bool, err error) {
	client := link.current()
	granted, err := client.Grant(ctx, int64(lives.Seconds()))
	if err != nil {
		return false, fmt.Errorf("be granted a lease: %w", err)
	}
	if link.health {
		return true, renew(ctx, client, granted.ID, lives)
	}
	renewals, err := client.KeepAlive(ctx, granted.ID)
	if err != nil {
		return false, fmt.Errorf("keep the lease alive: %w", err)
	}
	for range renewals { // until it is lost
	}
	return true, nil
}

// renew renews a lease by a request for each time, which goes to a member that serves. KeepAlive has one stream, which stays where it is.
func renew(ctx context.Context, client *clientv3.Client, lease clientv3.LeaseID, lives time.Duration) error {
	const tries = 6
	ticker := time.NewTicker(lives / tries)
	defer ticker.Stop()
	for last := time.Now(); ; <-ticker.C {
		err := try(ctx, lives/tries, func(ctx context.Context) error {
			_, err := client.KeepAliveOnce(ctx, lease)
			return err
		})
		switch {
		case err == nil:
			last = time.Now()
		case ctx.Err() != nil, errors.Is(err, rpctypes.ErrLeaseNotFound), time.Since(last) > lives:
			return err
		}
	}
}
