package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// retryRestore abandons an attempt whose data was lost after etcd was permitted to start and before the cluster ID was
// recorded. If there is still anything on its volume it stays there: no snapshot is ever restored onto that volume again. Before etcd was
// permitted to start, it abandons one whose volume is not what the spec asks for by now, which may never be bound or be too small, or
// whose volume is bound to a node that is gone; but not where the EtcdRestore is gone, without which there can be no other attempt.
func retryRestore(v *view) Action {
	b := v.Cluster.Bootstrap
	name := b.Members[0]
	p, c := v.pods[name], v.volumes[name]
	tooSmall := p.RestoreFailure != nil && c.UID != "" && c.MemberID == 0 && v.tooSmall(c)
	useless := v.misfit(c) || tooSmall || v.unreachable(name)
	if p.Exit.DataGone() || c.Lost && c.MemberID != 0 || useless && !v.Cluster.SourceGone {
		next := v.newBootstrap(v.nextIncarnation(), v.freeNames(1), b.Restore)
		next.Recovery = b.Recovery
		return CommitBootstrap{Bootstrap: next}
	}
	return nil
}

// permitRestoredMember permits the member to start on the restored data, and not with an empty data directory.
func permitRestoredMember(v *view) Action {
	b := v.Cluster.Bootstrap
	name := b.Members[0]
	p, ok := v.pods[name]
	if !ok || p.Deleting || p.Permit != nil || !p.up() {
		return nil
	}
	ids, _ := IDs(b.Token, v.Cluster.peerURLs(b.Members))
	return WritePermits{Permits: []PodPermit{{Pod: name, UID: p.UID, Permit: member.Permit{
		Mode: member.ModeResume, ClusterID: member.ID(b.ClusterID), MemberID: member.ID(ids[name]),
	}}}}
}

// waitForRestoredMember reports the progress of the restored member.
func waitForRestoredMember(v *view) Action {
	name := v.Cluster.Bootstrap.Members[0]
	if f := v.pods[name].RestoreFailure; f != nil {
		if f.Terminal {
			return v.restoreStuck(f.Message)
		}
		return Wait{
			Reason: f.Reason, After: v.poll(),
			Message: fmt.Sprintf("%s failed to restore the snapshot and retries: %s", name, f.Message),
		}
	}
	if w, ok := v.waitForPods([]string{name}).(Wait); ok && w.Reason == v1beta2.ReasonPodCannotStart {
		return w
	}
	if !v.pods[name].up() {
		return Wait{
			Reason: v1beta2.ReasonRestoring, After: v.poll(),
			Message: fmt.Sprintf("waiting for %s to restore the snapshot", name),
		}
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForEtcd, After: v.poll(),
		Message: fmt.Sprintf("waiting for etcd to answer with the restored data on %s", name),
	}
}

// restoreSourceGone stops a restore that can never complete before more of the previous members are stopped: they may be able
// to come back.
func restoreSourceGone(v *view) Action {
	if !v.noRestoreSource() {
		return nil
	}
	return v.restoreStuck("the EtcdRestore with the location of the snapshot no longer exists")
}

// noRestoreSource reports whether the EtcdRestore with the location of the snapshot is gone, and no pod is restoring it.
func (v *view) noRestoreSource() bool {
	b := v.Cluster.Bootstrap
	_, there := v.pods[b.Members[0]]
	return v.Cluster.SourceGone && !there
}

// restoreStuck reports a restore that can neither complete nor be canceled.
func (v *view) restoreStuck(why string) Action {
	if v.Cluster.Previous != nil {
		why += "; " + v.whyNotCanceled()
	}
	return Blocked{Reason: v1beta2.ReasonRestoreFailed, Message: why + "; " + v.advice()}
}

// stopPreviousMembers deletes the pods being replaced, so that no client can reach them. Their volumes are kept.
func stopPreviousMembers(v *view) Action {
	pods, volumes := v.lostBeforeUse()
	return v.deleteAll(slices.Concat(v.previousPods, pods), volumes)
}
