package world

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Pending is a decision that has not taken all of its effects.
type Pending struct {
	Action plan.Action
	// Step is the next effect.
	Step int
	// On is what the decision was made on.
	On plan.Observed
	// Tried is what the operator remembered then, and Partly is true once an effect was refused.
	Tried  []tried
	Partly bool
	// key is Action in its notation.
	key string
}

// Decide is what the planner answers now, on the cache and, if that changes anything, on live reads.
func (w *World) Decide() (plan.Action, plan.Observed) {
	if w.Cache != nil {
		o := w.Observe(w.Cache)
		if w.Decided = w.cfg.Next(o); !plan.Mutates(w.Decided) || w.cfg.TrustCache {
			return w.Decided, o
		}
	}
	o := w.Observe(&w.Kube)
	w.Decided = w.cfg.Next(o)
	return w.Decided, o
}

// pass is one pass of the operator that nothing disturbs.
func (w *World) pass() {
	a, o := w.Decide()
	w.checkDecision(a, &o)
	w.carryOut(a, &o, w.Cache != nil && w.cfg.TrustCache, false)
}

// carryOut takes every effect of an action at once. Stale is true if the EtcdCluster was written after it was read, and late if the
// world has moved on since.
func (w *World) carryOut(a plan.Action, o *plan.Observed, stale, late bool) {
	if w.refusesTrial(a, o) {
		w.finish(nil, o, stale)
		return
	}
	effects, did := plan.Effects(a, *o), a
	for step := 0; step < len(effects); {
		if step == len(effects)-1 && !late {
			w.checkTurn(a)
		}
		before := w.standing(late)
		switch w.take(a, effects[step], o, stale) {
		case notDone:
			return
		case refused:
			step, did = w.afterRefused(effects, step), nil
		case done:
			w.checkEffect(a, before, w.standing(late))
			step++
		}
	}
	w.finish(did, o, stale)
}

// undisturbed reports whether no pass is held up.
func (w *World) undisturbed() bool { return w.Pending == nil && w.Read == nil }

// hold decides and stops before the first effect.
func (w *World) hold() {
	a, o := w.Decide()
	w.checkDecision(a, &o)
	w.Pending = &Pending{Action: a, On: o, Tried: w.Tried, key: Notation(a)}
	w.Stale = false
}

// next takes one effect of what was decided earlier.
func (w *World) next() {
	p := w.Pending
	effects := plan.Effects(p.Action, p.On)
	if len(effects) == 0 { // what it waits for may be over
		w.drop()
		return
	}
	if p.Step == 0 && w.refusesTrial(p.Action, &p.On) {
		w.finish(nil, &p.On, w.Stale)
		w.drop()
		return
	}
	before := w.standing(true)
	switch w.take(p.Action, effects[p.Step], &p.On, w.Stale) {
	case notDone:
		w.drop()
		return
	case refused:
		p.Step, p.Partly = w.afterRefused(effects, p.Step), true
	case done:
		w.checkEffect(p.Action, before, w.standing(true))
		p.Step++
	}
	if p.Step < len(effects) {
		return
	}
	did := p.Action
	if p.Partly {
		did = nil
	}
	w.finish(did, &p.On, w.Stale)
	w.drop()
}

// drop forgets what was in the middle: the operator has crashed, or is done with it.
func (w *World) drop() { w.Pending, w.Read, w.Stale = nil, nil, false }

// read reads the Kubernetes objects and stops before etcd is asked.
func (w *World) read() {
	w.Read, w.Stale = w.Kube.clone(), false
}

// resume asks etcd, decides on that and on what was read before, and acts.
func (w *World) resume() {
	o := w.Observe(w.Read)
	w.Decided = w.cfg.Next(o)
	defer w.drop()
	w.carryOut(w.Decided, &o, w.Stale, true)
}

// finish is the status write of a pass: compare-and-swap on the version that was read. The action is nil if the API server has refused
// any of it.
func (w *World) finish(a plan.Action, o *plan.Observed, stale bool) {
	if stale {
		return
	}
	s := w.Status
	w.give(a)
	s.follow(a)
	w.keepEvidence(a)
	s.Record = s.Apply(a, *o)
	w.checkProven(a, s.Quarantined)
	w.setStatus(s)
	if _, up := a.(plan.RecordClusterID); up {
		w.agree() // all have their data from one member, or none
	}
	if b := s.Bootstrap; b != nil {
		w.Highest = max(w.Highest, b.Incarnation)
	}
}

