package plan

import (
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const (
	// terminatingGrace is how long a pod may outlive its own deadline before its node counts as gone. The kubelet
	// removes a pod within its grace period; a pod that stays is on a node that does not report.
	terminatingGrace = 10 * time.Second
	// pendingLimit is how long a member's pod may fail to start before the member is replaced elsewhere.
	pendingLimit = 5 * time.Minute
	// corruptLimit and unreadableLimit are how long a member may fail to start because its data is damaged, or cannot be
	// read, before it is replaced. What cannot be read may be a disk that comes back.
	corruptLimit    = 20 * time.Second
	unreadableLimit = 5 * time.Minute
	// publishLimit is how long a listed member may take to start for the first time, since it may.
	publishLimit = 2 * time.Minute
)

// deleteFinishedPods deletes pods that ended: after an eviction or a graceful node shutdown the kubelet never starts them
// again, whatever their restart policy.
func deleteFinishedPods(v *view) Action {
	for _, p := range v.Pods {
		if p.Phase == Finished && !p.Deleting {
			return DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonPodEnded}
		}
	}
	return nil
}

// outdated tells whether nobody would make such a pod now: new ones run the lowest version that runs, or the target.
func (v *view) outdated(p Pod) bool {
	return p.Drift.Any() || p.Version != v.Versions.Lowest && p.Version != v.Versions.Target
}

// updateFailedPod gives what the spec asks for now to a pod that cannot run: so going back to a spec that works mends even what a
// bad update and a fault have done together. It needs no quorum: what does not run is missed by nobody, and the data stays.
func updateFailedPod(v *view) Action {
	for _, p := range v.Pods {
		if _, answers := v.answers[p.Name]; answers || p.Deleting || p.startProblem() == "" {
			continue
		}
		c := v.volumes[p.Name]
		switch onVolume := p.Persistent && v.usable(c); {
		case p.Drift.Template && onVolume:
			return Recreate{Name: p.Name, UID: p.UID, Version: v.versionOn(c)}
		case v.Etcd.Contact != ContactQuorum && v.changesImage(p) && v.canRunSpecVersion(p) && (onVolume || !p.Persistent):
			return SetImage{Name: p.Name, UID: p.UID, Version: v.Cluster.Version}
		}
	}
	return nil
}

// recreateMissingPods brings members back on their volumes. It needs no quorum: it changes no membership, and member-run starts
// etcd only if the data is really there. A pod that was made before the latch may be there and still lack its permit.
func recreateMissingPods(v *view) Action {
	var pods []NewPod
	var permits []PodPermit
	for _, c := range v.Volumes {
		if !v.usable(c) || !v.mayResume(c) {
			continue
		}
		p, there := v.pods[c.Name]
		switch {
		case !there:
			pods = append(pods, NewPod{
				Name: c.Name, Incarnation: c.Incarnation, Persistent: true, Version: v.versionOn(c), FromPreviousSpec: c.FromPreviousSpec,
				Permit: c.resumePermit(),
			})
		case p.Permit == nil && p.Persistent && !p.Deleting && p.Phase != Finished:
			permits = append(permits, PodPermit{Pod: p.Name, UID: p.UID, Permit: *c.resumePermit()})
		}
	}
	switch {
	case len(pods) > 0:
		return CreatePods{Pods: pods}
	case len(permits) > 0:
		return WritePermits{Permits: permits}
	}
	return nil
}

// versionOn is the version for a member's pod on its volume: the one that it had. An update is no business of a repair.
func (v *view) versionOn(c Volume) string {
	if c.Version != "" {
		return c.Version
	}
	return v.Versions.Lowest
}

// mayResume tells whether the member that a volume belongs to is still one, as far as a quorum can be asked.
func (v *view) mayResume(c Volume) bool {
	m, listed := v.members[c.Name]
	return v.Etcd.Contact != ContactQuorum || listed && m.ID == c.MemberID
}

// usable means that the volume holds a member's data and may be given to a new pod.
func (v *view) usable(c Volume) bool {
	return c.MemberID != 0 && c.ClusterID == v.Cluster.ID && !c.Deleting && !c.Lost
}

