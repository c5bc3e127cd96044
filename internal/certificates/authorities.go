package certificates

import "slices"

// authorities is a set of them, by fingerprint: sorted, each once.
type authorities []string

// union is what is in any of the sets.
func union(sets ...authorities) authorities {
	all := slices.Concat(sets...)
	slices.Sort(all)
	return slices.Compact(all)
}

// verify reports whether one of these authorities is among those that have issued a leaf.
func (a authorities) verify(issuers authorities) bool {
	return slices.ContainsFunc(issuers, func(i string) bool { _, found := slices.BinarySearch(a, i); return found })
}

func (a authorities) equal(other authorities) bool { return slices.Equal(a, other) }
