package etcd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const aDay = int(anomaly.Day / sampleEvery)

// BenchmarkSamplerMemory has a sampler of three voters know a day, as each cluster does, or also a week of what they use, as one does whose CPU
// and memory Auto Pilot may change, and tells how much memory that takes.
func BenchmarkSamplerMemory(b *testing.B) {
	for name, goes := range map[string]func(*day){
		"sampled twice": func(d *day) { d.goes(2) },
		"default":       func(d *day) { d.goes(aDay + settling) },
		"resources":     func(d *day) { d.uses(6 * aDay); d.goes(aDay + settling) },
	} {
		b.Run(name, func(b *testing.B) {
			var kept []*sampler
			before := heap()
			for b.Loop() {
				d := newDay(b)
				goes(d)
				kept = append(kept, d.sampler)
			}
			b.ReportMetric(float64(heap()-before)/float64(len(kept)), "B/cluster")
			runtime.KeepAlive(kept)
		})
	}
}

// TestSamplerMemory bounds what is remembered of a cluster of three after a day, as allocated and not as used: 1,000 of them are to take less
// than 10 MiB, of which a third is what the heap may grow by before it is collected. It adds up all but an hour of
// probes and the names of pods; the benchmark measures.
func TestSamplerMemory(t *testing.T) {
	t.Parallel()
	d := newDay(t)
	d.goes(aDay + settling)
	const mapOfThree = 256 // one group of eight
	sum := unsafe.Sizeof(*d.sampler) + mapOfThree + uintptr(cap(d.comparisons.found))*unsafe.Sizeof(plan.Comparison{})
	for _, c := range d.comparisons.found {
		sum += uintptr(cap(c.Hashes)) * unsafe.Sizeof(plan.MemberHash{})
	}
	for _, f := range d.comparisons.last {
		sum += unsafe.Sizeof(*f) + uintptr(cap(f.probes))*unsafe.Sizeof(probed{})
	}
	sum += uintptr(cap(d.habits.members)) * unsafe.Sizeof(habit{})
	for _, h := range d.habits.members {
		sum += unsafe.Sizeof(*h.Habit)
	}
	sum += uintptr(cap(d.histories.disks)) * unsafe.Sizeof(&disk{})
	for _, k := range d.histories.disks {
		sum += unsafe.Sizeof(*k) + uintptr(cap(k.looks))*unsafe.Sizeof(look{}) + uintptr(cap(k.samples.at))*unsafe.Sizeof(instant(0))
	}
	const most = 5200
	if sum > most {
		t.Errorf("%d bytes, want %d at most", sum, most)
	}
	for uid, f := range d.comparisons.last {
		if d.histories.of(uid).told != f || d.heard[uid] != f {
			t.Errorf("the last figures of %s are remembered more than once", uid)
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// day is a cluster of three voters that is sampled for a day or more.
type day struct {
	*sampler
	testing.TB
	session *Session
	now     time.Time
	n       int
	// load is what the members use, and cpu what that is together.
	load *rand.Rand
	cpu  float64
}

func newDay(t testing.TB) *day {
	t.Helper()
	d := &day{sampler: &sampler{}, TB: t, session: &Session{}, now: time.Unix(1e9, 0), load: rand.New(rand.NewPCG(1, 1))}
	for i := range uint64(3) {
		pod := fmt.Sprintf("c-%d", i)
		d.session.Seen.Members = append(d.session.Seen.Members, plan.Member{ID: i, Name: pod})
		p := peer{endpoint: Endpoint{Pod: pod, PodUID: strings.Repeat(pod, 9)}}
		p.response.MemberID = i
		d.session.voters = append(d.session.voters, p)
	}
	return d
}

// goes on for so many samples, of which each second one leads to a comparison.
func (d *day) goes(samples int) {
	for range samples {
		heard := d.next()
		for i, p := range d.session.voters {
			if err := heard[p.endpoint.PodUID].scan(bytes.NewReader(served(d.n, i))); err != nil {
				d.Fatal(err)
			}
		}
		d.heard, d.comparisons.last, d.read = heard, heard, d.now
		d.histories.note(heard, d.now, sampleEvery)
		if d.n%2 == 0 {
			found := plan.Comparison{Revision: int64(d.n), Hashes: make([]plan.MemberHash, 0, len(d.session.voters))}
			for _, m := range d.session.Seen.Members {
				found.Hashes = append(found.Hashes, plan.MemberHash{Member: m.ID})
			}
			d.comparisons.found = withLast(d.comparisons.found, found, kept)
		}
		if d.usages.used != nil {
			d.usages.note(heard, d.now, sampleEvery)
		}
		d.habits.note(d.session, heard, d.now, sampleEvery)
	}
}

// uses has what the members use be sampled so often, and from then on.
func (d *day) uses(samples int) {
	for range samples {
		d.usages.note(d.next(), d.now, sampleEvery)
	}
}

// next are what members use in the next sample: some CPU and memory, now more and now less.
func (d *day) next() map[string]*figures {
	d.now, d.n, d.cpu = d.now.Add(sampleEvery), d.n+1, d.cpu+d.load.Float64()*sampleEvery.Seconds()
	heard := map[string]*figures{}
	for _, p := range d.session.voters {
		heard[p.endpoint.PodUID] = &figures{started: 1, consumption: consumption{cpu: d.cpu, resident: (1 + d.load.Float64()) * (1 << 30)}}
	}
	return heard
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