// quorumLostMessage reports. The one harm that it must not do is to change the membership, or to delete what may still be
// needed.
func quorumLost(v *view) Action {
	if v.Etcd.Contact == ContactQuorum {
		return nil
	}
	known := v.Cluster.Voters
	if b := v.Cluster.Bootstrap; len(known) == 0 && b != nil {
		known = b.Members
	}
	if len(v.Etcd.Unconfirmed) > 0 {
		return v.unconfirmedMembers(known)
	}
	reason, before := v1beta2.ReasonQuorumLost, ""
	if v.Cluster.Resuming != "" {
		reason, before = v1beta2.ReasonResuming, v.Cluster.Resuming+": the former members start again; "
	}
	var silent, lost []string
	for _, name := range known {
		if _, ok := v.answers[name]; ok {
			continue
		}
		if i := slices.IndexFunc(v.foreign, func(c Volume) bool { return c.Name == name }); i >= 0 {
			return Blocked{
				Reason:  v1beta2.ReasonForeignVolume,
				Message: foreignClaim(v.foreign[i]) + "; voter " + name + " needs the name, and no quorum answers without it",
			}
		}
		if v.dataGone(name) {
			lost = append(lost, name)
		} else {
			silent = append(silent, name)
		}
	}
	if len(known) > 0 && len(known)-len(lost) < Quorum(len(known)) {
		return Blocked{
			Reason: v1beta2.ReasonDataLost,
			Message: before + fmt.Sprintf("the data of %s is gone and a quorum of %d voters cannot form again: "+
				"create an EtcdRestore, which saves first what is left. To delete the cluster and create it again gives an empty one",
				list(lost), len(known)),
		}
	}
	message := before + v.quorumLostMessage(len(known), silent, lost)
	return Wait{Reason: reason, After: v.poll(), Message: message}
}

// unconfirmedMembers says that somebody speaks for a quorum whom the others do not bear out. It may be one that has taken a voter's
// place, or the membership was changed by hand so far that those who know of it are no majority of those who voted before.
func (v *view) unconfirmedMembers(known []string) Action {
	return Wait{
		Reason: v1beta2.ReasonQuorumLost, After: v.poll(),
		Message: fmt.Sprintf("%s reads a member list that no majority of the voters known last (%s) confirms: bring the others "+
			"back; if voters were removed by hand, delete the pods and volumes of those, and of no others", list(v.Etcd.Unconfirmed), list(known)),
	}
}

func (v *view) quorumLostMessage(known int, silent, lost []string) string {
	text := fmt.Sprintf("%d of %d voters are needed and no quorum answers", Quorum(known), known)
	if len(silent) > 0 {
		text += "; no answer from " + list(silent)
		for _, name := range silent {
			if p := v.pods[name]; p.StartProblem != "" {
				text += fmt.Sprintf(" (pod %s: %s)", name, p.StartProblem)
			}
		}
		text += ": bring their pods and nodes back"
	}
	if len(lost) > 0 {
		text += "; the data of " + list(lost) + " is gone"
	}
	return text
}

// dataGone tells whether nothing of a member's data can come back, or nothing was ever there.
func (v *view) dataGone(name string) bool {
	p, running := v.pods[name]
	if running && !p.Persistent {
		return p.Phase == Finished || p.Exit.DataGone() || p.Permit == nil
	}
	c, ok := v.volumes[name]
	return !ok || c.MemberID == 0 || c.Lost || c.Deleting && !running || running && p.Exit.DataGone()
}

// deleteCanceledAttempts deletes what attempts at a restore have left that never came to anything: the data is in the snapshot. Nobody
// needs to wait for it. A volume on which etcd was let start is none of that: somebody may have written, and it is kept.
func deleteCanceledAttempts(v *view) Action {
	for _, p := range v.canceledPods {
		if !p.Deleting {
			return DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonClearingAttempt}
		}
	}
	for _, c := range v.canceledVolumes {
		if !c.Deleting {
			return DeleteVolume{Name: c.Name, UID: c.UID, Why: v1beta2.ReasonClearingAttempt}
		}
	}
	return nil
}
