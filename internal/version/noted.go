package version

// Noted is which of these versions a cluster without a status is to run, one version for each member, as its volume or its pod has it; empty if
// there are none. It is the highest one, unless a single member has that and others have not: then it may be a release that was on trial, or one
// that a bad update has stopped at, so it is the next lower one. Any two members have it only if it was accepted, or a user has named it.
func Noted(versions []string) string {
	highest, next, members := "", "", 0
	for _, v := range versions {
		switch order := Compare(v, highest); {
		case highest == "" || order > 0:
			highest, next, members = v, highest, 1
		case order == 0:
			members++
		case next == "" || Compare(v, next) > 0:
			next = v
		}
	}
	if members == 1 && next != "" {
		return next
	}
	return highest
}
