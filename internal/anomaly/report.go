package anomaly

import "time"

// Report is what is known of a cluster's members.
type Report struct {
	// Known are the members that are known for a day, and Learning those that are not, by name; both sorted. Until is when the first of the
	// latter is known at the earliest, zero if that was not sampled yet.
	Known, Learning []string
	Until           time.Time
	// Deviations are what is unusual, in the order of the members' names.
	Deviations []MemberDeviation
	// Trips is how long round trips took; nil if nobody is to be advised by it.
	Trips *Trips
}

// MemberDeviation is something unusual of a member.
type MemberDeviation struct {
	Member string
	Deviation
}
