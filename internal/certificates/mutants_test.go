package certificates

import (
	"maps"
	"slices"
	"testing"
)

// worlds are those that are explored.
func worlds() map[string]*rules {
	return map[string]*rules{
		"one member, sources of the user, there and back": {size: 1, joins: 1, edits: []origin{static(1), static(2), static(1)}, copied: 3},
		"one member, three sources of the user":           {size: 1, joins: 2, edits: []origin{static(1), static(2), static(3)}, copied: 7},
		"two members, sources of the user":                {size: 2, joins: 2, edits: []origin{static(1), static(2)}, copied: 3},
		"two members, there and back":                     {size: 2, joins: 2, edits: []origin{static(1), static(2), static(1)}, copied: 3},
		"a user's source, one with both, the next": {size: 2, joins: 2, copied: 3, edits: []origin{
			static(1), {trust: 3, leaf: 1}, static(2),
		}},
		"an authority of the cluster's own is replaced": {size: 2, joins: 2, edits: []origin{managedBy(1), managedBy(2)}},
		"from the user's to the cluster's own and back": {size: 1, joins: 2, copied: 5, edits: []origin{static(1), managedBy(2), static(3)}},
		"a source breaks and another takes its place":   {size: 1, joins: 2, copied: 3, edits: []origin{static(1), {broken: true}, static(2)}},
		"an authority expires":                          {size: 2, joins: 2, copied: 3, edits: []origin{static(1), static(2)}, expiring: 3},
		"clients, an authority of the cluster's own":    {clients: true, size: 1, joins: 2, edits: []origin{managedBy(1), managedBy(2)}},
		"applications, two authorities of the cluster's own": {
			clients: true, applications: true, size: 1, joins: 2, edits: []origin{managedBy(1), managedBy(2)},
		},
		"applications, three of them": {
			clients: true, applications: true, size: 1, joins: 1, edits: []origin{managedBy(1), managedBy(2), managedBy(3)},
		},
		"applications, an issuer begins late": {
			clients: true, applications: true, size: 1, joins: 2, edits: []origin{noneIssued(), managedBy(1), managedBy(2)},
		},
		"applications, their Secret is deleted": {
			clients: true, applications: true, deleting: true, size: 1, joins: 2, edits: []origin{managedBy(1), managedBy(2)},
		},
		"agents, their Secret is deleted": {
			clients: true, deleting: true, size: 1, joins: 2, copied: 10, foreign: 10, edits: []origin{twofold(1, 2), twofold(3, 4)},
		},
		"clients, two authorities of the user": {
			clients: true, size: 1, joins: 2, copied: 10, foreign: 10, edits: []origin{twofold(1, 2), twofold(3, 4)},
		},
		"clients, from the user's to the cluster's own": {
			clients: true, size: 1, joins: 2, copied: 2, foreign: 2, edits: []origin{twofold(1, 2), managedBy(3)},
		},
		"clients, from the user's to an issuer that begins late": {
			clients: true, size: 1, joins: 2, copied: 2, foreign: 2, edits: []origin{twofold(1, 2), noneIssued(), managedBy(3)},
		},
		"members without volumes": {size: 1, joins: 2, replacing: true, copied: 3, edits: []origin{static(1), static(2), static(1)}},
		"members without volumes, from the user's to the cluster's own": {
			size: 1, joins: 2, replacing: true, copied: 1, edits: []origin{static(1), managedBy(2), managedBy(3)},
		},
		"the cluster's own authorities are lost, twice": {
			size: 1, joins: 2, replacing: true, copied: 7, edits: []origin{managedBy(1), afterLoss(2), afterLoss(3)},
		},
		"they are lost while one is replaced": {
			size: 1, joins: 2, replacing: true, copied: 7, edits: []origin{managedBy(1), managedBy(2), afterLoss(3)},
		},
		"two members without volumes, the authorities are lost": {
			size: 2, joins: 3, replacing: true, copied: 3, edits: []origin{managedBy(1), afterLoss(2)},
		},
		"those of clients are lost": {
			clients: true, size: 1, joins: 2, replacing: true, copied: 3, edits: []origin{managedBy(1), afterLoss(2)},
		},
		"members without volumes, clients": {
			clients: true, size: 1, joins: 2, replacing: true, copied: 2, foreign: 2, edits: []origin{twofold(1, 2), managedBy(3)},
		},
		"three members, there and back": {size: 3, joins: 3, copied: 3, edits: []origin{static(1), static(2), static(1)}},
		"three members, two authorities of the cluster's own": {
			size: 3, joins: 3, edits: []origin{managedBy(1), managedBy(2), managedBy(3)},
		},
		"three members, three sources, and authorities that expire": {
			size: 2, joins: 3, copied: 7, edits: []origin{static(1), static(2), static(3)}, expiring: 3,
		},
	}
}

