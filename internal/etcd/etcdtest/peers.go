package etcdtest

import (
	"net"
	"slices"
	"strings"
)

// Listeners are the ports on which a server listens for peers without and with TLS, empty for none. The zero value is a server that others
// reach wherever the member list says.
type Listeners struct{ Plain, TLS string }

// endpoint is what of a peer URL decides who is reached: whether it asks for TLS, and the port. It takes the URL apart as etcd has checked it, a
// scheme and an address alone, because an exploration does so millions of times.
func endpoint(peerURL string) (tls bool, port string) {
	scheme, address, _ := strings.Cut(peerURL, "://")
	_, port, _ = net.SplitHostPort(address)
	return scheme == "https", port
}

// serve reports whether who follows that URL is served.
func (l Listeners) serve(peerURL string) bool {
	tls, port := endpoint(peerURL)
	if tls {
		return port == l.TLS
	}
	return port == l.Plain
}

// dials reports whether the server can follow that URL: without certificates it cannot where they are asked for.
func (l Listeners) dials(peerURL string) bool {
	tls, _ := endpoint(peerURL)
	return !tls || l.TLS != ""
}

// Listen says where the server listens that runs in the directory.
func (c *Cluster) Listen(dir string, l Listeners) {
	if d := c.Disk(dir); d != nil && d.Listeners != l {
		d.Listeners = l
		c.settle()
	}
}

// Connected reports whether the others reach the server that runs in the directory where the member list says that it is, and it reaches the
// voters.
func (c *Cluster) Connected(dir string) bool {
	d := c.Disk(dir)
	return d != nil && c.connected(d)
}

// connected is more than etcd asks for, where every port is open: one side that connects is enough for two members to go on.
func (c *Cluster) connected(d *Disk) bool {
	g := c.Group(d.ClusterID)
	if d.Listeners == (Listeners{}) || g == nil {
		return true
	}
	own := g.Member(d.MemberID)
	apart := own != nil && c.walled(own.PeerURL)
	return !slices.ContainsFunc(g.Members, func(m Member) bool {
		if m.ID == d.MemberID {
			return !d.Listeners.serve(m.PeerURL)
		}
		return !m.Learner && (!d.Listeners.dials(m.PeerURL) || apart && c.walled(m.PeerURL))
	})
}

// Found reports whether others can follow a member's URL at all.
func (c *Cluster) Found(m *Member) bool { return !c.walled(m.PeerURL) }

// walled reports whether nobody can follow that URL.
func (c *Cluster) walled(peerURL string) bool {
	_, port := endpoint(peerURL)
	return c.Walled != "" && port == c.Walled
}

// UpdatePeerURL changes where the others connect to a member.
func (c *Cluster) UpdatePeerURL(clusterID, id uint64, peerURL string) error {
	g, err := c.leading(clusterID)
	if err != nil {
		return err
	}
	m := g.Member(id)
	switch {
	case m == nil:
		return ErrNotFound
	case slices.ContainsFunc(g.Members, func(m Member) bool { return m.PeerURL == peerURL && m.ID != id }):
		return ErrPeerURLExists
	}
	m.PeerURL = peerURL
	c.commit(g)
	c.settle()
	return nil
}
