package plan

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// startRestore begins an incarnation whose one member starts from a snapshot, whatever state the cluster is in. It is committed
// before anything of the old one is touched, and the others join the restored member as learners. A later restore takes the
// place of one that is under way, and replaces what that was to replace.
func startRestore(v *view) Action {
	if v.Cluster.Restore == "" {
		return nil
	}
	if v.safetySnapshotExpired() {
		return Wait{
			Reason: v1beta2.ReasonSaving, After: pollSlow,
			Message: "what the cluster holds was saved a while ago: waiting until that is done once more, before it is replaced",
		}
	}
	return CommitBootstrap{
		Bootstrap: v.newBootstrap(v.nextIncarnation(), v.freeNames(1), v.Cluster.Restore), UnsavedReason: v.unsavedReason(),
	}
}

// recordClusterIDFirst latches the cluster ID of what is up before anything takes its place, a later restore or what was there before. No
// Service for clients leads there yet, but the members' own names do, and whoever uses those may have written.
func recordClusterIDFirst(v *view) Action {
	if v.Cluster.ID != 0 || v.Cluster.Bootstrap == nil {
		return nil
	}
	if goesBack := v.cancelReason() != nil && v.canGoBack(); v.Cluster.Restore == "" && !goesBack {
		return nil
	}
	return v.recordIfQuorum()
}

// usedVolumes are the names of the volumes of the attempt under way on which etcd was let start: if it does not answer now it may have
// before, and clients may have written.
func (v *view) usedVolumes() []string {
	var names []string
	for _, c := range v.Volumes {
		if c.MemberID != 0 && !c.Deleting {
			names = append(names, c.Name)
		}
	}
	return names
}

// nextIncarnation is higher than any that was given before, and than that of what was taken over from an earlier cluster.
func (v *view) nextIncarnation() int { return v.lastIncarnation() + 1 }

// waitForRestore keeps a cluster from starting from nothing that is to start from a snapshot.
func waitForRestore(v *view) Action {
	if v.Cluster.WaitsForRestore == "" {
		return nil
	}
	if v.Cluster.CreateRestore {
		return CreateRestore{Name: v.Cluster.WaitsForRestore}
	}
	if why := v.Cluster.WaitFailed; why != "" {
		return Blocked{
			Reason:  v1beta2.ReasonRestoreFailed,
			Message: fmt.Sprintf("the cluster starts from a snapshot, and EtcdRestore %s %s", v.Cluster.WaitsForRestore, why),
		}
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForRestore, After: pollRare,
		Message: fmt.Sprintf("the cluster starts from a snapshot: waiting until EtcdRestore %s has verified it",
			v.Cluster.WaitsForRestore),
	}
}

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
