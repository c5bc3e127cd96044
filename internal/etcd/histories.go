package etcd

import (
	"math/bits"
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
	// disks are one of each pod; a map would take twice the memory.
	disks []*disk
}

// disk is what is known of that of one pod: what its server has told last, what it told of flushes in the last looks, and the last samples, the
// earlier ones first.
type disk struct {
	uid     string
	told    *figures
	looks   []look
	samples diskSamples
}

// newDisk has room for as much as is ever remembered: what grows by appending has twice as much. As looks are a little less far apart than usual
// at least, there is one more than are not too old.
func newDisk(uid string) *disk {
	return &disk{uid: uid, looks: make([]look, 0, silence+1), samples: diskSamples{at: make([]instant, 0, plan.HistorySamples)}}
}

// look is what a server has told of all flushes until then.
type look struct {
	at      instant
	flushes durations
}

// diskSamples are when samples of a disk were taken, and in which of them it was slow, and slow alone: a bit for each, the first one the lowest.
type diskSamples struct {
	at          []instant
	slow, alone uint16
}

// add adds one, and drops the first one where there are as many as are remembered.
func (s *diskSamples) add(at instant, slow, alone bool) {
	if len(s.at) == plan.HistorySamples {
		s.drop(1)
	}
	bit := uint16(1) << len(s.at)
	if slow {
		s.slow |= bit
	}
	if alone {
		s.alone |= bit
	}
	s.at = append(s.at, at)
}

// drop drops the first ones, in place: each append behind a shorter slice would allocate twice as much anew.
func (s *diskSamples) drop(n int) {
	s.at = slices.Delete(s.at, 0, n)
	s.slow, s.alone = s.slow>>n, s.alone>>n
}

// note adds a sample of each pod whose server has answered, unless it follows the last one too soon to count as one. A server with a slow disk
// often does not answer: it is judged by the samples in which it does, and then by all of the time since the one before. One that has not answered
// for long begins anew, for what was not looked at is not known; so does a server that has started anew.
func (h *histories) note(now map[string]*figures, at time.Time, every time.Duration) {
	if tooSoon(at, h.sampled, every) {
		return
	}
	h.forget(at, every)
	h.sampled = at
	for uid, f := range now {
		i := slices.IndexFunc(h.disks, func(d *disk) bool { return d.uid == uid })
		switch {
		case i < 0:
			h.disks = append(h.disks, newDisk(uid))
		case f.restarted(h.disks[i].told):
			h.disks[i] = newDisk(uid)
		}
	}
	for uid, f := range now {
		if d := h.of(uid); len(d.looks) > 0 {
			since := d.looks[len(d.looks)-1].at
			mean, _ := d.meanSince(since, f)
			slow, alone := plan.Slow(mean, h.quickest(now, uid, since))
			d.samples.add(instantOf(at), slow, alone)
		}
	}
	for uid, f := range now {
		d := h.of(uid)
		d.told, d.looks = f, append(d.looks, look{instantOf(at), f.flushes})
	}
}

// of is what is known of that pod's, nil if nothing is.
func (h *histories) of(uid string) *disk {
	for _, d := range h.disks {
		if d.uid == uid {
			return d
		}
	}
	return nil
}

// forget drops what is too old to be told, or gone on with.
func (h *histories) forget(at time.Time, every time.Duration) {
	now := instantOf(at)
	h.disks = slices.DeleteFunc(h.disks, func(d *disk) bool {
		d.looks = slices.DeleteFunc(d.looks, func(l look) bool { return now.since(l.at) > silence*every })
		for len(d.samples.at) > 0 && now.since(d.samples.at[0]) > historySpan*every {
			d.samples.drop(1)
		}
		return len(d.looks) == 0
	})
}

// meanSince is the mean time of a flush since a look, 0 if hardly any has ended: then nobody waits for that disk. It is false if the server had told
// nothing then.
func (d *disk) meanSince(since instant, now *figures) (time.Duration, bool) {
	i := slices.IndexFunc(d.looks, func(l look) bool { return l.at == since })
	if i < 0 {
		return 0, false
	}
	seconds, _ := now.flushes.mean(d.looks[i].flushes)
	return time.Duration(seconds * float64(time.Second)), true
}

// quickest is the lowest mean of all others that have one of the same time, 0 if none has.
func (h *histories) quickest(now map[string]*figures, but string, since instant) (quickest time.Duration) {
	for uid, f := range now {
		mean, known := h.of(uid).meanSince(since, f)
		if uid != but && known && mean > 0 && (quickest == 0 || mean < quickest) {
			quickest = mean
		}
	}
	return quickest
}

// Histories are those of the disks of these members, none of one that has not been sampled lately.
func (p *Pool) Histories(cluster string, s *Session) (found []plan.DiskHistory) {
	known := &p.sampler(cluster, s.Seen.ClusterID).histories
	known.forget(time.Now(), p.every())
	for _, v := range s.voters {
		d := known.of(v.endpoint.PodUID)
		if d == nil {
			continue
		}
		found = append(found, plan.DiskHistory{
			Pod: v.endpoint.Pod, PodUID: v.endpoint.PodUID, Samples: len(d.samples.at),
			Slow: bits.OnesCount16(d.samples.slow), Alone: bits.OnesCount16(d.samples.alone),
		})
	}
	return found
}
