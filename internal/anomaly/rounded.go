package anomaly

import "math"

// rounded are Values in half the memory, of which there is a day for each member: they differ from what they were made of by 0.4 % at most. What
// is unusual is more than twice as much as usual.
//
// A signal is the upper half of a float32: sign, exponent and seven bits of the fraction (bfloat16).
type rounded [Signals]uint16

// halved is by how many bits a float32 is longer.
const halved = 16

func round(v Values) (r rounded) {
	for i, value := range v {
		bits := math.Float32bits(value)
		if !math.IsNaN(float64(value)) && !math.IsInf(float64(value), 0) {
			bits += 1 << (halved - 1) // to the nearest
		}
		r[i] = uint16(bits >> halved)
	}
	return r
}

// of is the value of a signal.
func (r *rounded) of(s Signal) float32 { return math.Float32frombits(uint32(r[s]) << halved) }
