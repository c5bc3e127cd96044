package world

import "github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"

func (e *encoder) etcd(c *etcdtest.Cluster) {
	e.flags(c.Harm != "")
	for i := range c.Groups {
		g := &c.Groups[i]
		e.id(g.ID)
		e.id(g.Leader)
		e.flags(g.Written)
		e.number(g.Version)
		e.number(g.Downgrade)
		e.number(len(g.Members))
		for _, m := range g.Members {
			e.id(m.ID)
			e.text(m.Name)
			e.flags(m.Published, m.Learner, m.Remembers, m.Matched, m.Founder)
			e.rare(markURL, urlBits(m.PeerURL))
		}
	}
	for _, d := range c.Disks {
		e.text(d.Dir)
		e.id(d.ClusterID)
		e.id(d.MemberID)
		e.flags(d.Synced, d.Running, d.Torn, d.Old)
		e.number(d.Version)
		e.number(d.Schema)
	}
}
