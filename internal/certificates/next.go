package certificates

// circle is a group of processes that accept certificates.
type circle struct {
	// source are the authorities that they are to trust in the end; empty if the source cannot be used.
	source authorities
	// recorded is what the previous decision gave to new processes, empty if that is not known.
	recorded authorities
	// processes are what those that count trust, that of the previous decision among them: a process may just have got it.
	processes []authorities
}

// accept reports whether every process that counts verifies a leaf with these issuers.
func (c circle) accept(issuers authorities) bool {
	for _, p := range c.processes {
		if !p.verify(issuers) {
			return false
		}
	}
	return true
}

// leaf is one that is presented to the processes of a circle.
type leaf struct {
	issuers authorities
	// known is false while its holder may present an earlier one in its place.
	known bool
}

// trust is what new processes are to trust: all that any process does, besides the source, until every leaf that is presented
// is one that the source verifies. The previous decision was for the source alone only if that was so, and none that the source does
// not verify was published since: then nobody has to be asked, and a member that is down changes nothing.
func (c circle) trust(leaves []leaf) (wanted authorities, unknown bool) {
	if len(c.source) == 0 && len(c.recorded) > 0 {
		return c.recorded, false
	}
	all := union(append([]authorities{c.source}, c.processes...)...)
	if all.equal(c.source) || len(c.source) == 0 {
		return all, false
	}
	for _, l := range leaves {
		if !c.source.verify(l.issuers) && all.verify(l.issuers) {
			return all, false
		}
		unknown = unknown || !l.known && !c.recorded.equal(c.source)
	}
	if unknown {
		return all, true
	}
	return c.source, false
}

// holder is who has a leaf: a member, or a client.
type holder struct {
	// member is true for members, which present it on a port, and false for clients.
	member bool
	// running is whether a pod may present what was published before.
	running bool
	// has are the issuers of the published leaf, empty if there is none, or one that is of no use.
	has authorities
	// due is whether that is to be replaced by the source's, and urgent whether it is about to expire: then it is replaced by any.
	due, urgent bool
	served      answer
	// offers are the leaves that it could get, the best first.
	offers []offer
}

// answer is what a member was found to serve.
type answer int

const (
	silent    answer = iota // It did not answer.
	outdated                // It serves another leaf than is published.
	confirmed               // It serves what is published.
)

type offer struct {
	issuers authorities
	// source is whether it is what the source gives, and copied whether another member presents it already.
	source, copied bool
}

// side is all that a decision about one side depends on.
type side struct {
	// members is what they trust. For the clients' side, clients is what clients trust.
	members circle
	clients *circle
	holders []holder
	// asked is whether the members were asked what they serve.
	asked bool
	// reading is whether applications may not have read their Secrets yet, and still trust and present what these held before: members
	// keep what they present, but for what is about to expire, and go on trusting whom they trust.
	reading bool
	// together is whether the other side is about to give up its former authority: then members go on trusting this side's as well, so that
	// one update of all members is enough.
	together bool
}

// keep is the pick for a holder that keeps what it has.
const keep = -1

// verdict is what is to be done on one side.
type verdict struct {
	// trust is for new members, and roots for clients.
	trust, roots authorities
	// picks has the number of the offer that is to be published for each holder, or keep.
	picks []int
	// replaced is the only running member that gets another leaf, or -1; lagging is whether one that did not serve its latest is
	// waited for.
	replaced int
	lagging  bool
	// refused is whether a leaf is due that not every process accepts yet.
	refused bool
	// ask is whether the decision can go on once members are asked.
	ask bool
	// waiting is whether anything has to wait until applications have read.
	waiting bool
}

// next decides about one side.
func next(s side) verdict {
	v := verdict{replaced: -1, picks: make([]int, len(s.holders))}
	for i, h := range s.holders {
		v.lagging = v.lagging || h.running && h.served == outdated
		v.picks[i] = keep
	}
	for i, h := range s.holders {
		v.pick(s, i, h)
	}
	var unknown bool
	v.trust, unknown = s.members.trust(presented(s, v.picks, false))
	v.ask = v.ask || unknown
	if wide := union(v.trust, s.members.recorded); (s.reading || s.together || s.replaces(v)) && !wide.equal(v.trust) {
		v.trust, v.waiting = wide, true
	}
	if s.clients != nil {
		v.roots, unknown = s.clients.trust(presented(s, v.picks, true))
		v.ask = v.ask || unknown
	}
	return v
}

// replaces reports whether a client gets another leaf: who uses it presents the former one until it is read.
func (s side) replaces(v verdict) bool {
	for i, h := range s.holders {
		if !h.member && len(h.has) > 0 && v.picks[i] != keep {
			return true
		}
	}
	return false
}

