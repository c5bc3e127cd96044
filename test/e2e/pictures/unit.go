package pictures

import (
	"fmt"
	"math"
	"strconv"
)

// step is a unit that is so many of the smallest one.
type step struct {
	size float64
	name string
}

var (
	times = []step{{86400, " d"}, {3600, " h"}, {60, " min"}, {1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}}
	sizes = []step{{1 << 40, " TiB"}, {1 << 30, " GiB"}, {1 << 20, " MiB"}, {1 << 10, " KiB"}, {1, " B"}}
)

// number writes a number in a unit, which is in Grafana's words.
func number(v float64, unit string) string {
	switch unit {
	case "s":
		return scaled(v, times)
	case "bytes":
		return scaled(v, sizes)
	case "Bps":
		return scaled(v, sizes) + "/s"
	case "percentunit":
		return short(v*100) + " %"
	case "reqps":
		return short(v) + " req/s"
	case "ops":
		return short(v) + " /s"
	default:
		return short(v)
	}
}

// scaled writes a number in the largest unit of which it is at least one.
func scaled(v float64, steps []step) string {
	if v == 0 {
		return "0"
	}
	for _, s := range steps {
		if math.Abs(v) >= s.size {
			return short(v/s.size) + s.name
		}
	}
	smallest := steps[len(steps)-1]
	return short(v/smallest.size) + smallest.name
}

// short writes three digits, and all those before the point.
func short(v float64) string {
	if math.Abs(v) >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	rounded, err := strconv.ParseFloat(fmt.Sprintf("%.3g", v), 64)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strconv.FormatFloat(rounded, 'g', -1, 64)
}

// between is a distance of marks on an axis, that is round in the unit, so that there are at most five of them.
func between(low, high float64, unit string) float64 {
	base := 1.0
	if unit == "bytes" || unit == "Bps" {
		for base*1024 <= high {
			base *= 1024
		}
	}
	if unit == "s" {
		for _, s := range times[:3] {
			if high >= 2*s.size {
				base = s.size
				break
			}
		}
	}
	rough := (high - low) / 4 / base
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, factor := range []float64{1, 2, 5} {
		if rough <= factor*power {
			return factor * power * base
		}
	}
	return 10 * power * base
}
