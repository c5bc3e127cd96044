package plan

import "math"

// RevisionStep is by how much etcd's revision must have gone beyond the recorded one to be recorded again. The steps are
// coarse, so that a busy cluster does not mean a busy API server, and bounded, so that what is recorded tells where clients
// are.
func RevisionStep(recorded int64) int64 {
	const least, most, share = 1000, 10_000_000, 10
	return max(least, min(recorded/share, most))
}

// RevisionFloor is the highest revision that clients of a cluster can have seen when somebody last looked, 0 if there never
// was one: recorded is the one in status, and the others were read from etcd or from snapshots.
func RevisionFloor(recorded int64, others ...int64) int64 {
	floor := int64(0)
	if recorded > 0 {
		floor = min(recorded, math.MaxInt64-RevisionStep(recorded)) + RevisionStep(recorded)
	}
	for _, other := range others {
		floor = max(floor, other)
	}
	return floor
}
