package certificates

import (
	"fmt"
	"slices"
	"testing"
)

// moves are all worlds that may come next.
func (r *rules) moves(w world) []world {
	var next []world
	if w.pass.active {
		next = append(next, r.during(w)...)
	} else if !w.flight.old {
		for who := nobody; int(who) < r.joins; who++ {
			for _, reading := range r.waits(w) {
				next = append(next, r.begin(w, who, reading))
			}
		}
	}
	if w.flight.asked {
		lost := w
		lost.flight = flight{}
		next = append(next, w.land(), lost)
	}
	if r.reads(w) {
		informed := w
		informed.has = application{w.roots, w.client}
		next = append(next, informed)
	}
	if r.deleting && (w.client != 0 || w.roots != 0) {
		deleted := w
		deleted.client, deleted.roots = 0, 0
		next = append(next, deleted)
	}
	if changed, ok := r.edit(w); ok {
		next = append(next, changed)
	}
	for i := range r.joins {
		next = append(next, r.member(w, i)...)
	}
	for issuer := uint8(1); issuer <= 8; issuer++ {
		if a := of(issuer); r.expiring&a&^w.expired != 0 && w.source.trust&a == 0 {
			expired := w
			expired.expired |= a
			next = append(next, expired)
		}
	}
	return next
}

// during are the moves of an operator: it goes on, or it ends, at any moment.
func (r *rules) during(w world) []world {
	ended := w
	ended.pass = pass{}
	next := []world{ended}
	if !w.pass.idle() {
		return append(next, w.write())
	}
	for i, m := range w.members {
		if m.listed && !m.pod && m.published != 0 && w.pass.trust != 0 && !w.flight.asked {
			next = append(next, w.create(i))
		}
	}
	return next
}

// member are the moves of a member, its pod, and the kubelet.
func (r *rules) member(w world, i int) []world {
	m := w.members[i]
	var next []world
	change := func(to person) {
		changed := w
		changed.members[i] = to
		next = append(next, changed)
	}
	switch {
	case !m.listed:
		change(person{listed: true})
	case m.pod:
		change(person{listed: true, published: m.published})
	case r.applications && w.listed() == 1: // A cluster that has applications always has a member.
	default:
		change(person{})
		if left := &next[0]; left.flight.asked && int(left.flight.member) == i { // Another member will have another name.
			left.flight = flight{}
		}
	}
	if m.pod && m.served != m.published {
		m.served = m.published
		change(m)
	}
	return next
}

// broken is what is wrong in a world, empty if nothing is.
func (r *rules) broken(w world) string {
	for _, b := range w.members {
		live := b.trust &^ w.expired
		if !b.pod || live == 0 {
			continue
		}
		for i, a := range w.members {
			if leaves := w.presents(a) &^ r.foreign; leaves&^live != 0 {
				return fmt.Sprintf("member %d presents leaves of %v to one that trusts %v", i, leaves.names(), live.names())
			}
		}
		if leaf := (of(w.client) | of(w.has.client)) &^ w.expired; leaf&^live != 0 {
			return fmt.Sprintf("a client presents a leaf of %v to one that trusts %v", leaf.names(), live.names())
		}
	}
	for i, a := range w.members {
		leaves := w.presents(a)
		for _, roots := range []set{w.roots, w.has.roots} {
			if live := roots &^ w.expired; r.clients && live != 0 && leaves&^live != 0 {
				return fmt.Sprintf("member %d presents leaves of %v to clients that trust %v", i, leaves.names(), live.names())
			}
		}
	}
	return ""
}

// presents are the issuers of what a member presents. One that cannot verify anybody any more connects to nobody, whatever it presents.
func (w world) presents(m person) set {
	if !m.pod || m.trust&^w.expired == 0 {
		return 0
	}
	return (of(m.published) | of(m.served)) &^ w.expired
}

// fair is the next world if nothing but what is bound to happen happens: one thing, or nothing if all is settled.
func (r *rules) fair(w world) world {
	if w.flight.asked {
		return w.land()
	}
	for i, m := range w.members {
		if m.pod && m.served != m.published {
			w.members[i].served = m.published
			return w
		}
	}
	if r.reads(w) && !w.pass.active {
		w.has = application{w.roots, w.client}
		return w
	}
	if !w.pass.active {
		w = r.begin(w, all, r.missing(w))
	}
	if !w.pass.idle() {
		return w.write()
	}
	for i, m := range w.members {
		if m.listed && !m.pod && m.published != 0 && w.pass.trust != 0 {
			return w.create(i)
		}
	}
	w = r.update(w)
	w.pass = pass{}
	return w
}

