package plan

import "math"

// revisionStep returns by how much etcd's revision must exceed the recorded one to be recorded again. The steps are coarse, so
// that a busy cluster does not keep the API server busy, and bounded, so that the recorded revision stays close to what clients
// have seen.
func revisionStep(recorded int64) int64 {
	const least, most, share = 1000, 10_000_000, 10
	return max(least, min(recorded/share, most))
}

// RevisionFloor returns the highest revision that clients of a cluster may have seen at the last observation, 0 if there was
// none: recorded is the one in status, the others were read from etcd or from snapshots.
func RevisionFloor(recorded int64, others ...int64) int64 {
	floor := int64(0)
	if recorded > 0 {
		floor = min(recorded, math.MaxInt64-revisionStep(recorded)) + revisionStep(recorded)
	}
	for _, other := range others {
		floor = max(floor, other)
	}
	return floor
}
