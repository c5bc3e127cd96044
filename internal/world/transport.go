package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// listeners are where a member listens for peers that serves like that.
func listeners(t member.Transport) (l etcdtest.Listeners) {
	main, other := member.PeerPort, member.OtherPeerPort
	if t.PeerPort == member.OtherPeerPort {
		main, other = other, main
	}
	switch {
	case t.PeerBoth && t.PeerTLS:
		l.TLS, l.Plain = strconv.Itoa(main), strconv.Itoa(other)
	case t.PeerBoth:
		l.Plain, l.TLS = strconv.Itoa(main), strconv.Itoa(other)
	case t.PeerTLS:
		l.TLS = strconv.Itoa(main)
	default:
		l.Plain = strconv.Itoa(main)
	}
	return l
}

// speaks reports whether the operator reaches the pod's member by that scheme.
func (w *World) speaks(p *Pod, tls bool) bool {
	return p.Transport.ServesClients(tls) && !(w.cfg.Deaf && tls)
}

// checkTransport is T: whoever was told to connect to a member that runs is served. That goes for members, by the URL in etcd's list, and
// for clients, by the scheme in status.
func (w *World) checkTransport() {
	for i := range w.Pods {
		p := &w.Pods[i]
		s, runs := w.server(p)
		if !runs || s.member == nil || s.group.ID != w.Status.ID {
			continue
		}
		if !w.Etcd.Connected(s.disk.Dir) {
			w.violate("T: %s is listed with %s, and serves peers like %v", p.Name, s.member.PeerURL, p.Transport)
		}
		if p.Serving && !p.Deleting && !p.Transport.ServesClients(w.Status.Transport.ClientTLS) {
			w.violate("T: clients are told to connect to %s like %v, and it serves them like %v", p.Name, w.Status.Transport, p.Transport)
		}
	}
}

// foundByAll are the members that the others reach where the list says that they are.
func (w *World) foundByAll(members []plan.Member) []string {
	if !w.Status.Transport.PeerBoth {
		return nil
	}
	var all []string
	for i := range w.Pods {
		s, runs := w.server(&w.Pods[i])
		if runs && s.member != nil && w.Etcd.Connected(s.disk.Dir) && w.Etcd.Found(s.member) &&
			slices.ContainsFunc(members, func(m plan.Member) bool { return m.ID == s.member.ID && m.PeerURL == s.member.PeerURL }) {
			all = append(all, s.member.Name)
		}
	}
	return all
}

// switched reports whether the members have the transport that the spec asks for, and no other besides.
func (w *World) switched() bool {
	t := w.Status.Transport
	return t.PeerTLS == w.Transport.PeerTLS && !t.PeerBoth && t.ClientTLS == w.Transport.ClientTLS && t.ClientBoth == w.Transport.ClientBoth
}

func (e *encoder) transport(t member.Transport) {
	e.rare(markTransport, bits(t.PeerTLS, t.PeerBoth, t.PeerPort != 0, t.ClientTLS, t.ClientBoth, t.PeerUntold, t.ClientUntold))
}

// urlBits tells the URLs of one host apart. It is 0 for that of a cluster that was never switched.
func urlBits(peerURL string) int {
	return bits(strings.HasPrefix(peerURL, "https:"), strings.HasSuffix(peerURL, ":"+strconv.Itoa(member.OtherPeerPort)))
}

// ordinal is the number at the end of a member's name.
func ordinal(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		return 0
	}
	return n
}

// violate records the first broken invariant.
func (w *World) violate(format string, args ...any) {
	if w.Broken == "" {
		w.Broken = fmt.Sprintf(format, args...)
	}
}
