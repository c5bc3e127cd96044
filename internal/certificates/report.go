package certificates

import (
	"cmp"
	"slices"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/intern"
	"github.com/etcdpilot/etcd-operator/internal/pki"
)

// step is what one side is doing and waiting for, empty if nothing.
func (w *view) step() string {
	return cmp.Or(w.pending, w.progress())
}

// progress is what becomes of the certificates of one side, whatever its issuer does; empty if nothing.
func (w *view) progress() string {
	v, c := w.verdict, w.side.members
	wide := !v.trust.equal(c.source) || w.side.clients != nil && !v.roots.equal(w.side.clients.source)
	switch {
	case w.source == nil && w.problem != nil && w.of(w.o.Coming):
		return ""
	case w.source == nil:
		return "keeping the certificates that are in use"
	case v.waiting:
		return "waiting until applications have read their Secrets, which takes up to two minutes"
	case v.refused:
		return "waiting until all members trust the new authority: they are updated one after the other"
	case v.replaced >= 0:
		return "giving member " + w.places[v.replaced].member + " its new certificate"
	case v.lagging && (v.ask || wide):
		return "waiting for the new certificate to be served by " + w.members(func(h holder) bool { return h.running && h.served == outdated })
	case v.ask || wide:
		return "waiting until it is known what is served by " + w.members(func(h holder) bool { return h.running && h.served != confirmed })
	case w.signers.former != nil:
		return "keeping the former authority until nobody needs it"
	case slices.ContainsFunc(w.mounted, func(m authorities) bool { return !m.equal(v.trust) }):
		return "waiting until all members trust the present authority only: they are updated one after the other"
	}
	return ""
}

func (w *view) members(matching func(holder) bool) string {
	var names []string
	for i, h := range w.side.holders {
		if h.member && matching(h) {
			names = append(names, w.places[i].member)
		}
	}
	return strings.Join(names, ", ")
}

// share has certificates that are in one Secret, or have one issuer, share the memory of its name: they are kept for minutes, of each cluster.
func share(all []Info) {
	known := intern.Strings{}
	for i := range all {
		all[i].Name, all[i].Issuer, all[i].Certificate = known.One(all[i].Name), known.One(all[i].Issuer), known.One(all[i].Certificate)
	}
}

// infos describe the certificates of one side, sorted.
func (w *view) infos() []Info {
	var all []Info
	add := func(secret, use string, p *pki.Pair, own bool) {
		i := Info{Name: secret, Use: use, Issuer: pki.Issuer(p.Leaf()), NotBefore: p.Leaf().NotBefore, NotAfter: p.Leaf().NotAfter}
		if own {
			i.RenewAt = renewAt(p.Leaf())
		}
		all = append(all, i)
	}
	cluster, managed := w.o.Names.Cluster, w.o.Managed != nil
	for _, p := range w.places {
		switch {
		case p.pair == nil || p.kind == kindOperator:
		case p.kind == KindMember:
			add(MemberName(p.member), w.use, p.pair, managed)
		case p.kind == KindAgent:
			add(AgentName(cluster), "etcd-client", p.pair, managed)
		case p.kind == KindUser:
			add(p.member, "tls", p.pair, managed)
			all[len(all)-1].User = true
		default:
			add(ClientName(cluster), "tls", p.pair, managed)
		}
	}
	if w.signers.current != nil && managed {
		add(AuthorityName(cluster), w.use, w.signers.current.Pair, false)
		if last := &all[len(all)-1]; w.signers.issued {
			last.Certificate = IssuedName(cluster, w.half == peers)
		} else {
			last.RenewAt = w.signers.due()
		}
	}
	slices.SortStableFunc(all, func(a, b Info) int { return strings.Compare(a.Name+"/"+a.Use, b.Name+"/"+b.Use) })
	return all
}
