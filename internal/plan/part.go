package plan

import "slices"

// PartOf returns the part of an action that has taken effect, by the writes that the API server has accepted; false if that is nothing.
// It is for telling of it: what is recorded of an action needs the whole.
func PartOf(a Action, accepted []Target) (Action, bool) {
	switch act := a.(type) {
	case CreateVolumes:
		act.Names = part(act.Names, accepted, func(name string) Effect { return CreateVolume{Name: name} })
		return act, len(act.Names) > 0
	case CreatePods:
		act.Pods = part(act.Pods, accepted, func(p NewPod) Effect { return CreatePod{p} })
		return act, len(act.Pods) > 0
	case WritePermits:
		act.Permits = part(act.Permits, accepted, func(p PodPermit) Effect { return WritePermit{p} })
		return act, len(act.Permits) > 0
	case AddToService:
		act.Pods = part(act.Pods, accepted, func(name string) Effect { return AddPodToService{Name: name} })
		return act, len(act.Pods) > 0
	case Expand:
		act.Names = part(act.Names, accepted, func(name string) Effect { return ExpandVolume{Name: name} })
		return act, len(act.Names) > 0
	case PrepullImages:
		act.Images = part(act.Images, accepted, func(on NodeImage) Effect { return CreatePrepullPod{on} })
		return act, len(act.Images) > 0
	case SetImage:
		return act, slices.Contains(accepted, TargetOf(ChangeImage(act)))
	case Recreate:
		return act, slices.Contains(accepted, TargetOf(DeletePod{Name: act.Name}))
	default:
		return a, len(accepted) > 0
	}
}

// part are those of which the write was accepted.
func part[T any](of []T, accepted []Target, effect func(T) Effect) []T {
	return slices.DeleteFunc(slices.Clone(of), func(one T) bool { return !slices.Contains(accepted, TargetOf(effect(one))) })
}
