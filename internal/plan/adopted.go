package plan

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// adoptedTransport is what members have that are there without status. The URLs by which they know each other are in their data, and
// volumes say which ones these are; without volumes, pods do. Clients know of nothing but what the pods serve, and without pods of nothing at
// all. If the operator was stopped in the middle of a step, not all of them say the same: then members serve both schemes, whichever of them
// anybody knows.
func (o Observed) adoptedTransport() member.Transport {
	var peers, clients []member.Transport
	for _, p := range o.Pods {
		if p.Permit != nil {
			clients = append(clients, p.Transport)
		}
	}
	for _, c := range o.Volumes {
		if c.MemberID != 0 {
			peers = append(peers, c.Transport)
		}
	}
	if len(peers) == 0 {
		peers = clients
	}
	t := adoptedClients(o.Cluster.SpecTransport, clients)
	for i, next := range peers {
		same := next.PeerTLS == t.PeerTLS && next.PeerBoth == t.PeerBoth && next.PeerPort == t.PeerPort
		switch {
		case i == 0:
			t.PeerTLS, t.PeerBoth, t.PeerPort = next.PeerTLS, next.PeerBoth, next.PeerPort
		case !same:
			t.PeerBoth = true
		}
	}
	if t.PeerBoth && t.PeerTLS != o.Cluster.SpecTransport.PeerTLS {
		t = t.OtherPeers()
	}
	return t
}

// adoptedClients is a transport with what clients of those members are told: what all of them serve, as far as there is such. Unless all
// serve both, nobody can have been told of the other one.
func adoptedClients(asked member.Transport, members []member.Transport) member.Transport {
	if len(members) == 0 {
		return asked
	}
	plain := !slices.ContainsFunc(members, func(t member.Transport) bool { return !t.ServesClientPlain() })
	tls := !slices.ContainsFunc(members, func(t member.Transport) bool { return !t.ServesClientTLS() })
	asked.ClientBoth = plain == tls || slices.ContainsFunc(members, func(t member.Transport) bool { return t.ClientBoth })
	if plain != tls {
		asked.ClientTLS, asked.ClientUntold = tls, asked.ClientBoth
	}
	return asked
}
