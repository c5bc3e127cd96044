package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"net/http"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdpilot/etcd-operator/test/e2e/history"
)

// Report is what happened since the last reset.
type Report struct {
	// Operations and Failures count what the writer and the workers did; a failure is an operation that did not succeed
	// within its timeout.
	Operations int64 `json:"operations"`
	Failures   int64 `json:"failures"`
	// Lost counts the writer's reads that did not return its last acknowledged write.
	Lost int64 `json:"lost"`
	// LongestGap is the longest time between two successful writes of the writer, in milliseconds: what an application
	// with one connection sees.
	LongestGap int64 `json:"longestGapMilliseconds"`
	// LeasesLost counts the leases that were not kept alive.
	LeasesLost int64 `json:"leasesLost"`
	// Errors counts the failures by their text. From the maxErrors-th text on they are counted together, as otherErrors.
	Errors map[string]int64 `json:"errors,omitempty"`
}

const (
	maxErrors   = 16
	otherErrors = "others"
)

// maxOperations bounds the history: more than an hour, in some 30 MB.
const maxOperations = 200_000

type recorder struct {
	mu      sync.Mutex
	report  Report
	last    time.Time
	start   time.Time
	history *history.Recorder
	values  int64
}

func newRecorder() *recorder {
	return &recorder{start: time.Now(), history: history.NewRecorder(maxOperations)}
}

// serve serves what is recorded as long as the process lives.
func (r *recorder) serve(address string) {
	server := &http.Server{Addr: address, Handler: r.handler(), ReadHeaderTimeout: time.Second}
	if err := server.ListenAndServe(); err != nil {
		log.Printf("serve: %v", err)
	}
}

// handler answers GET /report, POST /reset with the report up to then, and GET /history with the workers' history. That
// one goes on over a reset, because what was written before is read after.
func (r *recorder) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/report", func(w http.ResponseWriter, _ *http.Request) { answer(w, r.current(false)) })
	mux.HandleFunc("/reset", func(w http.ResponseWriter, _ *http.Request) { answer(w, r.current(true)) })
	mux.HandleFunc("/history", func(w http.ResponseWriter, _ *http.Request) { answer(w, r.history.History()) })
	return mux
}

func answer(w http.ResponseWriter, content any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(content); err != nil {
		log.Printf("answer: %v", err)
	}
}

func (r *recorder) current(reset bool) Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	report := r.report
	report.Errors = maps.Clone(r.report.Errors) // the answer is encoded without the lock
	if !r.last.IsZero() {
		// A gap that has not ended is one too.
		report.LongestGap = max(report.LongestGap, time.Since(r.last).Milliseconds())
	}
	if reset {
		r.report = Report{}
	}
	return report
}

// work writes ever higher numbers to one key, and reads each of them back.
//
// Each replaces exactly the one that was read before. A write that timed out may be carried out much later, when
// a frozen member goes on or a cut network delivers what it still has: it must not replace a later one.
func (r *recorder) work(ctx context.Context, link *link, key string, interval, timeout time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var acknowledged, revision int64
	for n := int64(1); ctx.Err() == nil; n++ {
		<-ticker.C
		written := false
		err := try(ctx, timeout, func(ctx context.Context) error {
			answer, err := link.current().Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", revision)).
				Then(clientv3.OpPut(key, fmt.Sprint(n))).Commit()
			if written = err == nil && answer.Succeeded; written {
				revision = answer.Header.Revision
			}
			return err
		})
		if r.wrote(err, written); written {
			acknowledged = n
		}
		var read int64
		err = try(ctx, timeout, func(ctx context.Context) error {
			answer, err := link.current().Get(ctx, key)
			if err == nil && len(answer.Kvs) == 1 {
				revision = answer.Kvs[0].ModRevision
				_, err = fmt.Sscan(string(answer.Kvs[0].Value), &read)
			}
			return err
		})
		r.read(err, err == nil && read < acknowledged)
	}
}

func (r *recorder) wrote(err error, written bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(err)
	if !written {
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

func (r *recorder) worked(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(err)
}

func (r *recorder) lostLease() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.LeasesLost++
}

func (r *recorder) count(err error) {
	r.report.Operations++
	if err == nil {
		return
	}
	log.Print(err)
	r.report.Failures++
	text := err.Error()
	if _, known := r.report.Errors[text]; !known && len(r.report.Errors) >= maxErrors {
		text = otherErrors
	}
	if r.report.Errors == nil {
		r.report.Errors = map[string]int64{}
	}
	r.report.Errors[text]++
}

// value is one that no one has written before.
func (r *recorder) value() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.values++
	return r.values
}

// now is the time since the start on the monotonic clock, which no change of the machine's clock moves. It is at least
// one: zero stands for no time at all.
func (r *recorder) now() int64 { return max(1, time.Since(r.start).Nanoseconds()) }
