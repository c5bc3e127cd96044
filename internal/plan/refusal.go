package plan

import (
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Target names a write to the API server: what is done to which object. It is empty for an effect that is no such write.
type Target struct{ Verb, Kind, Name string }

// String returns the target as in "create Pod c-0".
func (t Target) String() string { return strings.TrimSpace(t.Verb + " " + t.Kind + " " + t.Name) }

// Refusal is a write that the API server has refused because of a quota, an admission policy or webhook, its own validation, or the
// operator's rights. Nothing that keeps data or a quorum safe relies on what is said here being true: it may be out of date.
type Refusal struct {
	Target
	// Message says who refused it, in their words.
	Message string
	// Since is when the write was refused first. It is not tried again before RetryAt.
	Since, RetryAt time.Time
}

// Refuses is how the text of every refusal begins.
const Refuses = "the API server refuses to "

// String returns the refusal as a clause of a sentence.
func (r Refusal) String() string {
	return r.unquoted() + ": " + r.Message
}

// unquoted is the same without the words of who refused it: they may quote the object, and what is recorded gets into the log.
func (r Refusal) unquoted() string { return Refuses + r.Target.String() }

// TargetOf returns what an effect writes to the API server. The status of the EtcdCluster is none of it: without that write nothing
// can be done at all. Nor is what etcd refuses: the order of its own steps is one of safety.
func TargetOf(effect Effect) Target {
	switch e := effect.(type) {
	case CreateRestore:
		return Target{"create", "EtcdRestore", e.Name}
	case CreateVolume:
		return Target{"create", KindVolume, e.Name}
	case CreatePod:
		return Target{createVerb(e.NewPod), KindPod, e.Name}
	case CreatePrepullPod:
		return Target{"create", "image pull Pod", e.Node + "/" + e.Image}
	case DeletePod:
		return Target{"delete", KindPod, e.Name}
	case DeleteVolume:
		return Target{"delete", KindVolume, e.Name}
	case DeletePrepullPod:
		return Target{"delete", "image pull Pod", e.Name}
	case AdoptVolume:
		return Target{"adopt", KindVolume, e.Name}
	case MarkVolume:
		return Target{"annotate", KindVolume, e.Name}
	case MarkQuarantined:
		return Target{"annotate", KindVolume, e.Name}
	case ExpandVolume:
		return Target{"expand", KindVolume, e.Name}
	case WritePermit:
		return Target{"write the start permit of", KindPod, e.Pod}
	case AddPodToService:
		return Target{"add to the client Service", KindPod, e.Name}
	case RemoveFromService:
		return Target{"remove from the client Service", KindPod, e.Pod}
	case SetMetadata:
		return Target{"change the labels and annotations of", KindPod, e.Name}
	case Resize:
		return Target{"resize", KindPod, e.Name}
	case ChangeImage:
		return Target{"change the image of", KindPod, e.Name}
	case SetBudget:
		return Target{Verb: "apply", Kind: "PodDisruptionBudget"}
	case WriteStatus, AddLearner, Promote, MoveLeader, UpdatePeerURL, RemoveMember, EnableDowngrade, CancelDowngrade, Compact, Defragment, Disarm:
	}
	return Target{}
}

func createVerb(p NewPod) string {
	if p.FromPreviousSpec {
		return "create from the previous spec"
	}
	return "create"
}

// TargetOfUpdate returns what an update of a member writes; empty for any other action.
func TargetOfUpdate(a Action) Target {
	switch act := a.(type) {
	case SetImage:
		return TargetOf(ChangeImage(act))
	case Recreate:
		return Target{"recreate", KindPod, act.Name}
	default:
		return Target{}
	}
}

// Trial returns the update, SetImage or Recreate, that the API server has to accept in a dry run before the action takes effect; nil
// if there is none. What prepares for an update is not done for one that would be refused: clients would be disconnected, and
// evictions blocked, for nothing.
func Trial(a Action, known Assessment) Action {
	step := known.Update.Step
	switch act := a.(type) {
	case SetImage, Recreate:
		return a
	case RemoveFromService:
		if act.Pod == known.Update.Next.Name {
			return step
		}
	case MoveLeader:
		if act.From == known.Update.Next.ID {
			return step
		}
	case SetBudget:
		return step
	default:
	}
	return nil
}

// AfterRefused returns the index of the first effect that does not rely on effects[i], which was refused: an effect that others rely
// on, such as the mark on a volume that precedes a permit, forms a chain with those up to the first one that nothing relies on.
func AfterRefused(effects []Effect, i int) int {
	for i < len(effects) && precedes(effects[i]) {
		i++
	}
	return min(i+1, len(effects))
}

// precedes reports whether the effect after this one relies on it.
func precedes(effect Effect) bool {
	switch effect.(type) {
	case MarkVolume, AdoptVolume:
		return true
	default:
		return false
	}
}

// Held returns the refusal of a write that is not to be tried again yet.
func Held(all []Refusal, t Target, now time.Time) (Refusal, bool) {
	i := slices.IndexFunc(all, func(r Refusal) bool { return r.Target == t && now.Before(r.RetryAt) })
	if i < 0 {
		return Refusal{}, false
	}
	return all[i], true
}

// refuses reports whether the API server has refused a write that is not to be tried again yet.
func (o Observed) refuses(t Target) bool {
	_, held := Held(o.Refused, t, o.Now)
	return held && t != (Target{})
}

// withoutRefused leaves out every chain of effects with a write that is not to be tried again yet.
func (o Observed) withoutRefused(effects []Effect) []Effect {
	if len(o.Refused) == 0 {
		return effects
	}
	var left []Effect
	for i := 0; i < len(effects); {
		end := AfterRefused(effects, i)
		chain := effects[i:end]
		if !slices.ContainsFunc(chain, func(e Effect) bool { return o.refuses(TargetOf(e)) }) {
			left = append(left, chain...)
		}
		i = end
	}
	return left
}

// refused reports whether an action has no effect left, because the API server refuses the writes that it consists of.
func (v *view) refused(a Action) bool {
	if len(v.Refused) == 0 || !Mutates(a) {
		return false
	}
	return v.refuses(TargetOfUpdate(a)) || v.refusesAnew(a) || len(Effects(a, v.whole)) == 0
}

// refusesAnew reports whether an action deletes a pod that the API server refuses to create from the spec: it would be created from the
// previous one, and deleted again.
func (v *view) refusesAnew(a Action) bool {
	act, ok := a.(Recreate)
	return ok && v.refuses(TargetOf(CreatePod{NewPod{Name: act.Name}}))
}

// budgetRefused reports whether no voter can be disrupted, because the API server refuses the budget that has to be raised first.
func (v *view) budgetRefused() bool {
	return v.refuses(TargetOf(SetBudget{})) && !v.evictionsBlocked()
}

// firstAllowed returns the first action that the API server does not refuse; the first of all if it refuses them all, nil if there
// are none.
func (v *view) firstAllowed(actions []Action) Action {
	for _, a := range actions {
		if !v.refused(a) {
			return a
		}
	}
	if len(actions) > 0 {
		return actions[0]
	}
	return nil
}

// reportRefused returns what to report while nothing can be done but what the API server refuses; nil if it refuses nothing. A write
// that is to be tried again may never be asked for again: then it is forgotten.
func (v *view) reportRefused() Action {
	var all []string
	var next time.Time
	for _, r := range v.Refused {
		if !v.Now.Before(r.RetryAt) {
			continue
		}
		if all = append(all, r.String()); next.IsZero() || r.RetryAt.Before(next) {
			next = r.RetryAt
		}
	}
	if len(all) == 0 {
		return nil
	}
	return Wait{Reason: v1beta2.ReasonWriteRefused, After: next.Sub(v.Now), Message: strings.Join(all, "; ")}
}
