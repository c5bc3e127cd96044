package certificates

import "slices"

// most is how many members a world may have.
const most = 3

// set is a set of authorities: authority 1 is bit 0, and so on. A leaf is known by its issuer, 0 for none.
type set uint8

func of(issuer uint8) set {
	if issuer == 0 {
		return 0
	}
	return 1 << (issuer - 1)
}

// names is a set as decisions know it.
func (s set) names() authorities { return allNames[s] }

var allNames = func() (all [256]authorities) {
	for s := range all {
		for i := range 8 {
			if s&(1<<i) != 0 {
				all[s] = append(all[s], string(rune('a'+i)))
			}
		}
	}
	return all
}()

func read(a authorities) (s set) {
	for _, name := range a {
		s |= 1 << (name[0] - 'a')
	}
	return s
}

// person is a member with its pod.
type person struct {
	listed, pod       bool
	trust             set
	published, served uint8
}

// pass is one of the operator's: what it has decided and not yet written.
type pass struct {
	active, wipe, record bool
	leaves               [most]uint8
	client               uint8
	agent                bool
	trust, roots         set
}

// flight is a pod that the operator has asked for and that does not exist yet. It is old once another pass has begun.
type flight struct {
	asked, old bool
	member     int8
	trust      set
}

// world is a cluster's one side. It is comparable: equal worlds have the same future.
type world struct {
	members [most]person
	client  uint8 // who has issued the agents' and the operator's leaf
	// has is what applications have read of that, if there are any.
	has             application
	roots, recorded set
	// kept are the roots that status records.
	kept            set
	source          origin
	edits           int8 // how many are done
	current, former uint8
	expired         set
	pass            pass
	flight          flight
}

// rules are what may happen in a world.
type rules struct {
	// clients is whether it is the clients' side, and foreign are authorities that only clients know.
	clients bool
	// applications is whether there are clients that take their time to read what they are given.
	applications bool
	// deleting is whether the Secrets of agents and applications are deleted at any time, with the operator restarted.
	deleting bool
	foreign  set
	// edits are the sources that the user turns to, in this order, at any time. Those who copy are leaves of the user.
	edits  []origin
	copied set
	// size is how many members there are at first, and joins how many places there are.
	size, joins int
	// replacing is whether a member is updated by another one that joins, as is the case on emptyDirs.
	replacing bool
	// expiring are those that may expire once they are not the source's.
	expiring set
	decide   func(side) verdict
}

func (r *rules) first() world {
	w := world{source: r.edits[0], edits: 1}
	for i := range r.size {
		w.members[i].listed = true
	}
	if w.source.own {
		w.current = w.source.leaf
	}
	return w
}

// ask says who answers when members are asked what they serve: nobody is asked, all answer, or all but one.
type ask int8

const (
	nobody ask = -2
	all    ask = -1
)

// observe is the side that the operator sees, and whom each holder is.
func (r *rules) observe(w world, who ask) (side, []int) {
	s := side{asked: who != nobody, members: circle{source: w.source.trust.names(), recorded: w.recorded.names()}}
	process := func(c *circle, trust set) {
		if live := trust &^ w.expired; live != 0 {
			c.processes = append(c.processes, live.names())
		}
	}
	process(&s.members, w.recorded)
	var whom []int
	for i, m := range w.members {
		if m.pod {
			process(&s.members, m.trust)
		}
		if !m.listed && !m.pod {
			continue
		}
		whom = append(whom, i)
		h := r.holder(w, m.published, w.source.leaf)
		h.member, h.running = true, m.pod
		if s.asked && m.served != 0 && int8(who) != int8(i) {
			h.served = outdated
			if m.served == m.published {
				h.served = confirmed
			}
		}
		for j, other := range w.members {
			if j != i && r.copied&of(other.published) != 0 {
				h.offers = append(h.offers, w.offer(other.published, false, true)...)
			}
		}
		s.holders = append(s.holders, h)
	}
	if r.clients {
		s.clients = &circle{source: w.source.roots.names(), recorded: w.kept.names()}
		process(s.clients, w.kept)
		process(s.clients, w.roots)
		s.holders, whom = append(s.holders, r.holder(w, w.client, w.source.client)), append(whom, most)
	}
	return s, whom
}

func (r *rules) holder(w world, has, given uint8) holder {
	h := holder{has: (of(has) &^ w.expired).names(), due: !w.source.broken && has != given}
	if !w.source.own && !w.source.broken {
		h.offers = w.offer(given, true, false)
	}
	for _, signer := range []uint8{w.current, w.former} {
		h.offers = append(h.offers, w.offer(signer, w.source.own && signer == w.current, false)...)
	}
	return h
}

func (w world) offer(issuer uint8, source, copied bool) []offer {
	if live := of(issuer) &^ w.expired; live != 0 {
		return []offer{{issuers: live.names(), source: source, copied: copied}}
	}
	return nil
}

// begin lets the operator observe and decide. It returns the same world if there is nothing to do.
func (r *rules) begin(w world, who ask, reading bool) world {
	s, whom := r.observe(w, who)
	s.reading = reading
	v := r.decide(s)
	p := pass{active: true, trust: read(v.trust), roots: read(v.roots)}
	for i, pick := range v.picks {
		switch {
		case pick == keep:
		case whom[i] == most:
			p.client = s.holders[i].offers[pick].issuers[0][0] - 'a' + 1
		default:
			p.leaves[whom[i]] = s.holders[i].offers[pick].issuers[0][0] - 'a' + 1
		}
	}
	p.wipe = (w.former != 0 || !w.source.own && w.current != 0) && s.turned(v)
	p.agent = r.clients && (p.roots != w.roots || p.client != 0)
	p.record = p.trust != w.recorded || r.clients && p.roots != w.kept
	if p.roots != w.kept { // they have to be in status before anybody gets them
		p.agent, p.client, p.leaves = false, 0, [most]uint8{}
	}
	w.pass = p
	w.flight.old = w.flight.asked
	return w
}

// idle is a pass that has nothing to write.
func (p pass) idle() bool { return !p.wipe && !p.record && !p.agent && p.leaves == [most]uint8{} }

// write carries out the next write of the pass, in the order of Decision.Writes. The trust is recorded after them.
func (w world) write() world {
	p := &w.pass
	switch i := slices.IndexFunc(p.leaves[:], func(l uint8) bool { return l != 0 }); {
	case p.wipe:
		w.former, p.wipe = 0, false
		if !w.source.own {
			w.current = 0
		}
	case p.agent:
		w.roots, p.agent = p.roots, false
		if p.client != 0 {
			w.client, p.client = p.client, 0
		}
	case i >= 0:
		if w.members[i].listed { // The name of one that left does not come back.
			w.members[i].published = p.leaves[i]
		}
		p.leaves[i] = 0
	case p.record:
		w.recorded, w.kept, p.record = p.trust, p.roots, false
	}
	return w
}

// create asks for the pod of a member, which ends the pass.
func (w world) create(i int) world {
	w.flight = flight{asked: true, member: int8(i), trust: w.pass.trust}
	w.pass = pass{}
	return w
}

// land creates the pod that was asked for, unless there is one.
func (w world) land() world {
	if m := &w.members[w.flight.member]; m.listed && !m.pod {
		m.pod, m.trust, m.served = true, w.flight.trust, m.published
	}
	w.flight = flight{}
	return w
}
