package etcd

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const (
	// usageHour is how many samples an hour of CPU has, at one in five minutes, and usageLasts in how many of them so much has to have been used.
	// One of them alone may be a backup or a defragmentation; that is what the 95th of a hundred would be of twelve, too.
	usageHour, usageLasts = 12, 10
	// memoryLasts is for how many samples in a row so much memory has to have been used, which is a quarter of an hour: memory that is missing
	// ends a member, and what is used is rarely given back.
	memoryLasts = 3
	// usageWeek is for how many hours peaks are remembered.
	usageWeek = 7 * 24
)

// consumption is what a member's metrics tell of its use of CPU and memory. They are of the process, so no metrics of Kubernetes are needed.
type consumption struct {
	// started is when the process did, in seconds since 1970, and cpu how many seconds of CPU it has used since.
	started, cpu float64
	// resident is the memory that it has, in bytes: with the pages of the database, which etcd maps. heap is the largest size that its heap
	// has had since it started (HeapSys in Go's package runtime).
	resident, heap float64
}

// scan reads a line if it is of these, as far as it is a number from 0 on.
func (c *consumption) scan(line []byte) {
	read := func(into *float64, name string) {
		if v, ok := labelled(line, name); ok {
			*into = v
		}
	}
	if bytes.HasPrefix(line, []byte("process_")) {
		read(&c.started, "process_start_time_seconds")
		read(&c.cpu, "process_cpu_seconds_total")
		read(&c.resident, "process_resident_memory_bytes")
	}
	read(&c.heap, "go_memstats_heap_sys_bytes")
}

// usages are what the voters of a cluster have used, by pod UID. They are evidence, not state: an operator that starts anew collects them anew.
type usages struct {
	// usedAt is when the last sample was taken, zero before the first.
	usedAt time.Time
	used   map[string]*usage
}

// usage is what is remembered of one process of etcd: some 1.5 KiB.
type usage struct {
	last consumption
	// hour are the last samples, and week the peaks of the last full hours, the earlier ones first; peak is that of the hour under way, of which
	// there are so many samples.
	hour    []amounts
	week    []amounts
	peak    amounts
	samples int
}

// amounts are thousandths of a core, and MiB, each rounded up.
type amounts struct{ cpu, memory uint32 }

func (a amounts) most(b amounts) amounts { return amounts{max(a.cpu, b.cpu), max(a.memory, b.memory)} }

// Usages samples what the voters use of CPU and memory where that is due, together with what else is read of their metrics, and returns what they
// have used so far, none of one that has not been sampled.
func (p *Pool) Usages(ctx context.Context, cluster string, s *Session) (found []plan.Usage) {
	c, now, every := p.sampler(cluster, s.Seen.ClusterID), time.Now(), cmp.Or(p.SampleEvery, sampleEvery)
	if s.Seen.Contact == plan.ContactQuorum && !now.Before(c.due) {
		c.heard, c.read, c.due = figuresOf(ctx, s.voters), now, now.Add(every)
	}
	c.usages.note(c.heard, c.read, every)
	for _, v := range s.voters {
		if u := c.used[v.endpoint.PodUID]; u != nil {
			found = append(found, u.told(v.endpoint))
		}
	}
	return found
}

// note adds a sample, unless it follows the last one too soon to count as one. After a gap of more than two samples all begins anew: what was not
// looked at is not known. So does what belongs to another pod, or another process.
func (u *usages) note(now map[string]figures, at time.Time, every time.Duration) {
	since := at.Sub(u.usedAt)
	if since < every-every/4 {
		return
	}
	before := u.used
	u.usedAt, u.used = at, map[string]*usage{}
	for uid, f := range now {
		if f.started == 0 || f.resident == 0 {
			continue
		}
		one := before[uid]
		if one == nil || since > missed*every || one.last.started != f.started || f.cpu < one.last.cpu {
			one = &usage{}
		} else {
			one.add(f.consumption, since)
		}
		one.last, u.used[uid] = f.consumption, one
	}
}

// add adds what was used since the last sample.
func (u *usage) add(now consumption, since time.Duration) {
	const thousandths, mebi = 1000, 1 << 20
	a := amounts{
		cpu:    rounded((now.cpu - u.last.cpu) / since.Seconds() * thousandths),
		memory: rounded(now.resident / mebi),
	}
	u.hour = append(u.hour, a)
	u.hour = u.hour[max(0, len(u.hour)-usageHour):]
	u.peak = u.peak.most(a)
	if u.samples++; u.samples == usageHour {
		u.week = append(u.week, u.peak)
		u.week = u.week[max(0, len(u.week)-usageWeek):]
		u.peak, u.samples = amounts{}, 0
	}
}

// rounded is a number rounded up, from 1 on: 0 is what is not known.
func rounded(n float64) uint32 { return uint32(min(max(math.Ceil(n), 1), math.MaxUint32)) }

// told is what that says of the member in that pod.
func (u *usage) told(e Endpoint) plan.Usage {
	const mebi = 1 << 20
	out := plan.Usage{Pod: e.Pod, PodUID: e.PodUID, Heap: int64(u.last.heap)}
	if n := len(u.hour); n >= memoryLasts {
		least := u.hour[n-1].memory
		for _, a := range u.hour[n-memoryLasts:] {
			least = min(least, a.memory)
		}
		out.Used.Memory = int64(least) * mebi
	}
	if len(u.hour) == usageHour {
		var all []uint32
		for _, a := range u.hour {
			all = append(all, a.cpu)
		}
		slices.Sort(all)
		out.Used.CPU = int64(all[usageHour-usageLasts])
	}
	if len(u.week) == usageWeek {
		most := u.peak
		for _, a := range u.week {
			most = most.most(a)
		}
		out.Peak = plan.Resources{CPU: int64(most.cpu), Memory: int64(most.memory) * mebi}
	}
	return out
}
