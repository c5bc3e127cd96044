package world

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Former is what a restore under way replaces.
type Former struct {
	ID        uint64
	Bootstrap *plan.Bootstrap
	Revision  int64
	// Voters are those of the last list that a quorum confirmed, NextVoters those after a change that was declared.
	Voters, NextVoters []string
	// Template is what the members were made from that an update had not reached.
	Template int
}

// note writes to status which cluster the present one is.
func (w *World) note(a plan.Action, o *plan.Observed, stale bool) bool {
	switch act := a.(type) {
	case plan.CommitBootstrap:
		w.checkAbandoned(&act.Bootstrap, stale)
		return w.writeStatus(stale, func(s *Status) {
			if act.Bootstrap.Restore != restoreOf(s.Bootstrap) {
				w.Late = false
			}
			s.begin(act, o, w.Spec)
			s.keep(act.Kept)
			w.Highest = max(w.Highest, act.Bootstrap.Incarnation)
		})
	case plan.CallOff:
		w.checkCallOff(stale)
		return w.writeStatus(stale, func(s *Status) {
			s.goBack()
			s.keep(act.Kept)
		})
	case plan.ContinueRestore:
		return w.writeStatus(stale, func(s *Status) { s.NotCalledOff = true })
	case plan.Latch:
		w.checkKept(act, stale)
		return w.writeStatus(stale, func(s *Status) {
			s.ID, s.Voters = act.ClusterID, votersIn(o)
			s.Replaces, s.NotCalledOff, s.Unsaved, s.Stopped = nil, false, false, false
			s.keep(act.Kept)
		})
	default:
		return false
	}
}

func (s *Status) keep(kept []plan.KeptVolume) {
	for _, v := range kept {
		s.Kept = append(slices.Clone(s.Kept), v.UID)
	}
}

// begin writes an attempt to status. The first one at a restore puts aside what status tells of the cluster.
func (s *Status) begin(act plan.CommitBootstrap, o *plan.Observed, spec Spec) {
	b := act.Bootstrap
	c := plan.Cluster{Incarnations: s.Incarnations, Bootstrap: s.Bootstrap}
	if s.Replaces != nil {
		c.Former = &plan.Former{}
	}
	s.Incarnations = c.Begun(b)
	if b.Restore != "" && b.Restore != restoreOf(s.Bootstrap) { // else the same is tried again
		s.Unsaved = s.Replaces != nil && s.Unsaved || numberOf(&b) == spec.Unsaved || act.Unsaved != ""
		s.Stopped = s.Replaces != nil && s.Stopped
		if s.Replaces == nil {
			s.putAside(o)
		} else { // it replaces what that was to replace
			s.Off, s.NotCalledOff = numberOf(s.Bootstrap), false
		}
		s.Taken = numberOf(&b)
		s.ID, s.Revision, s.Voters, s.NextVoters, s.Former = 0, 0, nil, nil, s.Accepted
	}
	s.Bootstrap = &b
}

// putAside keeps what status tells of the cluster that a restore replaces. The voters are those that are confirmed just now, if
// any are.
func (s *Status) putAside(o *plan.Observed) {
	s.Replaces = &Former{
		ID: s.ID, Bootstrap: s.Bootstrap, Revision: s.Revision, Voters: s.Voters, NextVoters: s.NextVoters, Template: s.Former,
	}
	if o.Etcd.Contact == plan.ContactQuorum {
		s.Replaces.Voters = votersIn(o)
	}
}

// goBack writes to status what it told of the cluster before the restore began.
func (s *Status) goBack() {
	s.Off = numberOf(s.Bootstrap)
	if f := s.Replaces; f != nil {
		s.ID, s.Bootstrap, s.Revision = f.ID, f.Bootstrap, f.Revision
		s.Voters, s.NextVoters, s.Former = f.Voters, f.NextVoters, f.Template
	}
	s.Replaces, s.NotCalledOff, s.Unsaved, s.Stopped = nil, false, false, false
}

// save is what an EtcdRestore does before it asks for the data to be replaced: it takes a safety snapshot of revision n, if a
// quorum answers. Clients may write afterwards.
func (w *World) save(next Spec) (n int64) {
	g := w.group()
	if g == nil {
		return 0
	}
	w.Exposed = slices.DeleteFunc(slices.Clone(w.Exposed), func(id uint64) bool { return id == g.ID })
	if w.Status.ID != 0 && g.Leader != 0 && next.Unsaved != next.Restore {
		return revision(g)
	}
	if g.Written {
		w.Exposed = append(w.Exposed, g.ID)
	}
	return 0
}

