package world

import (
	"fmt"
	"slices"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// lack is in what respects a world falls short of its spec.
type lack int

const (
	start     lack = 1 << iota // the cluster ID is not recorded, or a restore is not carried out
	servers                    // the server of a member that has its data does not run
	pods                       // a member has no pod, or one that has ended, because the API server refuses to make another
	lost                       // a member that has lost its data is listed
	clients                    // a voter that runs is not in the client Service
	size                       // there are too few or too many members
	votes                      // a learner is not promoted, or not permitted to start
	update                     // a member or its volume is not as the spec asks, or etcd itself is not
	metadata                   // labels are not
	resources                  // resources are not
	storage                    // the size of volumes is not
	budget                     // the budget is not that for the voters
	tidiness                   // there is what nobody needs
)

var lackNames = []string{
	"start", "servers", "pods", "lost", "clients", "size", "votes", "update", "metadata", "resources", "storage", "budget", "tidiness",
}

func (l lack) String() string {
	var names []string
	for i, name := range lackNames {
		if l&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// dependent is what depends on the writes of a class: no more than that may be held up while they are refused.
var dependent = [classes]lack{
	CreatesPods:     start | pods | size | update | budget | tidiness,
	DeletesPods:     start | pods | size | update | tidiness,
	PatchesPods:     start | clients | size | votes | update,
	ChangesMetadata: metadata,
	ChangesImages:   update | tidiness,
	ResizesPods:     resources,
	CreatesVolumes:  start | size | update,
	DeletesVolumes:  tidiness,
	PatchesVolumes:  start | size | votes | update,
	ExpandsVolumes:  storage,
	AppliesBudget:   lost | size | votes | update | budget,
	PullsImages:     0,
	CreatesRestores: start,
}

// heldUp reports whether the API server goes on refusing what the spec needs.
func (w *World) heldUp() bool {
	return len(w.Tried) > 0 && (w.cfg.ForGood && w.Refuses != Refuses{} || w.denied() != 0)
}

// denied is what depends on what is in the spec and is refused for as long as it is there.
func (w *World) denied() lack {
	var l lack
	if slices.Contains(w.cfg.Denied, w.Version) {
		l |= update | tidiness
	}
	if w.Labels < 0 {
		l |= metadata | size | update | tidiness
	}
	return l
}

// besides is L3: where the API server goes on refusing a write, the operator has done all that does not depend on it, tells of it, and
// does nothing else in vain.
func (w *World) besides(a plan.Action, recoverable bool) string {
	switch act := a.(type) {
	case plan.Idle:
		return "L3: the operator is idle (" + act.Reason + ") although the API server refuses what the spec needs"
	case plan.Wait:
		for _, t := range w.Tried {
			if act.Reason == v1beta2.ReasonWriteRefused && !strings.Contains(act.Message, t.target.String()) {
				return "L3: nobody is told that the API server refuses to " + t.target.String()
			}
		}
	case plan.Blocked:
		if recoverable && w.lacking() != start {
			return "L1: the operator is blocked (" + act.Reason + ") although a quorum of data survived"
		}
	default:
		return "L1: the operator tries in vain what the API server refuses: " + Notation(a)
	}
	held := w.denied()
	if w.cfg.ForGood {
		held |= dependent[w.Refuses.Class]
	}
	if more := w.lacking() &^ held; recoverable && more != 0 {
		return fmt.Sprintf("L3: what does not depend on the refused write is held up: %s", more)
	}
	return ""
}

// lacking is in what respects the spec is not reached.
func (w *World) lacking() lack {
	g := w.Etcd.Group(w.Status.ID)
	if w.Status.ID == 0 || g == nil || !w.restored() {
		return start
	}
	var l, voting lack
	for i := range g.Members {
		of := w.memberLacks(g, &g.Members[i])
		if l |= of; !g.Members[i].Learner {
			voting |= of
		}
	}
	if g.Leader == 0 && voting&pods != 0 { // nothing else can be done without a quorum
		return voting & (servers | pods)
	}
	if len(g.Members) != w.Size {
		l |= size
	}
	if g.Downgrade != 0 || w.Etcd.VersionDue(g.ID) {
		l |= update
	}
	if !w.Budget.Exists || w.Budget.Min != plan.MinAvailable(g.Voters()) || !w.Budget.Seen {
		l |= budget
	}
	if len(w.Pods) > len(g.Members) || l&size == 0 && w.leftovers() {
		l |= tidiness
	}
	return l
}

func (w *World) memberLacks(g *etcdtest.Group, m *etcdtest.Member) lack {
	p := w.pod(m.Name)
	switch {
	case m.Learner && p != nil && p.Permit == nil:
		return votes
	case !w.survives(g, m) && !w.stands(g, m, false):
		return lost
	case (p == nil || p.Phase == plan.Finished) && w.triedFor(m.Name):
		return pods
	case p == nil || !m.Published || !w.stands(g, m, false):
		return servers
	case m.Learner:
		return votes
	}
	l := w.podLacks(p)
	if !p.Serving && g.Leader != 0 {
		l |= clients
	}
	return l
}

// triedFor reports whether the API server has refused to create or to delete the pod of that name.
func (w *World) triedFor(name string) bool {
	return slices.ContainsFunc(w.Tried, func(t tried) bool {
		return t.target.Name == name && (t.class == CreatesPods || t.class == DeletesPods)
	})
}

// podLacks is in what respects a member's pod and volume are not as the spec asks. What is changed in place comes with the new pod
// where a pod is to be made anew.
func (w *World) podLacks(p *Pod) lack {
	var l lack
	d, v := w.drift(p), w.volume(p.Name)
	if p.Persistent != w.Persistent || p.Version != w.version() || p.Runs != p.Version || v != nil && v.Class != w.Class {
		l |= update
	}
	switch {
	case d.Template:
		return l | update
	case d.Metadata:
		l |= metadata
	}
	if d.Resources || p.Resizing {
		l |= resources
	}
	if v != nil && (v.Requested < int64(w.storage()) || v.Expanding) {
		l |= storage
	}
	return l
}
