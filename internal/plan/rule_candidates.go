package plan

import (
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// createCandidates creates candidates, with the lowest version in use: an update may yet be reverted.
func createCandidates(v *view) Action {
	missing := min(v.TargetSize-len(v.Etcd.Members), v.learnerLimit()-len(v.learners)) - len(v.Candidates)
	if missing <= 0 {
		return nil
	}
	return v.newMembers(missing, v.Versions.Lowest)
}

// newMembers creates candidates: first their volumes, then their pods.
func (v *view) newMembers(n int, version string) Action {
	unused := v.unusedVolumes()
	if v.Cluster.Persistent && len(unused) < n {
		a := CreateVolumes{Names: v.freeNames(n - len(unused)), Incarnation: v.currentIncarnation()}
		if len(unused) == 0 || !v.refused(a) {
			return a
		}
		n = len(unused)
	}
	names := unused
	if !v.Cluster.Persistent {
		names = v.freeNames(n)
	}
	avoid := v.avoids(len(v.Etcd.Members) + len(v.Candidates) + n)
	var pods []NewPod
	for _, name := range names[:n] {
		pods = append(pods, NewPod{
			Name: name, Incarnation: v.currentIncarnation(), Persistent: v.Cluster.Persistent, Version: version,
			Transport: v.Cluster.Transport.Served(), Avoid: avoid,
		})
	}
	return CreatePods{Pods: pods}
}

// currentIncarnation returns the incarnation that new objects belong to.
func (v *view) currentIncarnation() int {
	if b := v.Cluster.Bootstrap; b != nil {
		return b.Incarnation
	}
	return 0
}

// unusedVolumes returns the volumes that were created for candidates and have no pod yet.
func (v *view) unusedVolumes() []string {
	var names []string
	for _, c := range v.Volumes {
		if v.vacant(c) && !c.Lost && c.MemberID == 0 && !v.misfit(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// vacant reports whether a volume has neither a member nor a pod, and is not about to go.
func (v *view) vacant(c Volume) bool {
	_, listed := v.members[c.Name]
	_, used := v.pods[c.Name]
	return !listed && !used && !c.Deleting
}

// misfit reports whether a volume that was never used is not one that the spec asks for. It may be that it can never be bound, and
// that the user has corrected that.
func (v *view) misfit(c Volume) bool {
	return v.Cluster.Persistent && c.MemberID == 0 && (c.Drift || v.Cluster.VolumeSize > 0 && c.Requested > v.Cluster.VolumeSize)
}

// deleteUnusedVolume deletes the volume of a candidate that is no longer needed, or not the one to use.
func deleteUnusedVolume(v *view) Action {
	var all []Action
	for _, c := range v.Volumes {
		if v.vacant(c) && v.misfit(c) {
			all = append(all, DeleteVolume{Name: c.Name, UID: c.UID, Why: v1beta2.ReasonSpecChanged})
		}
	}
	if len(v.Etcd.Members)+len(v.Candidates) >= v.MaxMembers {
		for _, name := range v.unusedVolumes() {
			all = append(all, DeleteVolume{Name: name, UID: v.volumes[name].UID, Why: v1beta2.ReasonScaling})
		}
	}
	return v.firstAllowed(all)
}

// pendingFor is how long a pod may have been pending: a pod that has run is pending again while its node starts it anew, which the node may do long
// after it was last heard of. The time without a quorum does not count: where all members start at once, nodes may have to be made for them.
func (v *view) pendingFor(p Pod) time.Duration {
	return min(v.Now.Sub(p.Created), v.Now.Sub(p.ReadyChanged), v.Now.Sub(p.Prepared), v.Now.Sub(v.quorumSince()))
}

// quorumSince is since when a quorum of the voters has been healthy, as far as their pods say when they became Ready; zero if no quorum is known.
// It needs no record, so it also holds after an outage that took the operator along. A quorum that comes and goes begins anew each time: whoever
// is Pending meanwhile is not what is wrong, and is not replaced.
func (v *view) quorumSince() time.Time {
	if v.Etcd.Contact != ContactQuorum {
		return time.Time{}
	}
	var since []time.Time
	for _, m := range v.voters {
		if p := v.pods[m.Name]; p.Ready && v.healthy(m) {
			since = append(since, p.ReadyChanged)
		}
	}
	quorum := Quorum(len(v.voters))
	if len(since) < quorum {
		return v.Now
	}
	slices.SortFunc(since, time.Time.Compare)
	return since[quorum-1]
}

// pendingTooLong reports whether the pod's node has had enough time to prepare it, or no node can: its volume is bound to one that is
// gone. An image that is being pulled takes as long as it takes.
func (v *view) pendingTooLong(p Pod) bool { return p.unprepared() && v.pendingFor(p) > silentLimit }

// unprepared reports whether the pod's node has not prepared it, or no node can.
func (p Pod) unprepared() bool {
	return p.Phase == Pending && !p.Deleting && (p.Node != "" && p.StartProblem == "" && p.WaitsFor != "" || p.tiedToMissingNode())
}

// tiedToMissingNode reports whether the pod's volume is bound to a node, or a zone, that is gone, as the scheduler says.
func (p Pod) tiedToMissingNode() bool {
	return p.Persistent && strings.Contains(p.StartProblem, "olume") && strings.Contains(p.StartProblem, "node affinity")
}

// unreachable reports whether a pod has long been unable to reach its volume, on which etcd was never permitted to start: another volume
// is no loss, and can be where there are nodes.
func (v *view) unreachable(name string) bool {
	p := v.pods[name]
	return v.volumes[name].MemberID == 0 && p.tiedToMissingNode() && v.pendingTooLong(p)
}

// giveUpCandidate deletes what keeps a candidate where it cannot start: its claim, which was never used and may be bound to a node or
// a zone that is gone. The pod is no candidate then, and another one is made under another name. One at a time, the oldest first. How
// often that was done is not known: silentLimit is all the pause that there is between two of them.
func giveUpCandidate(v *view) Action {
	var oldest Pod
	for _, p := range v.Candidates {
		if v.pendingTooLong(p) && (oldest.Name == "" || p.Created.Before(oldest.Created)) {
			oldest = p
		}
	}
	switch {
	case oldest.Name == "":
		return nil
	case oldest.Persistent:
		return DeleteVolume{Name: oldest.Name, UID: v.volumes[oldest.Name].UID, Why: v1beta2.ReasonPodCannotStart}
	}
	return DeletePod{Name: oldest.Name, UID: oldest.UID, Why: v1beta2.ReasonPodCannotStart}
}
