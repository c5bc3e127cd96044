package plan

import "github.com/etcdpilot/etcd-operator/internal/member"

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
	t := o.Cluster.SpecTransport
	t.ClientBoth = t.ClientBoth && len(clients) == 0
	for i, next := range clients {
		if i == 0 && !next.ClientBoth {
			t.ClientTLS = next.ClientTLS
		} else if next.ClientBoth || next.ClientTLS != t.ClientTLS {
			t.ClientTLS, t.ClientBoth = o.Cluster.SpecTransport.ClientTLS, true
		}
	}
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
