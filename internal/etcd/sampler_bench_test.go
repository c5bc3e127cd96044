package etcd

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// BenchmarkSamplerMemory has a sampler of three voters know a day, as each cluster does, and tells how much memory that takes.
func BenchmarkSamplerMemory(b *testing.B) {
	var kept []*sampler
	before := heap()
	for b.Loop() {
		kept = append(kept, sampled(b))
	}
	b.ReportMetric(float64(heap()-before)/float64(len(kept)), "B/cluster")
	runtime.KeepAlive(kept)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// sampled has noted the samples of a day.
func sampled(b *testing.B) *sampler {
	b.Helper()
	c, now, session := &sampler{}, time.Unix(1e9, 0), &Session{}
	for i := range uint64(3) {
		pod := fmt.Sprintf("c-%d", i)
		session.Seen.Members = append(session.Seen.Members, plan.Member{ID: i, Name: pod})
		p := peer{endpoint: Endpoint{Pod: pod, PodUID: strings.Repeat(pod, 9)}}
		p.word.MemberID = i
		session.voters = append(session.voters, p)
	}
	const day = int(anomaly.Day / sampleEvery)
	for n := range day + settling {
		now = now.Add(sampleEvery)
		heard := map[string]figures{}
		for i, p := range session.voters {
			f := figures{}
			if err := f.scan(bytes.NewReader(served(n, i))); err != nil {
				b.Fatal(err)
			}
			heard[p.endpoint.PodUID] = f
		}
		c.heard, c.read, c.last = heard, now, heard
		c.histories.note(heard, now, sampleEvery)
		c.note(session, sampleEvery)
	}
	return c
}

// served are the metrics that matter of a member, at its n-th sample.
func served(n, member int) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s_sum %d\n%s_count %d\n%s_sum{op=\"Put\"} %d\n", flushFamily, n, flushFamily, 100*n, requestFamily, n)
	for i := range 3 {
		if i == member {
			continue
		}
		for bucket := range 16 {
			fmt.Fprintf(&text, "%s_bucket{To=\"%016x\",le=\"%g\"} %d\n", probeFamily, i, 0.0001*float64(int(1)<<bucket), 10*n)
		}
		fmt.Fprintf(&text, "%s_sum{To=\"%016x\"} %d\n%s_count{To=\"%016x\"} %d\n", probeFamily, i, n, probeFamily, i, 10*n)
	}
	return text.Bytes()
}
