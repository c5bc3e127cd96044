// Command client writes to and reads from an etcd cluster all the while it runs, and tells over HTTP how that went.
package main

import (
	"context"
	"encoding/json"
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

// Report is what happened since the last reset.
type Report struct {
	// Operations and Failures count puts and gets; a failure is one that did not succeed within its time-out.
	Operations int64 `json:"operations"`
	Failures   int64 `json:"failures"`
	// Lost counts reads that did not return the last acknowledged write.
	Lost int64 `json:"lost"`
	// LongestGap is the longest time between two successful writes, in milliseconds.
	LongestGap int64 `json:"longestGapMilliseconds"`
	// LastError is the last failure, empty if there was none.
	LastError string `json:"lastError,omitempty"`
}

type recorder struct {
	mu     sync.Mutex
	report Report
	last   time.Time
}

func main() {
	if err := run(); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

func run() error {
	endpoints := flag.String("endpoints", "", "comma-separated client URLs")
	interval := flag.Duration("interval", 20*time.Millisecond, "time between two rounds of a put and a get")
	timeout := flag.Duration("timeout", 2*time.Second, "how long one operation may take before it counts as failed")
	listen := flag.String("listen", ":8080", "where to serve the report")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            strings.Split(*endpoints, ","),
		DialKeepAliveTime:    2 * time.Second,
		DialKeepAliveTimeout: 2 * time.Second,
	})
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	r := &recorder{}
	server := &http.Server{Addr: *listen, Handler: r, ReadHeaderTimeout: time.Second}
	go func() {
		if err := server.ListenAndServe(); err != nil {
			log.Printf("serve: %v", err)
		}
	}()
	r.work(ctx, client, *interval, *timeout)
	return client.Close()
}

// ServeHTTP answers GET /report, and POST /reset with the report up to then.
func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(r.report); err != nil {
		log.Printf("answer: %v", err)
	}
	if req.URL.Path == "/reset" {
		r.report = Report{}
	}
}

func (r *recorder) work(ctx context.Context, client *clientv3.Client, interval, timeout time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	// A key of its own for each run of the process: what an earlier run wrote is not this one's to judge.
	key := fmt.Sprintf("client/%d", time.Now().UnixNano())
	var acknowledged int64
	for n := int64(1); ctx.Err() == nil; n++ {
		<-ticker.C
		err := try(ctx, timeout, func(ctx context.Context) error {
			_, err := client.Put(ctx, key, fmt.Sprint(n))
			return err
		})
		if r.wrote(err); err == nil {
			acknowledged = n
		}
		var read int64
		err = try(ctx, timeout, func(ctx context.Context) error {
			answer, err := client.Get(ctx, key)
			if err == nil && len(answer.Kvs) == 1 {
				_, err = fmt.Sscan(string(answer.Kvs[0].Value), &read)
			}
			return err
		})
		r.read(err, err == nil && read < acknowledged)
	}
}

func try(ctx context.Context, timeout time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return do(ctx)
}

func (r *recorder) wrote(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(err)
	if err != nil {
		return
	}
	now := time.Now()
	if !r.last.IsZero() {
		r.report.LongestGap = max(r.report.LongestGap, now.Sub(r.last).Milliseconds())
	}
	r.last = now
}

func (r *recorder) read(err error, lost bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(err)
	if lost {
		r.report.Lost++
	}
}

func (r *recorder) count(err error) {
	r.report.Operations++
	if err != nil {
		r.report.Failures++
		r.report.LastError = err.Error()
		log.Print(err)
	}
}
