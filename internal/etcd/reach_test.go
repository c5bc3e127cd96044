package etcd

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestReached counts a member as reached once every other one has connected to it since it is listed with its URL.
func TestReached(t *testing.T) {
	r := &reach{urls: map[uint64]listed{}, probes: map[string]map[uint64]probe{}}
	members := []plan.Member{{ID: 1, Name: "c-0", PeerURL: "http://c-0:2380"}, {ID: 2, Name: "c-1", PeerURL: "http://c-1:2380"}}
	asked := []Endpoint{{Pod: "c-0", PodUID: "u0"}, {Pod: "c-1", PodUID: "u1"}}
	now := time.Unix(1_700_000_000, 0)
	step := func(after time.Duration, of1, of2 float64, want1, want2 bool) {
		t.Helper()
		now = now.Add(after)
		r.list(members, now)
		r.note("u0", map[uint64]float64{2: of2}, now)
		r.note("u1", map[uint64]float64{1: of1}, now)
		if one, two := r.proven(asked, members[1], 1), r.proven(asked, members[0], 2); one != want1 || two != want2 {
			t.Errorf("at %v: %v, %v, want %v, %v", now.Sub(time.Unix(1_700_000_000, 0)), one, two, want1, want2)
		}
	}
	step(0, 1, 1, false, false)
	step(time.Second, 2, 2, false, false) // it may be of the URL before
	step(time.Second, 3, 3, false, false) // where it begins
	step(time.Second, 3, 3.1, false, true)
	step(time.Second, 3.1, 3.1, true, true)
	members[0].PeerURL = "https://c-0:2382"
	step(time.Second, 3.2, 3.2, false, true)
	step(2*time.Second, 3.2, 3.2, false, true)
	step(30*time.Second, 3.2, 3.3, false, true) // nobody reaches it: such probes take no time
	step(time.Second, 0.1, 3.3, false, true)    // the member that probes has started anew
	step(time.Second, 0.2, 3.3, true, true)
}

// TestReachedOfMetrics reads how long probes took from metrics like etcd's.
func TestReachedOfMetrics(t *testing.T) {
	sum := 0.25
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `# TYPE etcd_network_peer_round_trip_time_seconds histogram
etcd_network_peer_round_trip_time_seconds_bucket{To="fd422379fda50e48",le="+Inf"} 4
etcd_network_peer_round_trip_time_seconds_sum{To="fd422379fda50e48"} %g
etcd_network_peer_round_trip_time_seconds_count{To="fd422379fda50e48"} 4
`, sum)
	}))
	t.Cleanup(server.Close)
	e := Endpoint{Pod: "c-0", PodUID: "u0", Metrics: strings.TrimPrefix(server.URL, "http://")}
	if got := probesOf(t.Context(), e); len(got) != 1 || got[0xfd422379fda50e48] != sum {
		t.Errorf("its probes took %v", got)
	}
	p := NewPool()
	members := []plan.Member{{ID: 0xfd422379fda50e48, Name: "c-1", PeerURL: "u"}, {ID: 1, Name: "c-0", PeerURL: "v"}}
	if got := p.Reached(t.Context(), "c", members, []Endpoint{e}); len(got) > 0 {
		t.Errorf("%q are reached at once", got)
	}
	for id, l := range p.reaches["c"].urls { // as if time had passed
		p.reaches["c"].urls[id] = listed{l.url, l.since.Add(-listSettles)}
	}
	_ = p.Reached(t.Context(), "c", members, []Endpoint{e})
	sum = 0.5
	if got := p.Reached(t.Context(), "c", members, []Endpoint{e}); !slices.Equal(got, []string{"c-1"}) {
		t.Errorf("%q are reached: the other one says nothing of its peers", got)
	}
	if got := p.Reached(t.Context(), "one", members[:1], nil); len(got) != 1 {
		t.Errorf("a member without others waits for them")
	}
	p.ForgetReached("c")
	if p.reaches["c"] != nil {
		t.Error("it is not forgotten")
	}
}