// pick chooses the leaf of one holder.
func (v *verdict) pick(s side, i int, h holder) {
	if len(h.has) > 0 && !h.due {
		return
	}
	best := s.best(h)
	if best != keep && s.holds(h, h.offers[best]) {
		v.refused, v.waiting = true, true
		return
	}
	v.refused = v.refused || best == keep || !h.offers[best].source
	switch {
	case best == keep:
	case !h.member || !h.running || h.urgent || !s.used(h.has):
		v.picks[i] = best
	default:
		// One running member after the other, and the next once it serves its new leaf: if there is anything wrong with that,
		// one member has it. One that does not answer is not waited for, because leaves expire.
		v.ask = true
		if s.asked && !v.lagging && v.replaced < 0 {
			v.picks[i], v.replaced = best, i
		}
	}
}

// holds reports whether a member keeps what it has until applications have read: they may not accept another authority's leaf yet.
func (s side) holds(h holder, o offer) bool {
	return s.reading && h.member && !h.urgent && len(h.has) > 0 && len(s.members.processes) > 0 && !o.issuers.equal(h.has)
}

// best is the first offer that a holder may take, or keep. While applications may still be reading, a leaf of the former authority is
// better, because they accept it in any case: one that is signed by it or, if its key is lost, another member's.
func (s side) best(h holder) int {
	best := keep
	for n, o := range h.offers {
		if !s.accepts(h, o) || !o.source && len(h.has) > 0 && !h.urgent {
			continue
		}
		if former := !o.source && !o.copied; !s.reading || !h.member || former {
			return n
		}
		if best == keep || h.offers[best].source && s.outdates(h.offers[best], o) {
			best = n
		}
	}
	return best
}

// outdates reports whether a copy is of an authority that the source's leaf is not of. While the source is not about to change, a leaf of
// one's own is as good.
func (s side) outdates(own, copied offer) bool {
	return copied.copied && !copied.issuers.equal(own.issuers) && len(s.members.processes) > 0
}

// accepts reports whether a holder may present a leaf. Members present theirs to clients, and, for etcd's gateway, to themselves;
// that does not bind if the user's authorities for clients never verify it, as is the case in mode static without the gateway.
func (s side) accepts(h holder, o offer) bool {
	if s.clients != nil && h.member {
		if len(s.members.processes) > 0 && !s.clients.accept(o.issuers) { // Without members, clients connect to nobody.
			return false
		}
		if o.source && !s.members.source.verify(o.issuers) || o.copied && !s.members.anyVerifies(o.issuers) {
			return true
		}
	}
	return s.members.accept(o.issuers) && s.members.anyVerifies(o.issuers)
}

// used reports whether anybody who counts accepts a leaf.
func (s side) used(issuers authorities) bool {
	return s.members.anyVerifies(issuers) || s.clients != nil && s.clients.anyVerifies(issuers)
}

// anyVerifies reports whether a leaf is verified at all: without processes, by what the first ones are to trust.
func (c circle) anyVerifies(issuers authorities) bool {
	return union(append([]authorities{c.source}, c.processes...)...).verify(issuers)
}

// presented are the leaves of members only, or of clients, too, after these picks.
func presented(s side, picks []int, membersOnly bool) []leaf {
	var all []leaf
	for i, h := range s.holders {
		if membersOnly && !h.member {
			continue
		}
		l := leaf{issuers: h.has, known: !h.running || h.served == confirmed}
		if picks[i] != keep {
			// A pod that was just asked for may come with what was there before.
			l = leaf{issuers: h.offers[picks[i]].issuers, known: !h.running && len(h.has) == 0 || !h.member}
		}
		all = append(all, l)
	}
	return all
}

// turned reports whether everybody presents what the source gives, and all processes accept it: then no former authority is needed.
func (s side) turned(v verdict) bool {
	if v.refused || len(s.members.source) == 0 || !v.trust.equal(s.members.source) || s.clients != nil && !v.roots.equal(s.clients.source) {
		return false
	}
	for i, h := range s.holders {
		has := offer{issuers: h.has, source: true}
		if v.picks[i] != keep {
			has = h.offers[v.picks[i]]
		} else if h.due {
			return false
		}
		if !s.verifies(has.issuers) || !s.accepts(h, has) {
			return false
		}
	}
	return true
}

// verifies reports whether the source verifies a leaf, for members or for clients.
func (s side) verifies(issuers authorities) bool {
	return s.members.source.verify(issuers) || s.clients != nil && s.clients.source.verify(issuers)
}
