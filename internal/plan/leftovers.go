package plan

import (
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// leftovers are the objects of other incarnations: of an abandoned bootstrap, or of the cluster that a restore replaces; and,
// apart from those, of canceled restores. They do not belong to the cluster.
type leftovers struct {
	previousPods, abandonedPods       []Pod
	previousVolumes, abandonedVolumes []Volume
	// keptVolumes belong to the user: volumes that restores have replaced, or that clients may have written to during a canceled
	// one, and those of members whose data differed. No rule uses or deletes them, whatever their incarnation, and their names are not reused.
	keptVolumes []Volume
	// foreign are claims that are not provably this cluster's. No rule sees them, and their names are not used.
	foreign []Volume
}

// splitByIncarnation separates the objects of the current incarnation from leftovers. Once the cluster is up, a pod that
// restores differs from the spec: it references the credentials of the storage.
func splitByIncarnation(o Observed) (Observed, leftovers) {
	var left leftovers
	pods, volumes := o.Pods, o.Volumes
	o.Pods, o.Volumes = nil, nil
	for _, p := range pods {
		p.Drift.Template = p.Drift.Template || p.Restores && o.Cluster.ID != 0
		switch {
		case o.Cluster.CurrentPod(p):
			o.Pods = append(o.Pods, p)
		case o.Cluster.abandoned(p.Incarnation):
			left.abandonedPods = append(left.abandonedPods, p)
		default:
			left.previousPods = append(left.previousPods, p)
		}
	}
	for _, c := range volumes {
		switch {
		case slices.Contains(o.Cluster.KeptUIDs, c.UID), o.isOwn(c) && (o.Cluster.keeps(c) || o.evidence(c) || o.mayBeEvidence(c)):
			left.keptVolumes = append(left.keptVolumes, c)
		case !o.isOwn(c):
			left.foreign = append(left.foreign, c)
		case o.Cluster.currentVolume(c):
			o.Volumes = append(o.Volumes, c)
		case o.Cluster.abandoned(c.Incarnation):
			left.abandonedVolumes = append(left.abandonedVolumes, c)
		default:
			left.previousVolumes = append(left.previousVolumes, c)
		}
	}
	return o, left
}

// isOwn reports whether a claim belongs to the cluster. A claim of an earlier cluster of the same name does as long as it may
// be adopted.
func (o Observed) isOwn(c Volume) bool {
	return c.Foreign == "" && (c.Owned || o.Cluster.ID == 0 && o.Cluster.Bootstrap == nil)
}

// nameInUse reports whether a leftover or a foreign claim has that name.
func (a leftovers) nameInUse(name string) bool {
	if slices.ContainsFunc(a.foreign, func(c Volume) bool { return c.Name == name }) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(a.previousPods, a.abandonedPods), func(p Pod) bool { return p.Name == name }) ||
		slices.ContainsFunc(slices.Concat(a.previousVolumes, a.abandonedVolumes), func(c Volume) bool { return c.Name == name }) ||
		a.hasKept(name)
}

// hasKept reports whether a volume of that name is kept.
func (a leftovers) hasKept(name string) bool {
	return slices.ContainsFunc(a.keptVolumes, func(c Volume) bool { return c.Name == name })
}

// lostBeforeUse returns volumes that were lost before etcd was permitted to start on them, and the pods that mount them.
func (v *view) lostBeforeUse() (pods []Pod, volumes []Volume) {
	for _, c := range v.Volumes {
		if _, bound := initialPodOf(v.Cluster.Bootstrap, c.Name); bound || !c.Lost || c.MemberID != 0 {
			continue
		}
		if p, ok := v.pods[c.Name]; ok {
			pods = append(pods, p)
		}
		volumes = append(volumes, c)
	}
	return pods, volumes
}

// deleteAll deletes pods, then volumes, and waits until they are gone.
func (v *view) deleteAll(pods []Pod, volumes []Volume) Action {
	var leaving []string
	used := map[string]bool{}
	for _, p := range pods {
		used[p.Name] = true
		switch {
		case p.InService:
			return RemoveFromService{Pod: p.Name, UID: p.UID}
		case !p.Deleting:
			return DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonBootstrapping}
		case !v.stuckTerminating(p):
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
	message := "waiting until the pods and volumes of an earlier attempt to start are deleted: "
	if v.Cluster.Bootstrap.Restore != "" {
		message = "waiting until the pods of the members being replaced are gone (no volume with data is deleted): "
	}
	message += list(leaving)
	if v.Cluster.Bootstrap.Recovery && slices.ContainsFunc(pods, v.overdue) {
		message += "; some are on nodes that do not report, where etcd may still run and serve clients: once such a node is off for " +
			"certain, delete it from Kubernetes, or give it the taint node.kubernetes.io/out-of-service"
	}
	return Wait{Reason: v1beta2.ReasonBootstrapping, After: pollSlow, Message: message}
}

// deleteNext deletes pods, then volumes, one in a pass. It does not wait until they are gone.
func (v *view) deleteNext(pods []Pod, volumes []Volume, why string) Action {
	var all []Action
	for _, p := range pods {
		if !p.Deleting {
			all = append(all, DeletePod{Name: p.Name, UID: p.UID, Why: why})
		}
	}
	for _, c := range volumes {
		if !c.Deleting {
			all = append(all, DeleteVolume{Name: c.Name, UID: c.UID, Why: why})
		}
	}
	return v.firstAllowed(all)
}

// stuckTerminating reports whether a pod of the replaced cluster need not be waited for, because its node does not report. It
// is not in the client Service, and its name and its volume are not used again. A recovery from a lost quorum waits for it all the
// same: members that nobody hears of may be the majority, with clients of their own.
func (v *view) stuckTerminating(p Pod) bool {
	b := v.Cluster.Bootstrap
	return b.Restore != "" && !b.Recovery && v.overdue(p)
}

// strandedPod reports whether a pod is left of a member that is replaced, and need not be waited for either: its node does not
// report, and nothing but the node, or its deletion, can end it. Its name and its volume are not used meanwhile.
func (v *view) strandedPod(p Pod) bool {
	_, listed := v.members[p.Name]
	return !listed && v.overdue(p)
}

// overdue reports whether a terminating pod is still there although its grace period is over.
func (v *view) overdue(p Pod) bool { return p.Deleting && v.Now.Sub(p.Deadline) > terminatingGrace }
