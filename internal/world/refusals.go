package world

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Class is a kind of write that the API server may refuse.
type Class int

// The classes. Up to named each write has an object of a name of its own.
const (
	CreatesPods Class = iota + 1
	DeletesPods
	PatchesPods // permits, and the label that the client Service selects
	ChangesMetadata
	ChangesImages
	ResizesPods
	CreatesVolumes
	DeletesVolumes
	PatchesVolumes // marks and owners
	ExpandsVolumes
	AppliesBudget
	PullsImages
	CreatesRestores
	classes
	named = ExpandsVolumes
)

// Refuses is what the API server refuses: writes of one class to all objects, or to those of one name. It is empty while nothing is
// refused.
type Refuses struct {
	Class Class
	At    string
}

// tried is a write that was refused: its target, and for its key its class and its number in that.
type tried struct {
	class  Class
	number int
	target plan.Target
}

// outcome is what comes of an effect.
type outcome int

const (
	notDone outcome = iota
	refused
	done
)

// Refusals are the faults in which the API server begins to refuse writes of these classes, to all objects or to one.
func Refusals(of ...Class) []Kind {
	var kinds []Kind
	for _, c := range of {
		if kinds = append(kinds, writesRefused+Kind(c)-1); c <= named {
			kinds = append(kinds, writeRefused+Kind(c)-1)
		}
	}
	return kinds
}

// refusing is how the API server comes to refuse writes, and what becomes of that.
func refusing() map[Kind]transition {
	table := map[Kind]transition{
		refusalEnds: {
			name:    "the API server refuses nothing any more",
			ifWorld: func(w *World) bool { return w.Refuses != Refuses{} && !w.cfg.ForGood },
			onWorld: func(w *World) { w.Refuses = Refuses{} },
		},
		retried: {
			name:    "the operator may try again what was refused",
			ifWorld: func(w *World) bool { return w.again() != nil },
			onWorld: func(w *World) { w.retry(*w.again()) },
		},
	}
	for c := CreatesPods; c < classes; c++ {
		table[writesRefused+Kind(c)-1] = transition{
			name:    "the API server begins to refuse writes",
			ifWorld: func(w *World) bool { return w.Refuses == Refuses{} },
			onWorld: func(w *World) { w.Refuses = Refuses{Class: c} },
		}
		if c > named {
			continue
		}
		one := transition{name: "the API server begins to refuse writes to one object"}
		if c < CreatesVolumes {
			one.ifPod = func(w *World, _ *Pod) bool { return w.Refuses == Refuses{} }
			one.onPod = func(w *World, p *Pod) { w.Refuses = Refuses{c, p.Name} }
		} else {
			one.ifVolume = func(w *World, _ *Volume) bool { return w.Refuses == Refuses{} }
			one.onVolume = func(w *World, v *Volume) { w.Refuses = Refuses{c, v.Name} }
		}
		table[writeRefused+Kind(c)-1] = one
	}
	return table
}

// take takes an effect, if the API server does not refuse it.
func (w *World) take(a plan.Action, e plan.Effect, o *plan.Observed, stale bool) outcome {
	class, number := classOf(e)
	write := tried{class, number, plan.TargetOf(e)}
	switch {
	case w.refusesEffect(e):
		w.remember(write)
		return refused
	case !w.effect(a, e, o, stale):
		return notDone
	}
	w.retry(write)
	return done
}

// afterRefused is the effect to go on with.
func (w *World) afterRefused(effects []plan.Effect, i int) int {
	if w.cfg.PassMarks {
		return i + 1
	}
	return plan.AfterRefused(effects, i)
}

// refusesTrial reports whether the API server refuses in a dry run any write of the update that an action is, or prepares for.
func (w *World) refusesTrial(a plan.Action, o *plan.Observed) bool {
	if w.Refuses == (Refuses{}) && len(w.cfg.Denied) == 0 && w.Labels >= 0 {
		return false
	}
	step := plan.Trial(a, plan.Assess(*o))
	write := tried{target: plan.TargetOfUpdate(step)}
	switch act := step.(type) {
	case plan.SetImage:
		write.class = ChangesImages
	case plan.Recreate:
		write.class, write.number = CreatesPods, 2
		if w.refusesWrite(write) || w.deniesPod(act.Version, w.Labels) {
			w.remember(write)
			return true
		}
	default:
		return false
	}
	for _, e := range plan.Effects(step, *o) {
		if w.refusesEffect(e) {
			w.remember(write)
			return true
		}
	}
	return false
}

