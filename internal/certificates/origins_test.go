package certificates

// origin is a source: the user's Secrets, or an authority of the cluster's own.
type origin struct {
	// broken is a source that cannot be used, and own one that is the operator's: then leaf is its authority.
	// lost is one that takes the place of others whose keys nobody has any more.
	broken, own, lost bool
	// trust and roots are what members and clients are to trust, leaf and client who has issued the certificates for them.
	trust, roots set
	leaf, client uint8
}

// static and managedBy are sources with one authority for everything, twofold is one with two: the second verifies servers.
func static(by uint8) origin {
	return origin{trust: of(by), roots: of(by), leaf: by, client: by}
}

func managedBy(by uint8) origin { o := static(by); o.own = true; return o }

func afterLoss(by uint8) origin { o := managedBy(by); o.lost = true; return o }

// noneIssued is a cluster's own that cert-manager is to issue, and has not.
func noneIssued() origin { return origin{broken: true, own: true} }

func twofold(by, servers uint8) origin {
	return origin{trust: of(by), roots: of(servers), leaf: servers, client: by}
}

// edit turns to the next source. A former authority has to be gone before another one is made.
func (r *rules) edit(w world) (world, bool) {
	if int(w.edits) == len(r.edits) {
		return w, false
	}
	next := r.edits[w.edits]
	if next.own {
		switch {
		case next.lost:
			w.former, w.current = 0, next.leaf
		case w.source.own && w.former != 0:
			return w, false
		case w.source.own:
			w.former, w.current = w.current, next.leaf
		case w.current != 0:
			next = managedBy(w.current)
		default:
			w.current = next.leaf
		}
	}
	if next.trust&w.expired != 0 {
		return w, false
	}
	w.source = next
	w.edits++
	return w, true
}
