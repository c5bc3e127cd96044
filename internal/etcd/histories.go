package etcd

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const (
	// silence is how many times the usual time a server may go without telling its figures: two samples in a row that it misses come late, and are
	// forgiven.
	silence = 4
	// historySpan is how many times the usual time ago the oldest sample may have been taken: of an hour's, half are missed at most.
	historySpan = plan.HistorySamples * 3 / 2
)

// histories are how the voters' disks did in the last samples of their metrics. They are evidence, not state: an operator that starts anew collects
// them anew.
type histories struct {
	// sampled is when the last sample was taken, zero before the first.
	sampled time.Time
	// disks are by pod UID.
	disks map[string]*disk
}

// disk is what is known of that of one pod: what its server has told last, what it told of flushes in the last looks, and the last samples, the
// earlier ones first.
type disk struct {
	told    figures
	looks   []look
	samples []diskSample
}

// look is what a server has told of all flushes until then.
type look struct {
	at      time.Time
	flushes took
}

// diskSample is what one sample has shown of a disk.
type diskSample struct {
	at          time.Time
	slow, alone bool
}

// note adds a sample of each pod whose server has answered, unless it follows the last one too soon to count as one. A server with a slow disk
// often does not answer: it is judged by the samples in which it does, and then by all of the time since the one before. One that has not answered
// for long begins anew, for what was not looked at is not known; so does a server that has started anew.
func (h *histories) note(now map[string]figures, at time.Time, every time.Duration) {
	if tooSoon(at, h.sampled, every) {
		return
	}
	h.forget(at, every)
	h.sampled = at
	for uid, f := range now {
		if d := h.disks[uid]; d == nil || f.restarted(d.told) {
			h.disks[uid] = &disk{}
		}
	}
	for uid, f := range now {
		if d := h.disks[uid]; len(d.looks) > 0 {
			since := d.looks[len(d.looks)-1].at
			mean, _ := d.meanSince(since, f)
			s := diskSample{at: at}
			s.slow, s.alone = plan.Slow(mean, h.quickest(now, uid, since))
			d.samples = append(d.samples, s)
			d.samples = d.samples[max(0, len(d.samples)-plan.HistorySamples):]
		}
	}
	for uid, f := range now {
		d := h.disks[uid]
		d.told, d.looks = f, append(d.looks, look{at, f.flushes})
	}
}

// forget drops what is too old to be told, or gone on with.
func (h *histories) forget(at time.Time, every time.Duration) {
	if h.disks == nil {
		h.disks = map[string]*disk{}
	}
	maps.DeleteFunc(h.disks, func(_ string, d *disk) bool {
		d.looks = slices.DeleteFunc(d.looks, func(l look) bool { return at.Sub(l.at) > silence*every })
		d.samples = slices.DeleteFunc(d.samples, func(s diskSample) bool { return at.Sub(s.at) > historySpan*every })
		return len(d.looks) == 0
	})
}

// meanSince is the mean time of a flush since a look, 0 if hardly any has ended: then nobody waits for that disk. It is false if the server had told
// nothing then.
func (d *disk) meanSince(since time.Time, now figures) (time.Duration, bool) {
	i := slices.IndexFunc(d.looks, func(l look) bool { return l.at.Equal(since) })
	if i < 0 {
		return 0, false
	}
	seconds, _ := now.flushes.mean(d.looks[i].flushes)
	return time.Duration(seconds * float64(time.Second)), true
}

// quickest is the lowest mean of all others that have one of the same time, 0 if none has.
func (h *histories) quickest(now map[string]figures, but string, since time.Time) (quickest time.Duration) {
	for uid, f := range now {
		mean, known := h.disks[uid].meanSince(since, f)
		if uid != but && known && mean > 0 && (quickest == 0 || mean < quickest) {
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
