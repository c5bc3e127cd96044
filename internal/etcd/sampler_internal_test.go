package etcd

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
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
		s.due, s.habits.looked = c.due, c.looked
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

// TestSampledByWhoeverComesFirst asks a member once, and has all others find what it said: before, nothing was compared, or known of disks, if what is
// used was looked at first.
func TestSampledByWhoeverComesFirst(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(flushFamily + "_sum 1\n" + flushFamily + "_count 100\n" + processFamily + " 1\nprocess_resident_memory_bytes 1\n"))
	}))
	defer server.Close()
	voter := peer{endpoint: Endpoint{Pod: "c-0", PodUID: "a", Metrics: strings.TrimPrefix(server.URL, "http://")}}
	voter.response.MemberID = 7
	s := &Session{Seen: plan.Etcd{Contact: plan.ContactQuorum, ClusterID: 1, Members: []plan.Member{{ID: 7, Name: "c-0"}}}, voters: []peer{voter}}
	looks := map[string]func(*Pool){
		"compare": func(p *Pool) { p.Compare(t.Context(), "c", s) },
		"habits":  func(p *Pool) { p.Habits(t.Context(), "c", s, true) },
		"usages":  func(p *Pool) { p.Usages(t.Context(), "c", s) },
	}
	for first, look := range looks {
		p := NewPool()
		p.SampleAtOnce("c", s)
		asked.Store(0)
		look(p)
		for _, other := range looks {
			other(p)
		}
		c := p.sampler("c", 1)
		if n := asked.Load(); n != 1 {
			t.Errorf("%s first: the member was asked %d times", first, n)
		}
		if !c.comparisons.seen.Equal(c.read) || c.histories.of("a") == nil || !c.habits.noted.Equal(c.read) || c.usages.used["a"] == nil {
			t.Errorf("%s first: not all have looked at what the member said: %+v", first, c)
		}
	}
}
