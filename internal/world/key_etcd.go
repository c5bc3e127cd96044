package world

import (
	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

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

// differing is nothing where no data was ever compared.
func (e *encoder) differing(d *Differing) {
	if d.Odd != 0 || d.Split {
		e.rare(markDiffering, 1+bits(d.Twice, d.Split, d.Proven, d.Unseen))
		e.id(d.Odd)
		e.id(d.Copy)
	}
	for _, uid := range d.Evidence {
		e.rare(markEvidence, 1)
		e.text(uid)
	}
}

func (e *encoder) quarantined(mark byte, q plan.Quarantined) {
	if q.Member != 0 {
		e.rare(mark, 1)
		e.id(q.Member)
		e.text(q.VolumeUID)
	}
}

func (e *encoder) doubt(d plan.Doubt) {
	if d != (plan.Doubt{}) {
		e.rare(markDoubt, 1+bits(d.Split))
		e.id(d.Suspect)
	}
}
