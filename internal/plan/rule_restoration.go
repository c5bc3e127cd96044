package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// retryRestore gives an attempt up whose data was lost after etcd was let start on it, and before the cluster was up. What is on
// its volume after all stays there, and nothing is ever restored there again.
func retryRestore(v *view) Action {
	b := v.Cluster.Bootstrap
	p, c := v.pods[b.Members[0]], v.volumes[b.Members[0]]
	if p.Exit.DataGone() || c.Lost && c.MemberID != 0 {
		return CommitBootstrap{Bootstrap: v.newBootstrap(v.nextIncarnation(), v.freeNames(1), b.Restore)}
	}
	return nil
}

// permitRestoredMember lets the member start from the data that was restored, and from nothing else.
func permitRestoredMember(v *view) Action {
	b := v.Cluster.Bootstrap
	name := b.Members[0]
	p, ok := v.pods[name]
	if !ok || p.Deleting || p.Permit != nil || !p.up() {
		return nil
	}
	ids, _ := IDs(b.Token, v.peerURLs(b.Members))
	return WritePermits{Permits: []PodPermit{{Pod: name, UID: p.UID, Permit: member.Permit{
		Mode: member.ModeResume, ClusterID: member.ID(b.ClusterID), MemberID: member.ID(ids[name]),
	}}}}
}

// waitForRestoredMember names what the restored member is at.
func waitForRestoredMember(v *view) Action {
	name := v.Cluster.Bootstrap.Members[0]
	if f := v.pods[name].RestoreFailure; f != nil {
		if f.Terminal {
			return v.restoreStuck(f.Message)
		}
		return Wait{
			Reason: f.Reason, After: v.poll(),
			Message: fmt.Sprintf("%s cannot build its data from the snapshot, and tries again: %s", name, f.Message),
		}
	}
	if w, ok := v.waitForPods([]string{name}).(Wait); ok && w.Reason == v1beta2.ReasonPodCannotStart {
		return w
	}
	if !v.pods[name].up() {
		return Wait{
			Reason: v1beta2.ReasonRestoring, After: v.poll(),
			Message: fmt.Sprintf("waiting until %s has built its data from the snapshot", name),
		}
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForEtcd, After: v.poll(),
		Message: fmt.Sprintf("waiting until etcd answers on the restored data of %s", name),
	}
}

// restoreSourceGone stops where a restore can never be completed, before anything more of the former members goes: they may come back.
func restoreSourceGone(v *view) Action {
	if !v.noRestoreSource() {
		return nil
	}
	return v.restoreStuck("the EtcdRestore that says where the snapshot is does not exist any more")
}

// noRestoreSource tells whether nothing says any more which snapshot the first member is to start from, and none is at it.
func (v *view) noRestoreSource() bool {
	b := v.Cluster.Bootstrap
	_, there := v.pods[b.Members[0]]
	return v.Cluster.SourceGone && !there
}

// restoreStuck is where a restore ends that can neither be completed nor called off.
func (v *view) restoreStuck(why string) Action {
	if v.Cluster.Previous != nil {
		why += "; " + v.whyNotCanceled()
	}
	return Blocked{Reason: v1beta2.ReasonRestoreFailed, Message: why + "; " + v.advice()}
}

// stopPreviousMembers ends the pods of what a restore replaces: no client may reach them any more. The data stays.
func stopPreviousMembers(v *view) Action {
	pods, volumes := v.lostBeforeUse()
	return v.deleteAll(slices.Concat(v.previousPods, pods), volumes)
}
