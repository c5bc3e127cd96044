package etcd

import (
	"bytes"
	"cmp"
	"context"
	"maps"
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
	// cpu is how many seconds of CPU the process has used since it started.
	cpu float64
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

// usage is what is remembered of one process of etcd.
type usage struct {
	// last is what it has told last, at that time.
	last *figures
	at   time.Time
	// hour are the last samples, the earlier ones first.
	hour []moment
	// hours is how many are over, and cpu and memory the peaks of the last week of them; peak is that of the hour under way, of which there are
	// so many samples.
	hours, samples uint32
	cpu, memory    peaks
	peak           amounts
}

// moment is what was used in one sample.
type moment struct {
	at instant
	amounts
}

// amounts are thousandths of a core, and MiB, each rounded up.
type amounts struct{ cpu, memory uint32 }

// peaks are those of hours, in their order, that no later hour has reached: the first one is the highest. Others would never be it again.
type peaks []hourPeak

type hourPeak struct{ hour, amount uint32 }

// add adds that of an hour, and forgets what is older than a week.
func (p *peaks) add(hour, amount uint32) {
	*p = slices.DeleteFunc(*p, func(old hourPeak) bool { return old.amount <= amount || hour-old.hour >= usageWeek })
	*p = append(*p, hourPeak{hour, amount})
}

func (a amounts) most(b amounts) amounts { return amounts{max(a.cpu, b.cpu), max(a.memory, b.memory)} }

// Usages samples what the voters use of CPU and memory where that is due, together with what else is read of their metrics, and returns what they
// have used so far, none of one that has not been sampled.
func (p *Pool) Usages(ctx context.Context, cluster string, s *Session) (found []plan.Usage) {
	c, now, every := p.sampler(cluster, s.Seen.ClusterID), time.Now(), p.every()
	c.sample(ctx, s, now, every, false)
	c.usages.note(c.heard, c.read, every)
	for _, v := range s.voters {
		if u := c.usages.used[v.endpoint.PodUID]; u != nil {
			found = append(found, u.told(v.endpoint, every))
		}
	}
	return found
}

// note adds a sample of each pod whose server has answered, unless it follows the last one too soon to count as one. Who has little CPU often does
// not answer. One that has not answered for long begins anew, for what was not looked at is not known; so does another process.
func (u *usages) note(now map[string]*figures, at time.Time, every time.Duration) {
	if tooSoon(at, u.usedAt, every) {
		return
	}
	u.usedAt = at
	if u.used == nil {
		u.used = map[string]*usage{}
	}
	maps.DeleteFunc(u.used, func(_ string, one *usage) bool { return at.Sub(one.at) > silence*every })
	for uid, f := range now {
		if f.started == 0 || f.resident == 0 { // it does not tell
			continue
		}
		one := u.used[uid]
		if one == nil || f.restarted(one.last) || startedAnew(one.last.cpu, f.cpu) {
			one = &usage{hour: make([]moment, 0, usageHour)}
		} else {
			one.add(f.consumption, at)
		}
		one.last, one.at, u.used[uid] = f, at, one
	}
}

// add adds what was used since the last sample.
func (u *usage) add(now consumption, at time.Time) {
	const thousandths, mebi = 1000, 1 << 20
	a := amounts{cpu: rounded((now.cpu - u.last.cpu) / at.Sub(u.at).Seconds() * thousandths), memory: rounded(now.resident / mebi)}
	u.hour = withLast(u.hour, moment{instantOf(at), a}, usageHour)
	u.peak = u.peak.most(a)
	if u.samples++; u.samples == usageHour {
		u.hours++
		u.cpu.add(u.hours, u.peak.cpu)
		u.memory.add(u.hours, u.peak.memory)
		u.peak, u.samples = amounts{}, 0
	}
}

// rounded is a number rounded up, from 1 on: 0 is what is not known.
func rounded(n float64) uint32 { return uint32(min(max(math.Ceil(n), 1), math.MaxUint32)) }

// told is what that says of the member in that pod. An hour's samples may have been taken in one and a half, and those of a quarter in a third.
func (u *usage) told(e Endpoint, every time.Duration) plan.Usage {
	const mebi = 1 << 20
	out := plan.Usage{Pod: e.Pod, PodUID: e.PodUID, Heap: int64(u.last.heap)}
	if last := u.latest(memoryLasts, silence*every); last != nil {
		out.Used.Memory = int64(slices.MinFunc(last, func(a, b moment) int { return cmp.Compare(a.memory, b.memory) }).memory) * mebi
	}
	if last := slices.Clone(u.latest(usageHour, historySpan*every)); last != nil {
		slices.SortFunc(last, func(a, b moment) int { return cmp.Compare(a.cpu, b.cpu) })
		out.Used.CPU = int64(last[usageHour-usageLasts].cpu)
	}
	if u.hours >= usageWeek {
		most := u.peak.most(amounts{u.cpu[0].amount, u.memory[0].amount})
		out.Peak = plan.Resources{CPU: int64(most.cpu), Memory: int64(most.memory) * mebi}
	}
	return out
}

// latest are the last samples, nil if there are fewer, or if they were taken over a longer time.
func (u *usage) latest(n int, within time.Duration) []moment {
	if len(u.hour) < n {
		return nil
	}
	last := u.hour[len(u.hour)-n:]
	if last[n-1].at.since(last[0].at) > within {
		return nil
	}
	return last
}
