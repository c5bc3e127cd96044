package plan

import (
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// abandoned is what belongs to an incarnation before the present one: of a first start that was given up, or of the
// cluster that a restore replaces. It is no part of the cluster.
type abandoned struct {
	oldPods    []Pod
	oldVolumes []Volume
	// foreign are claims that are not provably this cluster's. They are in nobody's hands but their owner's: no rule sees
	// them, and their names are not used.
	foreign []Volume
}

// Current tells whether something that was made for an incarnation belongs to the present one.
func (c Cluster) Current(incarnation int) bool {
	return c.Bootstrap == nil || incarnation >= c.Bootstrap.Incarnation
}

// setApart splits what there is into what belongs to the present incarnation, and what was left. Once the cluster is up, a
// pod that restores differs from what the spec gives: it holds the credentials of a storage.
func setApart(o Observed) (Observed, abandoned) {
	var left abandoned
	pods, volumes := o.Pods, o.Volumes
	o.Pods, o.Volumes = nil, nil
	for _, p := range pods {
		p.Drift.Template = p.Drift.Template || p.Restores && o.Cluster.ID != 0
		if o.Cluster.Current(p.Incarnation) {
			o.Pods = append(o.Pods, p)
		} else {
			left.oldPods = append(left.oldPods, p)
		}
	}
	for _, c := range volumes {
		switch {
		case !o.ours(c):
			left.foreign = append(left.foreign, c)
		case o.Cluster.Current(c.Incarnation):
			o.Volumes = append(o.Volumes, c)
		default:
			left.oldVolumes = append(left.oldVolumes, c)
		}
	}
	return o, left
}

// ours tells whether a claim is the cluster's own. What an earlier cluster of the name has left is as long as it may yet
// be taken up.
func (o Observed) ours(c Volume) bool {
	return c.Foreign == "" && (c.Owned || o.Cluster.ID == 0 && o.Cluster.Bootstrap == nil)
}

// leftBehind tells whether that name is still in use by something abandoned, or by something foreign.
func (a abandoned) leftBehind(name string) bool {
	if slices.ContainsFunc(a.foreign, func(c Volume) bool { return c.Name == name }) {
		return true
	}
	return slices.ContainsFunc(a.oldPods, func(p Pod) bool { return p.Name == name }) ||
		slices.ContainsFunc(a.oldVolumes, func(c Volume) bool { return c.Name == name })
}

// clearOld ends what can be of no use before anything new is made: pods that no client may reach any more, and of a first
// start that was given up the volumes, too. The data that a restore replaces is kept for the time being.
func clearOld(v *view) Action {
	pods, volumes := v.oldPods, v.oldVolumes
	if v.Cluster.Bootstrap.Restore != "" {
		volumes = nil
	}
	for _, c := range v.Volumes {
		if _, seated := seatOf(v.Cluster.Bootstrap, c.Name); seated || !c.Lost {
			continue // a volume that was lost before anybody was seated on it
		}
		if p, ok := v.pods[c.Name]; ok {
			pods = append(pods, p)
		}
		volumes = append(volumes, c)
	}
	return v.clear(pods, volumes)
}

// clear deletes pods, then volumes, and waits until they are gone.
func (v *view) clear(pods []Pod, volumes []Volume) Action {
	var leaving []string
	used := map[string]bool{}
	for _, p := range pods {
		used[p.Name] = true
		switch {
		case p.Serving:
			return Unserve{Pod: p.Name, UID: p.UID}
		case !p.Deleting:
			return DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonBootstrapping}
		case !v.outlived(p):
			leaving = append(leaving, p.Name)
		}
	}
	for _, c := range volumes {
		if !c.Deleting && !used[c.Name] {
			return DeleteVolume{Name: c.Name, UID: c.UID, Why: v1beta2.ReasonBootstrapping}
		}
		leaving = append(leaving, c.Name)
	}
	if len(leaving) == 0 {
		return nil
	}
	return Wait{
		Reason: v1beta2.ReasonBootstrapping, After: pollSlow,
		Message: "waiting until what an earlier start has left is gone: " + list(leaving),
	}
}

// outlived tells whether a pod of the replaced cluster need not be waited for: its node does not report. No Service leads
// to it, and its name and its volume are not used again.
func (v *view) outlived(p Pod) bool {
	return v.Cluster.Bootstrap.Restore != "" && v.Now.Sub(p.Deadline) > terminatingGrace
}

// dropReplaced deletes what a restore has replaced, once the restored cluster is as the spec asks.
func dropReplaced(v *view) Action {
	for _, p := range v.oldPods {
		if !p.Deleting {
			return DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonRestored}
		}
	}
	for _, c := range v.oldVolumes {
		if !c.Deleting {
			return DeleteVolume{Name: c.Name, UID: c.UID, Why: v1beta2.ReasonRestored}
		}
	}
	return nil
}
