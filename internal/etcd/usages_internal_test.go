package etcd

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestConsumption reads what a process uses of its metrics, and believes no number that is none.
func TestConsumption(t *testing.T) {
	t.Parallel()
	const text = `# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 12.5
process_cpu_seconds_total_of_another 1
process_resident_memory_bytes 5.0331648e+07
process_virtual_memory_bytes 1.1e+10
go_memstats_heap_sys_bytes 1.2e+07
go_memstats_heap_inuse_bytes 9e+06
process_cpu_seconds_total NaN
process_resident_memory_bytes -1
`
	got := figures{}
	if err := got.scan(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if want := (consumption{cpu: 12.5, resident: 48 << 20, heap: 1.2e7}); got.consumption != want {
		t.Errorf("%+v, want %+v", got.consumption, want)
	}
}

// load has one member use so much CPU, in cores, and memory, in MiB, in the samples that follow.
type load struct {
	u     *usages
	at    time.Time
	total float64
	start float64
}

func newLoad() *load {
	return &load{u: &usages{}, at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), start: 1}
}

func (l *load) samples(n int, cores, mebi float64) *load {
	for range n {
		l.at, l.total = l.at.Add(every), l.total+cores*every.Seconds()
		l.u.note(map[string]*figures{"a": {started: l.start, consumption: consumption{cpu: l.total, resident: mebi * (1 << 20), heap: 7}}}, l.at, every)
	}
	return l
}

// rarely takes every other sample.
func (l *load) rarely(n int, cores, mebi float64) *load {
	for range n {
		l.later(every).samples(1, 2*cores, mebi)
	}
	return l
}

// later is after a time in which nobody looked.
func (l *load) later(pause time.Duration) *load {
	l.at = l.at.Add(pause)
	return l
}

// restarted has another process be there from now on.
func (l *load) restarted() *load {
	l.start, l.total = l.start+1, 0
	return l
}

// TestUsages tells what a member has used for as long as it takes, and nothing where it was not looked at for that long.
func TestUsages(t *testing.T) {
	t.Parallel()
	const week = usageWeek * usageHour
	mebi := func(cpu, n int64) plan.Resources { return plan.Resources{CPU: cpu, Memory: n << 20} }
	for title, c := range map[string]struct {
		l          *load
		used, peak plan.Resources
	}{
		"the first look":             {newLoad().samples(1, 1, 100), plan.Resources{}, plan.Resources{}},
		"a quarter of an hour":       {newLoad().samples(4, 1, 100), mebi(0, 100), plan.Resources{}},
		"less than that":             {newLoad().samples(3, 1, 100), plan.Resources{}, plan.Resources{}},
		"an hour":                    {newLoad().samples(13, 1, 100), mebi(1000, 100), plan.Resources{}},
		"much in two samples":        {newLoad().samples(11, 0.1, 100).samples(2, 3, 900), mebi(100, 100), plan.Resources{}},
		"much in ten samples":        {newLoad().samples(3, 0.1, 100).samples(10, 3, 900), mebi(3000, 900), plan.Resources{}},
		"little in three samples":    {newLoad().samples(10, 3, 900).samples(3, 0.1, 100), mebi(100, 100), plan.Resources{}},
		"an hour with a look missed": {newLoad().samples(6, 1, 100).later(every).samples(7, 1, 100), mebi(1000, 100), plan.Resources{}},
		"looks missed all the time":  {newLoad().rarely(13, 1, 100), mebi(0, 100), plan.Resources{}},
		"an hour with a gap":         {newLoad().samples(12, 1, 100).later(4*every).samples(2, 1, 100), plan.Resources{}, plan.Resources{}},
		"another process":            {newLoad().samples(12, 1, 100).restarted().samples(2, 1, 100), plan.Resources{}, plan.Resources{}},
		"a week":                     {newLoad().samples(week+1, 0.5, 100), mebi(500, 100), mebi(500, 100)},
		"less than a week":           {newLoad().samples(week, 0.5, 100), mebi(500, 100), plan.Resources{}},
		"a peak six days ago":        {newLoad().samples(week/7+1, 0.1, 50).samples(1, 2, 300).samples(week*6/7, 0.1, 50), mebi(100, 50), mebi(2000, 300)},
		"a peak eight days ago":      {newLoad().samples(1, 0.1, 50).samples(1, 2, 300).samples(week*8/7, 0.1, 50), mebi(100, 50), mebi(100, 50)},
		"a week with a gap":          {newLoad().samples(week, 0.5, 100).later(4*every).samples(week/2, 0.5, 100), mebi(500, 100), plan.Resources{}},
		"a week with a restart":      {newLoad().samples(week, 0.5, 100).restarted().samples(week/2, 0.5, 100), mebi(500, 100), plan.Resources{}},
	} {
		got := c.l.u.used["a"].told(Endpoint{Pod: "c-0", PodUID: "a"}, every)
		if want := (plan.Usage{Pod: "c-0", PodUID: "a", Used: c.used, Peak: c.peak, Heap: 7}); got != want {
			t.Errorf("%s: %+v, want %+v", title, got, want)
		}
	}
}

// TestUsagesAreBounded has a server tell absurd numbers, be asked too often, and be asked for long.
func TestUsagesAreBounded(t *testing.T) {
	t.Parallel()
	l := newLoad().samples(1, 1, 100).samples(40, 1e9, 1e9)
	if got := l.u.used["a"].told(Endpoint{}, every); got.Used.CPU != 1<<32-1 {
		t.Errorf("%+v", got)
	}
	before := len(l.u.used["a"].hour)
	l.u.note(map[string]*figures{"a": {started: l.start, consumption: consumption{cpu: l.total, resident: 1}}}, l.at.Add(2*time.Second), every)
	if n := len(l.u.used["a"].hour); n != before || l.u.usedAt != l.at {
		t.Errorf("a look after two seconds is a sample")
	}
	l.samples(2*usageWeek*usageHour, 1, 100)
	if u := l.u.used["a"]; len(u.hour) != usageHour || len(u.cpu) != 1 || len(u.memory) != 1 {
		t.Errorf("%d samples, and %d and %d peaks of hours that were alike, are remembered", len(u.hour), len(u.cpu), len(u.memory))
	}
	l.u.note(map[string]*figures{"b": {}}, l.at.Add(every), every)
	if l.u.used["a"] == nil {
		t.Error("who misses one look is forgotten")
	}
	l.u.note(map[string]*figures{"b": {}}, l.at.Add(5*every), every)
	if len(l.u.used) != 0 {
		t.Errorf("a pod that has gone, or one that tells nothing, is remembered: %v", l.u.used)
	}
}
