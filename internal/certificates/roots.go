package certificates

import (
	"maps"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// readClients finds out what clients trust: the operator itself, which is what status records, and those that it gives certificates to. Who may
// write to one of their Secrets could put an authority of theirs there, so only those count that status records beside the source's and the
// cluster's own. Without a record, from before there was one or because status was lost, those of members and agents count, too.
func (w *view) readClients() {
	c := &circle{}
	if w.source != nil {
		c.source = w.known.add(w.source.trust)
		if w.source.roots != nil {
			c.source = w.known.add(w.source.roots)
		}
	}
	if len(w.o.Roots) == 0 {
		w.known.read(w.o.Agent[KeyClientCA])
	}
	if w.o.Operator != nil {
		w.known.read(w.o.Operator.Roots)
	}
	w.vouched = w.vouchedRoots(c.source)
	agents := w.readRoots(w.o.Agent[KeyClientCA])
	if c.recorded = w.recordedRoots(); len(c.recorded) == 0 {
		c.recorded = agents
	}
	trusts := []authorities{c.recorded, agents}
	if w.o.Managed != nil { // In mode static nobody maintains that Secret: applications have the user's.
		if roots := w.readRoots(w.o.Client[KeyCA]); slices.ContainsFunc(roots, func(a string) bool { return !w.ending(w.known.all[a]) }) {
			trusts = append(trusts, roots)
		}
		for _, u := range w.o.reached() {
			if roots := w.readRoots(u.Data[KeyCA]); w.reaches(roots) {
				trusts = append(trusts, roots)
			}
		}
	}
	c.processes = w.counting(trusts)
	w.side.clients = c
}

// vouchedRoots are the authorities that may be what clients trust.
func (w *view) vouchedRoots(source authorities) authorities {
	if len(w.o.Roots) == 0 {
		return slices.Sorted(maps.Keys(w.known.all))
	}
	vouched := union(source, w.o.Roots)
	for _, s := range w.signers.all() {
		vouched = union(vouched, w.known.add(s.Chain[:1]))
	}
	return vouched
}

// readRoots reads what clients trust in one of their Secrets.
func (w *view) readRoots(text []byte) authorities {
	return w.known.readIf(text, func(a string) bool { return slices.Contains(w.vouched, a) })
}

// recordedRoots are what status records of what clients trust, as far as anybody has these authorities.
func (w *view) recordedRoots() authorities {
	return slices.DeleteFunc(union(w.o.Roots), func(a string) bool { return w.known.all[a] == nil })
}

// reaches reports whether one that trusts these authorities may accept a member. A user whose Secret could not be written while they were
// replaced does not: nothing can cut it off any more, so it binds nobody.
func (w *view) reaches(roots authorities) bool {
	for _, s := range w.signers.all() {
		if roots.verify(w.known.add(s.Chain[:1])) {
			return true
		}
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(w.o.Published)), func(data map[string][]byte) bool {
		pair, err := pki.ParsePair(pki.Text{PEM: data[w.certificate], Own: true}, pki.Text{PEM: data[w.key]})
		return err == nil && roots.verify(w.known.issuers(pair.Chain))
	})
}