// mutants are decisions that are wrong in one way each: the exploration has to find every one.
func mutants() map[string]func(side) verdict {
	return map[string]func(side) verdict{
		"trust is narrowed at once": func(s side) verdict {
			v := next(s)
			if len(s.members.source) > 0 {
				v.trust = s.members.source
			}
			return v
		},
		"leaves are published before they are trusted": func(s side) verdict {
			v := next(s)
			blind := s
			blind.members.processes = nil
			v.picks = next(blind).picks
			return v
		},
		"new members get the source's leaf at once": func(s side) verdict {
			v := next(s)
			for i, h := range s.holders {
				if len(h.has) == 0 && len(h.offers) > 0 {
					v.picks[i] = 0
				}
			}
			return v
		},
		"what is published counts as served": func(s side) verdict {
			s.holders = slices.Clone(s.holders)
			for i := range s.holders {
				s.holders[i].served = confirmed
			}
			return next(s)
		},
		"who does not answer serves what is published": func(s side) verdict {
			s.holders = slices.Clone(s.holders)
			for i, h := range s.holders {
				if h.served == silent {
					s.holders[i].served = confirmed
				}
			}
			return next(s)
		},
		"a pod that was just asked for does not count": func(s side) verdict {
			if len(s.members.recorded) > 0 {
				s.members.processes = s.members.processes[1:]
			}
			return next(s)
		},
		"clients are not asked": func(s side) verdict {
			if s.clients != nil {
				s.clients = &circle{source: s.clients.source}
			}
			return next(s)
		},
		"what status records of clients is not read": func(s side) verdict {
			if s.clients != nil && len(s.clients.recorded) > 0 {
				s.clients = &circle{source: s.clients.source, processes: s.clients.processes[1:]}
			}
			return next(s)
		},
		"applications are given no time": func(s side) verdict {
			s.reading = false
			return next(s)
		},
		"who joins gets the source's leaf before applications have read": func(s side) verdict {
			v, read := next(s), s
			read.reading = false
			for i, h := range s.holders {
				if h.member && len(h.has) == 0 {
					v.picks[i] = read.best(h)
				}
			}
			return v
		},
		"a client's leaf and what members trust change together": func(s side) verdict {
			v := next(s)
			if !s.reading {
				v.trust, _ = s.members.trust(presented(s, v.picks, false))
			}
			return v
		},
		"the trust is never narrowed": func(s side) verdict {
			v := next(s)
			v.trust = union(append([]authorities{v.trust}, s.members.processes...)...)
			return v
		},
		"the trust is never widened": func(s side) verdict {
			v := next(s)
			if len(s.members.recorded) > 0 {
				v.trust = s.members.recorded
			}
			return v
		},
	}
}

func TestTrustMutants(t *testing.T) {
	for name, decide := range mutants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := worlds()
			for _, world := range slices.Sorted(maps.Keys(all)) {
				r := all[world]
				r.decide = decide
				if _, why := r.explore(); why != "" {
					t.Logf("found in %q: %.200s", world, why)
					return
				}
			}
			t.Error("the exploration does not find it")
		})
	}
}
