// Command client writes to and reads from an etcd cluster all the while it runs, and tells over HTTP how that went: a
// report in numbers, and a history of what several workers did at the same time.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
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
	listen := flag.String("listen", ":8080", "where to serve the report")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	r := newRecorder()
	server := &http.Server{Addr: *listen, Handler: r.handler(), ReadHeaderTimeout: time.Second}
	go func() {
		if err := server.ListenAndServe(); err != nil {
			log.Printf("serve: %v", err)
		}
	}()
	// A prefix of its own for each run of the process: what an earlier run wrote is not this one's to judge.
	prefix := fmt.Sprintf("client/%d/", time.Now().UnixNano())
	var all sync.WaitGroup
	defer all.Wait()
	for number := range workers {
		link, err := newLink(*endpoints, *folder)
		if err != nil {
			return err
		}
		w := &worker{number: number, recorder: r, link: link, prefix: prefix, timeout: *timeout}
		all.Go(func() { w.work(ctx, *interval*workers) })
	}
	link, err := newLink(*endpoints, *folder)
	if err != nil {
		return err
	}
	r.work(ctx, link, prefix+"writer", *interval, *timeout)
	link.close()
	return nil
}

// A connection that leads to a member whose process is frozen is given up after both together. gRPC pings no more often
// than every 10 s, whatever it is told (google.golang.org/grpc/internal.KeepaliveMinPingTime).
const (
	keepAliveTime    = 10 * time.Second
	keepAliveTimeout = 2 * time.Second
)

// connect makes a connection of its own, which the Service may lead to any member.
func connect(endpoints, folder string) (*clientv3.Client, error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            strings.Split(endpoints, ","),
		TLS:                  configOf(folder),
		DialKeepAliveTime:    keepAliveTime,
		DialKeepAliveTimeout: keepAliveTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return client, nil
}

func try(ctx context.Context, timeout time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return do(ctx)
}
