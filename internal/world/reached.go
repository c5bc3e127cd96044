package world

import "github.com/etcdpilot/etcd-operator/internal/plan"

// reached reports whether the spec is fully carried out, with nothing left over.
func (w *World) reached() bool { return w.Hibernate && w.asleep() || !w.Hibernate && w.allServe() }

// allServe reports whether that holds of a cluster whose members are to run.
func (w *World) allServe() bool {
	g := w.Etcd.Group(w.Status.ID)
	if w.Status.ID == 0 || g == nil || len(g.Members) != w.Size || len(w.Pods)-w.stranded() != w.Size {
		return false
	}
	if !w.restored() || w.leftovers() || g.Downgrade != 0 || w.Etcd.VersionDue(g.ID) {
		return false
	}
	for i := range g.Members {
		m := &g.Members[i]
		p := w.pod(m.Name)
		if m.Learner || !m.Published || p == nil || !p.Serving || !w.stands(g, m, false) || !w.current(p) {
			return false
		}
	}
	return w.Status.Quarantined.Member == 0 && w.Budget.Exists && w.Budget.Min == plan.MinAvailable(w.Size) && w.Budget.Seen && w.upToDate()
}