// update is the next step of an update of the members: one of them stops, and comes back or has a successor.
func (r *rules) update(w world) world {
	i := slices.IndexFunc(w.members[:], func(m person) bool { return m.pod && m.trust != w.pass.trust })
	n := w.listed()
	ready := !slices.ContainsFunc(w.members[:], func(m person) bool { return m.listed && m.served == 0 })
	switch {
	case i < 0:
	case !r.replacing:
		w.members[i] = person{listed: true, published: w.members[i].published}
	case n == r.joins && ready:
		w.members[i] = person{}
	case n < r.joins:
		w.members[slices.IndexFunc(w.members[:r.joins], func(m person) bool { return !m.listed })].listed = true
	}
	return w
}

// unsettled is what is missing when nothing more happens.
func (r *rules) unsettled(w world) string {
	for i, m := range w.members {
		if m.listed && (!m.pod || m.trust != w.source.trust || m.served != w.source.leaf) {
			return fmt.Sprintf("member %d: %+v", i, m)
		}
	}
	switch {
	case w.recorded != w.source.trust:
		return fmt.Sprintf("new members trust %v", w.recorded.names())
	case w.former != 0 || !w.source.own && w.current != 0:
		return "an authority is kept"
	case r.clients && (w.roots != w.source.roots || w.client != w.source.client):
		return fmt.Sprintf("clients trust %v", w.roots.names())
	}
	return ""
}

// settles follows a world until nothing more happens.
func (r *rules) settles(w world, known map[world]bool) string {
	if w.source.broken || w.source.trust&w.expired != 0 {
		return ""
	}
	for range 300 {
		if known[w] {
			return ""
		}
		next := r.fair(w)
		if why := r.broken(next); why != "" {
			return why
		}
		if next == w {
			return r.unsettled(w)
		}
		known[w] = true
		w = next
	}
	return "it never ends"
}

// explore visits every world that can come about, and returns the number of them and what is wrong first.
func (r *rules) explore() (int, string) {
	first := r.first()
	seen, queue, known := map[world]world{first: first}, []world{first}, map[world]bool{}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		why := r.broken(w)
		if why == "" {
			why = r.settles(w, known)
		}
		if why != "" {
			return len(seen), why + r.path(seen, w)
		}
		for _, next := range r.moves(w) {
			next = next.sorted()
			if _, found := seen[next]; !found {
				seen[next] = w
				queue = append(queue, next)
			}
		}
	}
	return len(seen), ""
}

// sorted is the same world with its members in an order: they differ in nothing but their names. While a pass goes on they have
// them.
func (w world) sorted() world {
	if w.pass.active || w.flight.asked {
		return w
	}
	slices.SortFunc(w.members[:], func(a, b person) int { return slices.Compare(a.key(), b.key()) })
	return w
}

func (p person) key() []uint8 {
	bit := func(b bool) uint8 {
		if b {
			return 0
		}
		return 1
	}
	return []uint8{bit(p.listed), bit(p.pod), uint8(p.trust), p.published, p.served}
}

func (r *rules) path(seen map[world]world, w world) string {
	var text string
	for {
		text = "\n" + w.String() + text
		before := seen[w]
		if before == w {
			return text
		}
		w = before
	}
}

// String is short, for people: of each member the pod's trust, and what is published and served.
func (w world) String() string {
	var text string
	for i, m := range w.members {
		if m.listed || m.pod {
			text += fmt.Sprintf("%d{pod=%v %v pub=%d srv=%d} ", i, m.pod, m.trust.names(), m.published, m.served)
		}
	}
	return text + fmt.Sprintf("client=%d roots=%v kept=%v has=%v recorded=%v source=%+v ca=%d,%d expired=%v pass=%+v flight=%+v",
		w.client, w.roots.names(), w.kept.names(), w.has, w.recorded.names(), w.source, w.current, w.former, w.expired.names(), w.pass, w.flight)
}

func TestExploreTrust(t *testing.T) {
	for name, r := range worlds() {
		t.Run(name, func(t *testing.T) {
			r.decide = next
			n, why := r.explore()
			if why != "" {
				t.Error(why)
			}
			t.Logf("%d worlds", n)
		})
	}
}
