package anomaly

import (
	"math"
	"time"
)

// day is what a member was like in the last day, by the time of day and not by how many samples there were: what nobody has looked at is not
// known, and what is older than a day is forgotten. The zero value is of no use before it begins.
type day struct {
	// ring has a point of each quarter of an hour, Nothing of one without a sample, that of the quarter with number q at q modulo points.
	ring [points]rounded
	// latest are the samples of the quarter that is not over, and n is how many of them there are; quarter is its number since 1970, 0 before
	// the day begins.
	latest  [together]Values
	n       uint8
	quarter int64
}

// begins forgets all, from now on.
func (d *day) begins(now time.Time, every time.Duration) {
	*d = day{quarter: quarterOf(now, every)}
	for i := range d.ring {
		d.ring[i] = round(Nothing())
	}
}

// goesOn has the day end now, and reports whether anything of it is known: nothing is before it begins, a day after the last sample, or if the
// clock went back.
func (d *day) goesOn(now time.Time, every time.Duration) bool {
	to := quarterOf(now, every)
	if d.quarter == 0 || to < d.quarter || to-d.quarter > int64(points) {
		return false
	}
	for ; d.quarter < to; d.quarter++ {
		d.ring[d.quarter%int64(points)] = round(d.point())
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
			if !math.IsNaN(float64(sample[i])) {
				all = append(all, sample[i])
			}
		}
		if len(all) > 0 {
			v[i] = median(all)
		}
	}
	return v
}

// add adds a sample. A quarter that has enough of them needs no more.
func (d *day) add(v Values) {
	if d.n < together {
		d.latest[d.n] = v
		d.n++
	}
}

// of are the points that are known of a signal.
func (d *day) of(s Signal) []float32 {
	all := make([]float32, 0, points)
	if d.quarter == 0 {
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

func quarterOf(now time.Time, every time.Duration) int64 {
	return now.UnixNano() / int64(together*every)
}
