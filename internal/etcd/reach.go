package etcd

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// listSettles is how long after the member list has changed the counters of all members are of the new one.
const listSettles = 2 * time.Second

// reach remembers since when a member is listed with a URL, and how long its peers' probes of that took. It is evidence, not state: an
// operator that starts anew collects it anew, in half a minute.
type reach struct {
	// urls are where the others connect to the members, by ID. probes are by the pod that probes, and then by the ID.
	urls   map[uint64]listed
	probes map[string]map[uint64]probe
}

type listed struct {
	url   string
	since time.Time
}

type probe struct {
	spent  float64
	proven bool
}

// Reached names the members that every other one of the list has connected to at the URL that the list has for it. etcd probes
// its peers every 4 s where the list says that they are, by new connections with the same certificates as for all else, and reports how
// long that takes after 5 s and every 30 s from then on (rafthttp/probing_status.go). It reports 0 until a probe has succeeded: if the sum
// has risen, one has.
func (p *Pool) Reached(ctx context.Context, cluster string, members []plan.Member, endpoints []Endpoint) []string {
	asked := slices.DeleteFunc(slices.Clone(endpoints), func(e Endpoint) bool { return !lists(members, e) })
	spent := make([]map[uint64]float64, len(asked))
	var wg sync.WaitGroup
	for i, e := range asked {
		wg.Go(func() { spent[i] = probesOf(ctx, e) })
	}
	wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.reaches[cluster]
	if r == nil {
		r = &reach{urls: map[uint64]listed{}, probes: map[string]map[uint64]probe{}}
		p.reaches[cluster] = r
	}
	r.list(members, time.Now())
	for i, e := range asked {
		r.note(e.PodUID, spent[i], time.Now())
	}
	var all []string
	for _, m := range members {
		if !slices.ContainsFunc(members, func(other plan.Member) bool { return other.ID != m.ID && !r.proven(asked, other, m.ID) }) {
			all = append(all, m.Name)
		}
	}
	return all
}

// ForgetReached drops what Reached knows of a cluster.
func (p *Pool) ForgetReached(cluster string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.reaches, cluster)
}

// list forgets every proof of a member that is listed with another URL now.
func (r *reach) list(members []plan.Member, now time.Time) {
	for _, m := range members {
		if r.urls[m.ID].url != m.PeerURL {
			r.urls[m.ID] = listed{m.PeerURL, now}
			for _, probes := range r.probes {
				delete(probes, m.ID)
			}
		}
	}
}

// note compares the sums with those that were seen first.
func (r *reach) note(pod string, spent map[uint64]float64, now time.Time) {
	for id, sum := range spent {
		l, ok := r.urls[id]
		if !ok || now.Sub(l.since) < listSettles {
			continue
		}
		if r.probes[pod] == nil {
			r.probes[pod] = map[uint64]probe{}
		}
		known, found := r.probes[pod][id]
		if !found || startedAnew(known.spent, sum) {
			known.spent = sum
		}
		known.proven = known.proven || sum > known.spent
		r.probes[pod][id] = known
	}
}

// proven reports whether a member has reached the one with the ID.
func (r *reach) proven(asked []Endpoint, by plan.Member, id uint64) bool {
	return slices.ContainsFunc(asked, func(e Endpoint) bool { return e.Pod == by.Name && r.probes[e.PodUID][id].proven })
}

// probesOf is how long a member's probes of its peers have taken together, in seconds by the peers' IDs; nil if it does not say.
func probesOf(ctx context.Context, e Endpoint) map[uint64]float64 {
	if e.Metrics == "" {
		return nil
	}
	families, err := metricsOf(ctx, e.Metrics)
	if err != nil {
		return nil
	}
	out := map[uint64]float64{}
	for _, m := range families[probeFamily].GetMetric() {
		if id, ok := peerOf(m); ok {
			out[id] += m.GetHistogram().GetSampleSum()
		}
	}
	return out
}

func peerOf(m *dto.Metric) (uint64, bool) {
	for _, l := range m.GetLabel() {
		if l.GetName() == "To" {
			id, err := strconv.ParseUint(l.GetValue(), 16, 64)
			return id, err == nil
		}
	}
	return 0, false
}
