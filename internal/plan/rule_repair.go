package plan

import (
	"cmp"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

const (
	// terminatingGrace is how long a pod may outlive its deletion deadline before its node counts as gone. The kubelet removes a
	// pod within its grace period; a pod that remains is on a node that does not report.
	terminatingGrace = 10 * time.Second
	// pendingLimit is how long a member's pod may fail to start, for a reason that Kubernetes states, before the member is replaced
	// on another node, and silentLimit for how long if it states none: a volume that cannot be attached or mounted, for example.
	pendingLimit = 5 * time.Minute
	silentLimit  = 2 * pendingLimit
	// unreadableLimit is how long a member may fail to start because its data cannot be read before it is replaced: the disk may
	// recover.
	unreadableLimit = 5 * time.Minute
	// publishLimit is how long a listed member may take to start for the first time after it was permitted to.
	publishLimit = 2 * time.Minute
)

// deleteFinishedPods deletes pods in phase Succeeded or Failed. After an eviction or a graceful node shutdown the kubelet does
// not restart a pod, whatever its restart policy.
func deleteFinishedPods(v *view) Action {
	var all []Action
	for _, p := range v.Pods {
		if p.Phase == Finished && !p.Deleting {
			all = append(all, DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonPodEnded})
		}
	}
	return v.firstAllowed(all)
}

// outdated reports whether a new pod would be created differently: new pods run the lowest version in use, or the target
// version, and on any node once the relocation that they were for is over.
func (v *view) outdated(p Pod) bool {
	return p.Drift.made() || v.staysAway(p) || p.Version != v.Versions.Lowest && p.Version != v.Versions.Target
}

// unstartable reports whether etcd cannot run in a pod for a reason that is known. A member that is not heard may
// serve nevertheless, beside another container that does not start: so says the probe of its own.
func (v *view) unstartable(p Pod) bool {
	_, answers := v.answers[p.Name]
	return !answers && !p.Deleting && !p.SidecarNotReady && p.startProblem() != ""
}

// updateUnstartablePod applies the current spec to a pod that cannot run, so that reverting the spec recovers even a cluster that a
// bad update and a fault have hit together. It needs no quorum: a member that is down is no loss to one, and its data is kept. Other
// resources take a new pod, too, where the data is on a volume: if a container is not running when it is resized, the kubelet gives it
// more memory, but leaves the limit of its pod as it was (Kubernetes 1.36).
func updateUnstartablePod(v *view) Action {
	var all []Action
	for _, p := range v.Pods {
		if !v.unstartable(p) {
			continue
		}
		c := v.volumes[p.Name]
		switch onVolume := p.Persistent && v.usable(c); {
		case (p.Drift.Template || p.Drift.Resources || v.unfit(p)) && onVolume:
			all = append(all, Recreate{Name: p.Name, UID: p.UID, Version: v.versionOn(c)})
		case v.Etcd.Contact != ContactQuorum && v.changesImage(p) && v.canRunSpecVersion(p) && (onVolume || !p.Persistent):
			all = append(all, SetImage{Name: p.Name, UID: p.UID, Version: v.versionFor(p)})
		}
	}
	return v.firstAllowed(all)
}

// resizeUnstartable gives pods that cannot start other resources, or their volumes more room, if the spec has more by now: that may be
// all that keeps the quorum from coming back. It restarts nobody, so it needs no quorum; while there is one it is an update. Pods on
// volumes are recreated with other resources.
func resizeUnstartable(v *view) Action {
	if v.Etcd.Contact == ContactQuorum {
		return nil
	}
	var all []Action
	var small []string
	for _, p := range v.Pods {
		if !v.unstartable(p) {
			continue
		}
		if p.Drift.Resources && !p.Persistent { // whatever else differs has to wait until another member can take its place
			all = append(all, Resize{Name: p.Name, UID: p.UID})
		}
		if c := v.volumes[p.Name]; p.Persistent && v.usable(c) && v.tooSmall(c) {
			small = append(small, c.Name)
		}
	}
	if len(small) > 0 {
		all = append(all, Expand{Names: small})
	}
	return v.firstAllowed(all)
}

// recreateMissingPods recreates members' pods on their volumes. It needs no quorum: the membership does not change, and
// member-run starts etcd only if the member's data is there.
func recreateMissingPods(v *view) Action {
	var pods []NewPod
	for _, c := range v.Volumes {
		if _, there := v.pods[c.Name]; !there && v.usable(c) && v.mayResume(c) {
			pods = append(pods, v.podFor(c))
		}
	}
	if len(pods) == 0 {
		return nil
	}
	return CreatePods{Pods: pods}
}

