package anomaly

import "slices"

// median is that of at least one number. It sorts them.
func median(of []float32) float32 {
	slices.Sort(of)
	n := len(of)
	if n%2 == 1 {
		return of[n/2]
	}
	return (of[n/2-1] + of[n/2]) / 2
}

// spread is the median of these numbers, and the median of how far each is from it (MAD): neither minds a few that are far off. Both are 0 for
// none.
func spread(of []float32) (middle, deviation float32) {
	if len(of) == 0 {
		return 0, 0
	}
	all := slices.Clone(of)
	middle = median(all)
	for i, v := range all {
		all[i] = max(v-middle, middle-v)
	}
	return middle, median(all)
}
