package certificates

import (
	"fmt"
	"io"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// look reads one side, and makes an authority if a new one is due.
func look(o Observed, h half, rotate bool, random io.Reader) (*view, error) {
	o = o.goingOn(h)
	w := &view{half: h, o: o, known: newKnown(o.Now), signers: readSigners(o, h)}
	switch {
	case o.Managed != nil && o.Managed.Issued != nil:
		w.pending, w.issuer = w.signers.adopt(o, h)
	case o.Managed != nil:
		if err := w.signers.turn(o, h, rotate, random); err != nil {
			return nil, err
		}
	}
	w.o.ending = w.signers.former != nil && w.ending(w.signers.former.Leaf())
	if h == clients {
		began := w.signers.began()
		w.o.patientUntil, w.o.handedUntil = ends(began, Patience), ends(w.signers.handedOut, Patience)
		w.o.refreshedUntil = ends(began, ClientPatience)
	}
	w.source, w.problem = w.findSource()
	for _, s := range w.signers.all() {
		w.known.add(s.Chain[:1])
	}
	w.side.asked = o.Served != nil
	w.side.reading = h == clients && w.o.reading()
	w.readMembers()
	if h == clients {
		w.readClients()
	}
	w.readPlaces()
	return w, nil
}

// findSource checks where certificates come from.
func (w *view) findSource() (*source, error) {
	switch o := w.o; {
	case o.Managed != nil:
		current := w.signers.current
		if current == nil {
			return nil, nil //nolint:nilnil // cert-manager has issued none yet, or none that can be used: see issuer
		}
		name := fmt.Sprintf("key %s of Secret %s", w.certificate, AuthorityName(o.Names.Cluster))
		if err := pki.CheckWindow(pki.Text{Name: name}, current.Leaf(), o.Now); err != nil {
			return nil, err
		}
		s := &source{trust: current.Chain[:1], warnings: w.signers.brief()}
		if _, wrong := o.Managed.extraNames(); w.half == clients && len(wrong) > 0 {
			s.warnings = append(s.warnings, fmt.Sprintf("spec.tls.managed.extraServerNames has %.100q: only DNS names and IP addresses can be "+
				"names, so these are left out", wrong))
		}
		return s, nil
	case o.Static != nil && w.half == peers:
		return staticPeers(o)
	case o.Static != nil:
		return staticClients(o)
	case w.of(o.Leaving):
		return nil, nil //nolint:nilnil // it keeps what it has
	}
	return nil, fmt.Errorf("spec.tls is not set, but the cluster runs with TLS for connections %s: set it again", w.what)
}
