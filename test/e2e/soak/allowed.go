package soak

import "slices"

// Allowed says whether an action may be done while others are under way. The operator promises to keep data that a majority has:
// data is lost only where all other members have theirs, where the operator moves none of it, and of a minority at most. What
// loses no data may happen to any number of members at once.
func Allowed(w World, under []Action, a Action) bool {
	if !possible(w, a) || slices.ContainsFunc(under, func(u Action) bool { return excludes(u, a) || excludes(a, u) }) {
		return false
	}
	if !Loses(w, a) {
		return !touches(w, a) || !slices.ContainsFunc(under, func(u Action) bool { return Loses(w, u) })
	}
	return minority(w, a) && healthy(w) && !slices.ContainsFunc(under, func(u Action) bool { return touches(w, u) })
}

// possible says whether there is something that the action can be done to.
func possible(w World, a Action) bool {
	t := traitOf(a.Kind)
	switch {
	case t.on != nil && !slices.Contains(t.on, w.Storage):
		return false
	case t.scope == toMember:
		return a.Member < len(w.Members)
	case t.scope == toNode:
		return a.Node < w.Nodes
	case a.Kind == Resize:
		return a.Size != len(w.Members) && a.Size >= 1 && a.Size <= MaxSize
	case a.Kind == Upgrade:
		return !w.Newest
	case a.Kind == Restore:
		return w.Backups > 0
	default:
		return t.scope != 0
	}
}

// excludes says whether one action must not be done while another one is under way: there is one of each scope at a time, except
// for faults of different members and nodes.
func excludes(under, a Action) bool {
	one, other := traitOf(under.Kind).scope, traitOf(a.Kind).scope
	switch {
	case one == toMember && other == toMember:
		return under.Member == a.Member
	case one == toNode && other == toNode:
		return under.Node == a.Node
	case one == toClock && other == toAPI:
		return true // the certificates and leases of the lab itself are not what is tried
	case one == toStore && other == toBackups, one == toBackups && other == toStore:
		return false
	default:
		return one == other
	}
}

// Loses says whether an action takes a member's data.
func Loses(w World, a Action) bool {
	return slices.Contains(traitOf(a.Kind).loses, w.Storage) && len(harmed(w, a)) > 0
}

// touches says whether members do not work as they did, or are moved by the operator, because of an action.
func touches(w World, a Action) bool {
	return traitOf(a.Kind).scope == toSpec || len(harmed(w, a)) > 0
}

// harmed lists the members that an action is done to.
func harmed(w World, a Action) (places []int) {
	for i, m := range w.Members {
		switch traitOf(a.Kind).scope {
		case toMember:
			if i == a.Member {
				places = append(places, i)
			}
		case toNode:
			if m.Node == a.Node && a.Kind != RemoveImage {
				places = append(places, i)
			}
		default:
		}
	}
	return places
}

// minority says whether those that an action is done to are few enough for the others to decide without them.
func minority(w World, a Action) bool {
	n := len(harmed(w, a))
	return n <= (len(w.Members)-1)/2
}

func healthy(w World) bool {
	return !slices.ContainsFunc(w.Members, func(m Member) bool { return !m.Healthy })
}
