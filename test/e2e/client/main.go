// Command client writes to and reads from an etcd cluster all the while it runs, and tells over HTTP how that went: a
// report in numbers, and a history of what several workers did at the same time.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

func run() error {
	endpoints := flag.String("endpoints", "", "comma-separated client URLs")
	interval := flag.Duration("interval", 20*time.Millisecond,
		"time between two rounds of a put and a get, and between two operations of the workers together")
	timeout := flag.Duration("timeout", 2*time.Second, "how long one operation may take before it counts as failed")
	folder := flag.String("tls", "", "a folder with ca.crt, tls.crt and tls.key, which are read for every connection anew, and endpoints, which take the place of the given ones")
	health := flag.Bool("health", false, "ask each endpoint by gRPC whether it serves, and talk to those that do")
	lease := flag.Duration("lease", 0, "how long a lease lives that is kept alive all the while; none if it is 0")
	listen := flag.String("listen", ":8080", "where to serve the report")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	r := newRecorder()
	go r.serve(*listen)
	to := target{endpoints: *endpoints, folder: *folder, health: *health}
	// A prefix of its own for each run of the process: what an earlier run wrote is not this one's to judge.
	prefix := fmt.Sprintf("client/%d/", time.Now().UnixNano())
	var all sync.WaitGroup
	defer all.Wait()
	for number := range workers {
		link, err := newLink(to)
		if err != nil {
			return err
		}
		w := &worker{number: number, recorder: r, link: link, prefix: prefix, timeout: *timeout}
		all.Go(func() { w.work(ctx, *interval*workers) })
	}
	if *lease > 0 {
		all.Go(func() { r.holdLeases(ctx, to, *lease) })
	}
	link, err := newLink(to)
	if err != nil {
		return err
	}
	r.work(ctx, link, prefix+"writer", *interval, *timeout)
	link.close()
	return nil
}

func try(ctx context.Context, timeout time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return do(ctx)
}
