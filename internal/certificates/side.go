package certificates

import (
	"bytes"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// place is where a holder's leaf is kept.
type place struct {
	kind Kind
	// member is as in Write.
	member string
	// certificate and key are what is there, nil if nothing is, and pair is nil if that is of no use.
	certificate, key []byte
	pair             *pki.Pair
	// request is what the cluster's own leaf says.
	request pki.Request
	drafts  []draft
}

// draft is a leaf that may be put there: an existing one, or one to be signed.
type draft struct {
	certificate, key []byte
	by               *signer
}

// view is one side of a cluster with its certificates.
type view struct {
	half
	o       Observed
	known   *known
	source  *source
	problem error
	signers signers
	// pending is what cert-manager is to do, and issuer why it does not.
	pending string
	issuer  error
	places  []place
	side    side
	// expired are the pods that trust expired authorities only.
	expired []string
	// vouched are the authorities that may be what clients trust.
	vouched authorities
	// mounted is what the pods' Secrets hold, expired authorities too.
	mounted []authorities
	verdict verdict
	// retired is whether the former authority has been given up in this decision.
	retired bool
}

// readMembers finds out what members trust.
func (w *view) readMembers() {
	c := &w.side.members
	if w.source != nil {
		c.source = w.known.add(w.source.trust)
	}
	c.recorded = w.known.read(w.o.Trust[w.ca])
	trusts := []authorities{c.recorded}
	for _, p := range w.o.Pods {
		if p.Trust[w.ca] != nil { // without, the member does not serve this side yet
			mounted := w.known.read(p.Trust[w.ca])
			if len(mounted) > 0 && len(w.known.live(mounted)) == 0 {
				w.expired = append(w.expired, p.Name)
			}
			w.mounted, trusts = append(w.mounted, mounted), append(trusts, mounted)
		}
	}
	c.processes = w.counting(trusts)
}

// counting are those processes that can still verify anybody.
func (w *view) counting(trusts []authorities) []authorities {
	var all []authorities
	for _, t := range trusts {
		if live := w.known.live(t); len(live) > 0 {
			all = append(all, live)
		}
	}
	return all
}

// readPlaces finds out who has which leaf. By now all authorities are known.
func (w *view) readPlaces() {
	members := slices.Clone(w.o.Members)
	slices.Sort(members)
	for _, m := range slices.Compact(members) {
		p := place{kind: KindMember, member: m, request: w.memberRequest(m)}
		p.certificate, p.key = w.o.Published[m][w.certificate], w.o.Published[m][w.key]
		w.places = append(w.places, p)
	}
	if w.half == clients {
		w.places = append(w.places, w.clientPlaces()...)
	}
	for i := range w.places {
		p := &w.places[i]
		if read, err := pki.ParsePair(pki.Text{PEM: p.certificate, Own: true}, pki.Text{PEM: p.key}); err == nil {
			p.pair = read
		}
	}
	for i := range w.places {
		w.side.holders = append(w.side.holders, w.holder(&w.places[i]))
	}
}

func (w *view) memberRequest(name string) pki.Request {
	if w.half == peers {
		return peerRequest(w.o, name)
	}
	return serverRequest(w.o, name)
}

// clientPlaces are those of clients: the operator's own is kept in its memory. In mode static it has what the agents have.
func (w *view) clientPlaces() []place {
	all := []place{{
		kind: KindAgent, request: clientRequest(operatorUser),
		certificate: w.o.Agent[KeyClientCertificate], key: w.o.Agent[KeyClientKey],
	}}
	if w.o.Managed == nil {
		if own := w.o.Operator; own != nil && !isPair(all[0].certificate, all[0].key) { // nobody else has what members accept
			all[0].certificate, all[0].key = own.Certificate, own.Key
		}
		return all
	}
	own := place{kind: kindOperator, request: clientRequest(operatorUser)}
	if w.o.Operator != nil {
		own.certificate, own.key = w.o.Operator.Certificate, w.o.Operator.Key
	}
	all = append(all, own, place{
		kind: KindClient, request: clientRequest(ClientUser),
		certificate: w.o.Client[KeyCertificate], key: w.o.Client[KeyKey],
	})
	for _, u := range w.o.Users {
		p := place{kind: KindUser, member: u.Secret, request: clientRequest(u.Name)}
		if !w.givenUp(u) { // else it is written as if it were new
			p.certificate, p.key = u.Data[KeyCertificate], u.Data[KeyKey]
		}
		all = append(all, p)
	}
	return all
}

// isPair reports whether the operator has written a certificate and its key there.
func isPair(certificate, key []byte) bool {
	_, err := pki.ParsePair(pki.Text{PEM: certificate, Own: true}, pki.Text{PEM: key})
	return err == nil
}

// kindOperator is of no Secret.
const kindOperator Kind = "Operator"

// holder reduces a place to what a decision depends on, and fills in its drafts in the order of the offers.
func (w *view) holder(p *place) holder {
	h := holder{member: p.kind == KindMember}
	if p.pair != nil {
		h.has = w.known.issuers(p.pair.Chain)
		h.due = w.due(p)
		h.urgent = w.o.Now.After(urgentAt(p.pair.Leaf()))
	}
	if h.member {
		h.running = slices.ContainsFunc(w.o.Pods, func(pod Pod) bool { return pod.Name == p.member && pod.Trust[w.ca] != nil })
		h.served = w.served(p)
	}
	add := func(o offer, d draft) {
		if len(o.issuers) > 0 {
			h.offers, p.drafts = append(h.offers, o), append(p.drafts, d)
		}
	}
	if g := w.given(p); g != nil {
		add(offer{issuers: w.known.issuers(g.Chain), source: true}, draft{certificate: g.certificate, key: g.key})
	}
	for _, s := range w.signers.all() {
		own := w.o.Managed != nil && s == w.signers.current
		add(offer{issuers: w.known.live(w.known.add(s.Chain[:1])), source: own}, draft{by: s})
	}
	for _, other := range w.places {
		if p.takes(other, w.o.Names) {
			add(offer{issuers: w.known.issuers(other.pair.Chain), copied: true}, draft{certificate: other.certificate, key: other.key})
		}
	}
	return h
}

// given is the user's leaf for a place, nil if there is none.
func (w *view) given(p *place) *given {
	switch {
	case w.source == nil || w.o.Managed != nil:
		return nil
	case p.kind == KindMember:
		return w.source.leaf
	}
	return w.source.client
}

// due reports whether what is there is to be replaced by what the source gives.
func (w *view) due(p *place) bool {
	c := p.pair.Leaf()
	switch g := w.given(p); {
	case w.source == nil:
		return false
	case g != nil:
		return !bytes.Equal(p.certificate, g.certificate) || !bytes.Equal(p.key, g.key)
	}
	return !says(c, p.request) || !pki.Verifies(p.pair.Chain, w.signers.current.Leaf(), w.o.Now) ||
		!w.o.Now.Before(renewAt(c)) || c.NotBefore.Add(pki.Backdate).Before(w.signers.renew)
}

func (w *view) served(p *place) answer {
	fingerprint := w.o.Served[p.member].Peer
	if w.half == clients {
		fingerprint = w.o.Served[p.member].Client
	}
	switch {
	case fingerprint == "":
		return silent
	case p.pair != nil && fingerprint == pki.Fingerprint(p.pair.Leaf()):
		return confirmed
	}
	return outdated
}

// takes reports whether what another holder has would do here, until there is something better.
func (p *place) takes(other place, n Names) bool {
	switch {
	case other.pair == nil:
		return false
	case p.kind == KindMember:
		return other.kind == KindMember && other.member != p.member && other.pair.Leaf().VerifyHostname(n.host(p.member)) == nil
	}
	return p.kind == kindOperator && other.kind == KindAgent || p.kind == KindAgent && other.kind == kindOperator
}

// retire gives up the former authority once nobody needs it: all trust the new one, and present leaves that it verifies.
func (w *view) retire() {
	if w.signers.former == nil && (w.o.Managed != nil || w.signers.current == nil) || !w.side.turned(w.verdict) {
		return
	}
	w.signers.former, w.retired = nil, true
	if w.o.Managed == nil {
		w.signers.current = nil
	}
}