// refusesEffect reports whether the API server refuses what an effect writes.
func (w *World) refusesEffect(e plan.Effect) bool {
	class, number := classOf(e)
	return w.refusesWrite(tried{class, number, plan.TargetOf(e)}) || w.denies(e)
}

// classOf is the class of an effect, 0 for one that the API server never refuses, and a number that tells it from others of it.
func classOf(effect plan.Effect) (Class, int) {
	switch e := effect.(type) {
	case plan.CreatePod:
		return CreatesPods, bits(e.FromPreviousSpec)
	case plan.DeletePod:
		return DeletesPods, 0
	case plan.DeletePrepullPod:
		return DeletesPods, 1
	case plan.WritePermit:
		return PatchesPods, 0
	case plan.AddPodToService:
		return PatchesPods, 1
	case plan.RemoveFromService:
		return PatchesPods, 2
	case plan.SetMetadata:
		return ChangesMetadata, 0
	case plan.ChangeImage:
		return ChangesImages, 0
	case plan.Resize:
		return ResizesPods, 0
	case plan.CreateVolume:
		return CreatesVolumes, 0
	case plan.DeleteVolume:
		return DeletesVolumes, 0
	case plan.MarkVolume, plan.MarkQuarantined:
		return PatchesVolumes, 0
	case plan.AdoptVolume:
		return PatchesVolumes, 1
	case plan.ExpandVolume:
		return ExpandsVolumes, 0
	case plan.SetBudget:
		return AppliesBudget, 0
	case plan.CreatePrepullPod:
		return PullsImages, 0
	case plan.CreateRestore:
		return CreatesRestores, 0
	default:
		return 0, 0
	}
}

// refusesWrite reports whether the API server refuses that write, whatever is in it.
func (w *World) refusesWrite(t tried) bool {
	r := w.Refuses
	return r.Class != 0 && r.Class == t.class && (r.At == "" || r.At == t.target.Name)
}

// denies reports whether the API server refuses a write because of what is in it: a version that is denied, or negative labels.
func (w *World) denies(effect plan.Effect) bool {
	switch e := effect.(type) {
	case plan.CreatePod:
		labels := w.Labels
		if e.FromPreviousSpec {
			labels = w.Status.previousLabels()
		}
		return w.deniesPod(e.Version, labels)
	case plan.CreatePrepullPod:
		return slices.ContainsFunc(w.cfg.Denied, func(version string) bool { return strings.HasSuffix(e.Image, version) })
	case plan.ChangeImage:
		return w.deniesPod(e.Version, 0)
	case plan.SetMetadata:
		return w.Labels < 0
	default:
		return false
	}
}

func (w *World) deniesPod(version string, labels int) bool {
	return labels < 0 || slices.Contains(w.cfg.Denied, version)
}

// remember notes a write that was refused. Tried is never changed in place.
func (w *World) remember(t tried) {
	if slices.Contains(w.Tried, t) {
		return
	}
	w.Tried = append(slices.Clone(w.Tried), t)
	slices.SortFunc(w.Tried, func(a, b tried) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.number, b.number), plan.CompareNames(a.target.Name, b.target.Name))
	})
}

// retry makes the operator forget that it was refused.
func (w *World) retry(t tried) {
	if slices.Contains(w.Tried, t) {
		w.Tried = slices.DeleteFunc(slices.Clone(w.Tried), func(other tried) bool { return other == t })
	}
}

// again is a refusal that the operator is not met with again at once when the pause before the next try is over: the write is allowed
// by now, or it is not asked for any more, or not next. Nil if there is none: a try that is refused again changes nothing, so a lasting
// refusal comes to rest, and how long the operator pauses is no part of the model.
func (w *World) again() *tried {
	if !w.undisturbed() {
		return nil
	}
	for _, t := range w.Tried {
		next := w.Clone()
		next.retry(t)
		next.pass()
		if next.Key() != w.Key() {
			return &t
		}
	}
	return nil
}

// refused is what the operator remembers of it.
func (w *World) refused() []plan.Refusal {
	var all []plan.Refusal
	for _, t := range w.Tried {
		all = append(all, plan.Refusal{Target: t.target, Message: "no", Since: base, RetryAt: base.Add(time.Hour)})
	}
	return all
}

// refusals are what the API server refuses, and what the operator remembers of it.
func (e *encoder) refusals(r Refuses, all []tried) {
	if r.Class != 0 {
		e.rare(markRefuses, int(r.Class))
		e.text(r.At)
	}
	for _, t := range all {
		e.rare(markTried, int(t.class)<<2|t.number)
		e.text(t.target.Name)
	}
}
