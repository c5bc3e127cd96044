package etcd

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// histories are how the voters' disks did in the last samples of their metrics. They are evidence, not state: an operator that starts anew collects
// them anew.
type histories struct {
	// at is when the last sample was taken, zero before the first, and from what the voters said then, by pod UID.
	at   time.Time
	from map[string]figures
	// of are the samples, the earlier ones first, by pod UID.
	of map[string][]diskSample
}

// diskSample is what one sample has shown of a disk.
type diskSample struct{ slow, alone bool }

// note adds a sample, unless it follows the last one too soon to count as one. After a gap of more than two samples all begins anew: what was not
// looked at is not known. A pod that was not there before, or whose server has started anew, begins anew, too.
func (h *histories) note(now map[string]figures, at time.Time, every time.Duration) {
	since := at.Sub(h.at)
	if since < every-every/4 {
		return
	}
	before, known := h.from, h.of
	h.at, h.from, h.of = at, now, map[string][]diskSample{}
	if since > missed*every {
		return
	}
	means := map[string]time.Duration{}
	for uid, f := range now {
		if first, ok := before[uid]; ok && f.flushes.count >= first.flushes.count {
			h.of[uid] = known[uid]
			means[uid] = meanOf(first, f)
		}
	}
	for uid := range h.of {
		var s diskSample
		s.slow, s.alone = plan.Slow(means[uid], quickestBut(means, uid))
		all := slices.Concat(h.of[uid], []diskSample{s})
		h.of[uid] = all[max(0, len(all)-plan.HistorySamples):]
	}
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

// Histories are those of the disks of these members, none of one that has not been sampled.
func (p *Pool) Histories(cluster string, s *Session) (found []plan.DiskHistory) {
	sampler := p.sampler(cluster, s.Seen.ClusterID)
	for _, v := range s.voters {
		samples, ok := sampler.of[v.endpoint.PodUID]
		if !ok {
			continue
		}
		h := plan.DiskHistory{
			Pod: v.endpoint.Pod, PodUID: v.endpoint.PodUID, Samples: len(samples),
		}
		for _, one := range samples {
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
