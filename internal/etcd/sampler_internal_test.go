package etcd

import (
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestSamplesAreForgotten of a cluster that is gone at once, and of one that nobody has asked for a day when it is looked at next.
func TestSamplesAreForgotten(t *testing.T) {
	t.Parallel()
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	for title, c := range map[string]struct {
		due, looked time.Time
		gone, known bool
	}{
		"sampled":                   {due: ago(0), known: true},
		"deleted":                   {due: ago(0), gone: true},
		"hibernates for a night":    {due: ago(12 * time.Hour), looked: ago(100 * time.Hour), known: true},
		"hibernates for two days":   {due: ago(48 * time.Hour), looked: ago(100 * time.Hour)},
		"left alone for two days":   {due: ago(anomaly.Day + time.Minute)},
		"not asked yet":             {due: ago(-sampleEvery), known: true},
		"without metrics until now": {looked: ago(time.Hour), known: true},
	} {
		p := NewPool()
		s := p.sampler("c", 7)
		s.due, s.looked = c.due, c.looked
		if c.gone {
			p.Forget("c")
		}
		if p.Observe(t.Context(), "c", nil, plan.Electorate{}, nil); (p.samplers["c"] == s) != c.known {
			t.Errorf("%s: what is known of it is %v", title, p.samplers["c"])
		}
	}
}

// TestFirstSamplesAreSpread over the time between two: a process that has just started knows all clusters at once.
func TestFirstSamplesAreSpread(t *testing.T) {
	t.Parallel()
	p, began, quarters := NewPool(), time.Now(), map[time.Duration]bool{}
	for i := range 200 {
		in := p.sampler(strconv.Itoa(i), 7).due.Sub(began)
		quarters[4*in/sampleEvery] = true
	}
	if want := map[time.Duration]bool{0: true, 1: true, 2: true, 3: true}; !maps.Equal(quarters, want) {
		t.Errorf("first samples are due in the quarters %v of %s, want %v", quarters, sampleEvery, want)
	}
}

// TestSampleAtOnce has members be sampled at once that have not been yet, and the others when that is due.
func TestSampleAtOnce(t *testing.T) {
	t.Parallel()
	p, session := NewPool(), &Session{Seen: plan.Etcd{ClusterID: 7}}
	p.SampleAtOnce("c", session)
	s := p.sampler("c", 7)
	if time.Now().Before(s.due) {
		t.Errorf("the first sample is due in %s", time.Until(s.due))
	}
	later := time.Now().Add(time.Hour)
	s.read, s.due = time.Now(), later
	if p.SampleAtOnce("c", session); s.due != later {
		t.Errorf("the second sample is due in %s", time.Until(s.due))
	}
}