// podFor returns the pod to create on a member's volume. Where the API server refuses the one from the present spec, it is created from
// the previous one: an edit that cannot be carried out costs no member. Never the other way round: a member that an update has not
// reached would get a spec that may have stopped another one already.
func (v *view) podFor(c Volume) NewPod {
	pod := NewPod{
		Name: c.Name, Incarnation: c.Incarnation, Persistent: true, Version: v.versionOn(c), FromPreviousSpec: c.FromPreviousSpec,
		Transport: v.transportOn(c), Avoid: v.avoidsOn(c), Permit: c.resumePermit(),
	}
	earlier := pod
	earlier.FromPreviousSpec = true
	if v.refuses(TargetOf(CreatePod{pod})) && !v.refuses(TargetOf(CreatePod{earlier})) && v.Cluster.hasPreviousSpec() {
		return earlier
	}
	return pod
}

// hasPreviousSpec reports whether an earlier spec than the present one is recorded: in the first pass after an edit it is the one that
// was accepted.
func (c Cluster) hasPreviousSpec() bool {
	earlier := cmp.Or(c.PreviousSpec, c.AcceptedSpec)
	return earlier != "" && earlier != c.Spec
}

// permitRecreatedPods permits a pod to resume on its member's data that was created before the cluster ID was recorded, and lacks its
// permit. A learner that lacks one may never have had any, though its volume is marked: permitLearners knows.
func permitRecreatedPods(v *view) Action {
	var permits []PodPermit
	for _, c := range v.Volumes {
		p, there := v.pods[c.Name]
		if !there || p.Permit != nil || !p.Persistent || p.Deleting || p.Phase == Finished || !v.usable(c) || !v.mayResume(c) {
			continue
		}
		if m := v.members[c.Name]; m.Learner && !m.Published {
			continue
		}
		permits = append(permits, PodPermit{Pod: p.Name, UID: p.UID, Permit: *c.resumePermit()})
	}
	if len(permits) == 0 {
		return nil
	}
	return WritePermits{Permits: permits}
}

// versionOn returns the etcd version for a pod on that volume: the one that the member ran before. A repair does not update.
func (v *view) versionOn(c Volume) string {
	if c.Version != "" {
		return c.Version
	}
	return v.Versions.Lowest
}

// transportOn returns the transport for a pod on that volume: the one that the member had before, but for a scheme that was given up since,
// which nobody is told of: what it takes may be what keeps pods from starting. Whoever is told to connect to a member is served by it, so
// where the mark on the volume is not of that kind, it is not one of a switch.
func (v *view) transportOn(c Volume) member.Transport {
	recorded, on := v.Cluster.Transport.Served(), c.Transport.Served()
	if !c.Transport.Serves(v.Cluster.Transport) {
		return recorded
	}
	if !recorded.PeerBoth {
		on.PeerTLS, on.PeerBoth, on.PeerPort = recorded.PeerTLS, recorded.PeerBoth, recorded.PeerPort
	}
	if !recorded.ClientBoth {
		on.ClientTLS, on.ClientBoth = recorded.ClientTLS, recorded.ClientBoth
	}
	return on
}

// mayResume reports whether the member that the volume belongs to is still listed, as far as a quorum confirms that.
func (v *view) mayResume(c Volume) bool {
	m, listed := v.members[c.Name]
	return v.Etcd.Contact != ContactQuorum || listed && m.ID == c.MemberID
}

// usable reports whether the volume holds a member's data, or etcd was permitted to write it, and may be used by a new pod.
func (v *view) usable(c Volume) bool {
	id := v.Cluster.ID
	if b := v.Cluster.Bootstrap; id == 0 && b != nil {
		id = b.ClusterID
	}
	return c.MemberID != 0 && c.ClusterID == id && !c.Deleting && !c.Lost
}

// deleteAbandonedAttempts deletes the pods and unused volumes of canceled restores: their data is in the snapshot. No other rule
// waits for that. A volume on which etcd was permitted to start is not among them: clients may have written to it, and it is
// kept.
func deleteAbandonedAttempts(v *view) Action {
	return v.deleteNext(v.abandonedPods, v.abandonedVolumes, v1beta2.ReasonClearingAttempt)
}
