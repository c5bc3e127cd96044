package claim

import "time"

// Record is what a Lease says. The zero value is one that is not there.
type Record struct {
	// Holder is who holds it, empty if nobody does.
	Holder string
	// Renewed is when the holder has renewed it last, by the holder's clock: it is compared only with what it was before.
	Renewed string
}

// Lease is what this operator has seen of another one's Lease, with times by its own clock. The zero value has not been looked
// at.
type Lease struct {
	// looked is when it was looked at last, alive when it was last seen held and renewed, or else looked at first.
	looked, alive time.Time
	// renewed is true if it was ever seen to be renewed, forbidden if it may not be read.
	renewed, forbidden bool
	last               Record
}

// unseen is the longest time between two looks that counts. When the API server is away nobody can renew a Lease.
const unseen = TakeOverAfter / 2

// Look adds what the Lease says now.
func (l Lease) Look(now time.Time, says Record) Lease {
	next := Lease{looked: now, alive: l.alive, renewed: l.renewed, last: says}
	if gap := now.Sub(l.looked); gap > unseen {
		next.alive = l.alive.Add(gap)
	}
	switch {
	case l.looked.IsZero() || l.forbidden:
		next.alive, next.renewed = now, false
	case says.Holder != "" && says != l.last:
		next.alive, next.renewed = now, true
	}
	return next
}

// Refused adds that the Lease may not be read.
func (Lease) Refused(now time.Time) Lease { return Lease{looked: now, forbidden: true} }

// Due reports whether it is to be looked at again, as it is after so long.
func (l Lease) Due(now time.Time, every time.Duration) bool {
	return l.looked.IsZero() || now.Sub(l.looked) >= every
}

// Still is for how long the Lease has not been held and renewed, without the time in which it was not looked at for long.
func (l Lease) Still() time.Duration { return l.looked.Sub(l.alive) }