// atRisk is the cluster that clients may write to between its safety snapshot and its end, nil if there is none. That it stops
// within moments from the beginning of the restore is taken for certain, unless it is late.
func (w *World) atRisk() *etcdtest.Group {
	var g *etcdtest.Group
	switch s := &w.Status; {
	case s.ID != 0 && w.Restore > max(s.Taken, w.CalledOff):
		g = w.Etcd.Group(s.ID)
	case s.Replaces != nil && w.Late:
		g = w.Etcd.Group(s.Replaces.ID)
	}
	if g == nil || g.Leader == 0 || !g.Written || g.Again {
		return nil
	}
	return g
}

// stopping tells whether a restore has begun, and a quorum of what it replaces has not been seen to stop.
func (w *World) stopping() bool {
	s := &w.Status
	return s.ID == 0 && s.Replaces != nil && !s.Stopped && !w.Late
}

// checkSaved holds for what a restore has replaced: nothing goes that is nowhere else.
func (w *World) checkSaved(v *Volume) {
	if d := w.Etcd.Disk(v.UID); d != nil && d.Synced && slices.Contains(w.Exposed, d.ClusterID) {
		w.violate("S7: volume %s is deleted, which holds what no safety snapshot does", v.Name)
	}
}

// checkCallOff holds for a restore: nothing is called off that clients can have reached.
func (w *World) checkCallOff(stale bool) {
	if stale {
		return // the write is refused
	}
	if w.Status.ID != 0 || w.Status.Replaces == nil {
		w.violate("S7: a restore is called off after the cluster ID was latched")
		return
	}
	if !w.unwanted() && numberOf(w.Status.Bootstrap) != 0 && w.Pending == nil && w.Read == nil {
		w.violate("S7: a restore is called off, and nobody has asked for it")
	}
	if w.Pending == nil && w.Read == nil && !w.canGoBack() {
		w.violate("S7: a restore is called off, and the members are gone that the cluster is to go back to")
	}
}

// canGoBack tells whether a quorum of what the restore under way replaces can form again, as far as that can be seen: what was
// lost on a volume nobody knows before etcd is to start on it.
func (w *World) canGoBack() bool {
	f := w.Status.Replaces
	g := w.Etcd.Group(f.ID)
	if f.ID == 0 || g == nil {
		return f.ID == 0
	}
	n := 0
	for i := range g.Members {
		if m := &g.Members[i]; !m.Learner && w.comesBack(g, m) {
			n++
		}
	}
	return n >= etcdtest.Quorum(g.Voters())
}

// comesBack tells whether nothing is known to keep a former member from it.
func (w *World) comesBack(g *etcdtest.Group, m *etcdtest.Member) bool {
	if p := w.pod(m.Name); p != nil && !p.Persistent {
		return w.survives(g, m)
	}
	v := w.volume(m.Name)
	return v != nil && v.ClusterID == g.ID && v.MemberID == m.ID && !v.Lost && !v.Deleting
}

// checkKept holds for a restore of what could not be saved: from the latch on nothing else tells which volumes that is on.
func (w *World) checkKept(act plan.Latch, stale bool) {
	if stale || !w.Status.Unsaved || w.Status.Replaces == nil {
		return // the write is refused, or nothing is to be kept
	}
	for i := range w.Volumes {
		v := &w.Volumes[i]
		d := w.Etcd.Disk(v.UID)
		if d == nil || d.ClusterID != w.Status.Replaces.ID || v.Deleting || slices.Contains(w.Status.Kept, v.UID) {
			continue
		}
		if !slices.ContainsFunc(act.Kept, func(k plan.KeptVolume) bool { return k.UID == v.UID }) {
			w.violate("S7: volume %s is not kept, whose data was replaced unsaved", v.Name)
		}
	}
}

// checkNumber is S3 for attempts of all kinds: tokens and cluster IDs follow from their numbers.
func (w *World) checkNumber(next *plan.Bootstrap) {
	if b := w.Status.Bootstrap; b != nil && b.ClusterID == next.ClusterID {
		return // the same attempt
	}
	if next.Incarnation <= w.Highest {
		w.violate("S3: incarnation %d is used again", next.Incarnation)
	}
}
