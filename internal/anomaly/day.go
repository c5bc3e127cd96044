package anomaly

import (
	"math"
	"time"
)

// day is what a member was like in the last day, by the time of day and not by how many samples there were: what nobody has looked at is not
// known, and what is older than a day is forgotten. The zero value is of no use before it begins.
type day struct {
	// ring has a point of each half an hour, Nothing of one without a sample, that of the half hour with number h at h modulo points.
	ring [points]rounded
	// latest are the samples of the half hour that is not over, and n is how many of them there are; half is its number since 1970, 0 before
	// the day begins.
	latest [together]rounded
	n      uint8
	half   int64
}

// begins forgets all, from now on.
func (d *day) begins(now time.Time, every time.Duration) {
	*d = day{half: halfOf(now, every)}
	for i := range d.ring {
		d.ring[i] = round(Nothing())
	}
}

// goesOn has the day end now, and reports whether anything of it is known: nothing is before it begins, a day after the last sample, or if the
// clock went back.
func (d *day) goesOn(now time.Time, every time.Duration) bool {
	to := halfOf(now, every)
	if d.half == 0 || to < d.half || to-d.half > int64(points) {
		return false
	}
	for ; d.half < to; d.half++ {
		d.ring[d.half%int64(points)] = round(d.point())
		d.n = 0
	}
	return true
}

// point is the median of the latest samples.
func (d *day) point() Values {
	v := Nothing()
	for i := range v {
		all := make([]float32, 0, together)
		for _, sample := range d.latest[:d.n] {
			if v := sample.of(Signal(i)); !math.IsNaN(float64(v)) {
				all = append(all, v)
			}
		}
		if len(all) > 0 {
			v[i] = median(all)
		}
	}
	return v
}

// add adds a sample. A half hour that has enough of them needs no more.
func (d *day) add(v Values) {
	if d.n < together {
		d.latest[d.n] = round(v)
		d.n++
	}
}

// of are the points that are known of a signal.
func (d *day) of(s Signal) []float32 {
	all := make([]float32, 0, points)
	if d.half == 0 {
		return all
	}
	for i := range d.ring {
		if v := d.ring[i].of(s); !math.IsNaN(float64(v)) {
			all = append(all, v)
		}
	}
	return all
}

// sampled is how many points have anything that is known.
func (d *day) sampled() (n int) {
	for i := range d.ring {
		for s := range Signals {
			if v := d.ring[i].of(s); !math.IsNaN(float64(v)) {
				n++
				break
			}
		}
	}
	return n
}

func halfOf(now time.Time, every time.Duration) int64 {
	return now.UnixNano() / int64(together*every)
}