func (w *World) setStatus(s Status) {
	old := w.Status
	w.checkAccepted(&s)
	w.Status = s
	if s.ID != old.ID || s.Bootstrap != old.Bootstrap || s.Revision != old.Revision || s.Previous != old.Previous ||
		s.CancelDeclined != old.CancelDeclined || s.AcceptedSpec != old.AcceptedSpec || s.Transport != old.Transport || s.PreviousSpec != old.PreviousSpec ||
		logs(&s.Record) != logs(&old.Record) || s.Quarantined != old.Quarantined || s.Relocation != old.Relocation || s.Tuned.Patch != old.Tuned.Patch || s.Tuned.Resized != old.Tuned.Resized ||
		len(s.RefusedPatches) != len(old.RefusedPatches) ||
		!slices.Equal(s.Voters, old.Voters) || !slices.Equal(s.NextVoters, old.NextVoters) {
		w.touched()
	}
}

// touched notes that the EtcdCluster has a new version.
func (w *World) touched() { w.Stale = w.Read != nil || w.Pending != nil }

// newUID returns the first unused name for an object: states that differ only in how many there were before are equal.
func (w *World) newUID(kind, name string) string {
	for n := 1; ; n++ {
		uid := fmt.Sprintf("%s%d.%d", kind, ordinal(name), n)
		if !w.mentions(uid) {
			return uid
		}
	}
}

// mentions reports whether anything still refers to an object by that UID.
func (w *World) mentions(uid string) bool {
	for _, k := range []*Kube{&w.Kube, w.Cache, w.Read} {
		if k == nil {
			continue
		}
		for i := range k.Pods {
			if k.Pods[i].UID == uid {
				return true
			}
		}
		for i := range k.Volumes {
			if k.Volumes[i].UID == uid {
				return true
			}
		}
		if slices.Contains(k.Status.KeptUIDs, uid) || k.Status.Tuned.Patch.Trial.PodUID == uid || bound(k.Status.Bootstrap, uid) ||
			k.Status.Previous != nil && bound(k.Status.Previous.Bootstrap, uid) {
			return true
		}
	}
	return slices.Contains(w.Evidence, uid) || w.Pending != nil && w.Pending.mentions(uid)
}

func bound(b *plan.Bootstrap, uid string) bool {
	return b != nil && slices.ContainsFunc(b.InitialPods, func(s plan.InitialPod) bool { return s.PodUID == uid || s.VolumeUID == uid })
}

func (p *Pending) mentions(uid string) bool {
	return operandOf(p.key, uid) ||
		slices.ContainsFunc(p.On.Pods, func(p plan.Pod) bool { return p.UID == uid }) ||
		slices.ContainsFunc(p.On.Volumes, func(v plan.Volume) bool { return v.UID == uid })
}

// newMemberID is the same for members.
func (w *World) newMemberID(name string) uint64 {
	for id := uint64(ordinal(name)+1) << 8; ; id++ { //nolint:gosec // an ordinal is not negative
		if !w.mentionsMember(id) {
			return id
		}
	}
}

func (w *World) mentionsMember(id uint64) bool {
	for i := range w.Etcd.Groups {
		if w.Etcd.Groups[i].Member(id) != nil {
			return true
		}
	}
	for _, d := range w.Etcd.Disks {
		if d.MemberID == id {
			return true
		}
	}
	if w.Odd == id || w.Status.Quarantined.Member == id || w.Status.Relocation.Member == id || w.Status.Relocation.Successor == id {
		return true
	}
	for _, k := range []*Kube{&w.Kube, w.Cache, w.Read} {
		if k == nil {
			continue
		}
		for i := range k.Pods {
			if p := k.Pods[i].Permit; p != nil && uint64(p.MemberID) == id {
				return true
			}
		}
		for _, v := range k.Volumes {
			if v.MemberID == id {
				return true
			}
		}
	}
	return w.Pending != nil && operandOf(w.Pending.key, strconv.FormatUint(id, 16))
}
