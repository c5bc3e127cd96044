package anomaly

import "time"

// Report is what is known of a cluster's members.
type Report struct {
	// Known are the members of whose last day enough is known, Learning those of which it is not, and Unseen those of which no sample was taken
	// for an hour, by name; all are sorted. Until is when the first of Learning is known for a day, zero if none was sampled yet, or if all are
	// and were sampled too seldom.
	Known, Learning, Unseen []string
	Until                   time.Time
	// Blind is true if no sample of any member was taken for an hour: what is told is not known any more.
	Blind bool
	// Deviations are what is unusual, in the order of the members' names.
	Deviations []MemberDeviation
	// Scarce are what is known too seldom of members that are known, to be compared.
	Scarce []MemberSignal
	// Trips is how long round trips took; nil if nobody is to be advised by it.
	Trips *Trips
}

// MemberSignal is a signal of a member.
type MemberSignal struct {
	Member string
	Signal Signal
}

// MemberDeviation is something unusual of a member.
type MemberDeviation struct {
	Member string
	Deviation
}
