package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// options are the command line.
type options struct {
	runs, clients int
	duration      time.Duration
	// etcd is the program, and dir where its data goes.
	etcd, dir string
}

func main() {
	o := options{etcd: os.Getenv("TEST_ASSET_ETCD")}
	flag.IntVar(&o.runs, "runs", 5, "how often everything is measured")
	flag.IntVar(&o.clients, "clients", 8, "how many clients, each with a connection of its own")
	flag.DurationVar(&o.duration, "duration", 5*time.Second, "how long one measurement takes")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "where the members keep their data")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "transport:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

func run(ctx context.Context, o options) (err error) {
	if o.etcd == "" {
		return errors.New("TEST_ASSET_ETCD is not set: it is the path of etcd's program")
	}
	dir, err := os.MkdirTemp(o.dir, "bench-transport-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := &report{options: o}
	for i := range o.runs {
		for _, secure := range turn(i) {
			name := filepath.Join(dir, fmt.Sprintf("%d-%t", i, secure))
			if err := one(ctx, o, name, secure, r); err != nil {
				return err
			}
		}
	}
	r.print()
	return nil
}

// turn has each be first as often as the other.
func turn(run int) []bool { return []bool{run%2 == 1, run%2 == 0} }

// one measures a new cluster.
func one(ctx context.Context, o options, dir string, secure bool, r *report) (err error) {
	c, err := start(ctx, o.etcd, dir, secure)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	clients, err := c.clients(o.clients)
	if err != nil {
		return err
	}
	defer func() {
		for _, client := range clients {
			err = errors.Join(err, client.Close())
		}
	}()
	if err := c.await(ctx, clients); err != nil {
		return err
	}
	for _, w := range workloads(c, clients) {
		m, err := measure(ctx, c, w, o)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		r.add(w.name, secure, m)
	}
	return nil
}
