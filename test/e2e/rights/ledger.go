package rights

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// starting is for how long an API server may refuse what the roles grant, because it has not read them yet. The operator
	// itself bears it for 15 s (controllers/outage).
	starting = 20 * time.Second
	// apart is how far two refusals of one kind must be from each other to be of two occasions: longer than the operator
	// waits before it tries again.
	apart = 45 * time.Second
)

// Ledger is an account of what was granted and what was used of it.
type Ledger struct {
	granted []Grant
	used    map[Grant]int
	// missing are requests that no grant covers, without their names.
	missing map[Grant]int
	// refused are those that one covers, and that were refused all the same.
	refused map[Grant]occasion
}

// occasion is a time in which requests of one kind were refused again and again, the longest one so far and the last one.
type occasion struct {
	longest     time.Duration
	first, last time.Time
	requests    int
}

// NewLedger is one in which nothing was used.
func NewLedger(granted []Grant) *Ledger {
	return &Ledger{granted: granted, used: map[Grant]int{}, missing: map[Grant]int{}, refused: map[Grant]occasion{}}
}

// Enter takes a request down.
func (l *Ledger) Enter(at time.Time, took []Grant, allowed bool) {
	for _, r := range took {
		by, covered := l.covering(r)
		r.Name = ""
		switch {
		case allowed && covered:
			l.used[by]++
		case allowed: // by what everybody may
		case !covered:
			l.missing[r]++
		default:
			o := l.refused[r]
			if o.first.IsZero() || at.Sub(o.last) > apart {
				o.first = at
			}
			o.last, o.requests = at, o.requests+1
			o.longest = max(o.longest, at.Sub(o.first))
			l.refused[r] = o
		}
	}
}

// Forgive forgets that rights were refused which somebody has taken away on purpose.
func (l *Ledger) Forgive(taken []Grant) {
	for _, g := range taken {
		maps.DeleteFunc(l.refused, func(r Grant, _ occasion) bool { return g.covers(r) })
	}
}

// covering is the narrowest grant that covers a request: what a Role for one namespace grants is no reason for a ClusterRole to grant it.
func (l *Ledger) covering(r Grant) (by Grant, found bool) {
	for _, g := range l.granted {
		if g.covers(r) && (!found || narrowness(g) > narrowness(by)) {
			by, found = g, true
		}
	}
	return by, found
}

func narrowness(g Grant) (n int) {
	if g.Namespace != "" {
		n += 2
	}
	if g.Name != "" {
		n++
	}
	return n
}

// Wrongs are the differences that should not be, for people, in order: requests without the right to them, rights that were refused
// for longer than a start of the API server takes, and, if all stories were told, rights that none has used and that are not excused.
func (l *Ledger) Wrongs(all bool, excused []Excuse) (wrongs []string) {
	for _, r := range sorted(l.missing) {
		wrongs = append(wrongs, fmt.Sprintf("asks for more than it may, %d times: %s", l.missing[r], r))
	}
	for _, r := range sorted(l.refused) {
		if o := l.refused[r]; o.longest > starting {
			wrongs = append(wrongs, fmt.Sprintf("was refused what its role grants, for %s, until %s: %s",
				o.longest.Round(time.Second), o.last.Format(time.TimeOnly), r))
		}
	}
	if !all {
		return wrongs
	}
	for _, g := range l.granted {
		if l.used[g] == 0 && !slices.ContainsFunc(excused, func(e Excuse) bool { return e.of(g) }) {
			wrongs = append(wrongs, "may and never does: "+g.String())
		}
	}
	for _, e := range excused {
		if !slices.ContainsFunc(l.granted, e.of) {
			wrongs = append(wrongs, "is excused for a right that it does not have: "+e.Right)
		}
	}
	return wrongs
}

// String is a table of all grants, with how often each was used.
func (l *Ledger) String() string {
	var text strings.Builder
	for _, g := range l.granted {
		_, _ = fmt.Fprintf(&text, "%8d  %s\n", l.used[g], g)
	}
	for _, r := range sorted(l.refused) {
		_, _ = fmt.Fprintf(&text, "%8d  refused, for %s at most: %s\n", l.refused[r].requests, l.refused[r].longest.Round(time.Second), r)
	}
	return text.String()
}

func sorted[V any](of map[Grant]V) []Grant {
	return slices.SortedFunc(maps.Keys(of), func(a, b Grant) int { return cmp.Compare(a.String(), b.String()) })
}
