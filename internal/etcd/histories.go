package etcd

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// silence is how many times the usual time a server may go without telling its figures: two samples in a row that it misses come late, and are
// forgiven.
const silence = 4

// histories are how the voters' disks did in the last samples of their metrics. They are evidence, not state: an operator that starts anew collects
// them anew.
type histories struct {
	// sampled is when the last sample was taken, zero before the first.
	sampled time.Time
	// disks are by pod UID.
	disks map[string]*disk
}

// disk is what is known of that of one pod.
type disk struct {
	// at is when its server has told its figures last, and from what they were.
	at   time.Time
	from figures
	// samples are the last ones, the earlier ones first.
	samples []diskSample
}

// diskSample is what one sample has shown of a disk.
type diskSample struct{ slow, alone bool }

// note adds a sample of each pod whose server has answered, unless it follows the last one too soon to count as one. A server with a slow disk
// often does not answer: it is judged by the samples in which it does. One that has not for long begins anew, for what was not looked at is not
// known; so does a server that has started anew.
func (h *histories) note(now map[string]figures, at time.Time, every time.Duration) {
	if tooSoon(at, h.sampled, every) {
		return
	}
	h.forget(at, every)
	h.sampled = at
	means := map[string]time.Duration{}
	for uid, f := range now {
		d := h.disks[uid]
		if d == nil || f.restarted(d.from) {
			h.disks[uid] = &disk{at: at, from: f}
			continue
		}
		means[uid] = meanOf(d.from, f)
		d.at, d.from = at, f
	}
	for uid, mean := range means {
		var s diskSample
		s.slow, s.alone = plan.Slow(mean, quickestBut(means, uid))
		d := h.disks[uid]
		all := slices.Concat(d.samples, []diskSample{s})
		d.samples = all[max(0, len(all)-plan.HistorySamples):]
	}
}

// forget drops what is too old to be told, or gone on with.
func (h *histories) forget(at time.Time, every time.Duration) {
	if h.disks == nil {
		h.disks = map[string]*disk{}
	}
	maps.DeleteFunc(h.disks, func(_ string, d *disk) bool { return at.Sub(d.at) > silence*every })
}

// meanOf is the mean time of a flush between two samples, 0 if hardly any has ended: then nobody waits for that disk.
func meanOf(first, last figures) time.Duration {
	seconds, _ := last.flushes.mean(first.flushes)
	return time.Duration(seconds * float64(time.Second))
}

// quickestBut is the lowest mean of all others that have one, 0 if none has.
func quickestBut(means map[string]time.Duration, uid string) (quickest time.Duration) {
	for other, mean := range means {
		if other != uid && mean > 0 && (quickest == 0 || mean < quickest) {
			quickest = mean
		}
	}
	return quickest
}

// Histories are those of the disks of these members, none of one that has not been sampled lately.
func (p *Pool) Histories(cluster string, s *Session) (found []plan.DiskHistory) {
	sampler := p.sampler(cluster, s.Seen.ClusterID)
	sampler.forget(time.Now(), cmp.Or(p.SampleEvery, sampleEvery))
	for _, v := range s.voters {
		d, ok := sampler.disks[v.endpoint.PodUID]
		if !ok {
			continue
		}
		h := plan.DiskHistory{Pod: v.endpoint.Pod, PodUID: v.endpoint.PodUID, Samples: len(d.samples)}
		for _, one := range d.samples {
			if one.slow {
				h.Slow++
			}
			if one.alone {
				h.Alone++
			}
		}
		found = append(found, h)
	}
	return found
}
