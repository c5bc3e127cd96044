package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// cancelRestore cancels a restore that is no longer wanted or can never succeed, as long as clients cannot have used the
// restored data. If the previous members cannot form a quorum, the restore continues, because the cluster would otherwise lose
// all of its data: ContinueRestore records that once, and later passes return nil. Whether the cluster can go back is evaluated
// in every pass.
func cancelRestore(v *view) Action {
	c, why := v.Cluster, v.cancelReason()
	switch {
	case why == nil:
		return nil
	case v.canGoBack():
		return CancelRestore{Why: *why, ClusterID: c.Previous.ID, KeptVolumes: v.usedVolumes()}
	case c.CancelReason == nil || c.CancelDeclined || v.noRestoreSource():
		return nil
	}
	return ContinueRestore{Why: failure.Problem{
		Reason:  v1beta2.ReasonRestoreContinues,
		Message: fmt.Sprintf("%s, but the restore continues: %s; %s", why.Message, v.whyNotCanceled(), v.advice()),
	}}
}

// cancelReason returns why the restore in progress is to be canceled: it is no longer wanted, or it can never succeed. It
// returns nil if the restore is to continue, or if there is none.
func (v *view) cancelReason() *failure.Problem {
	b, c := v.Cluster.Bootstrap, v.Cluster
	if c.ID != 0 || b == nil || b.Restore == "" || c.Previous == nil {
		return nil
	}
	if f := v.pods[b.Members[0]].RestoreFailure; c.CancelReason == nil && f != nil && f.Terminal {
		return f
	}
	return c.CancelReason
}

// canGoBack reports whether the cluster being replaced can form a quorum again, judging by its pods and volumes. A cluster that
// never had a cluster ID bootstraps from scratch instead.
func (v *view) canGoBack() bool {
	f := v.Cluster.Previous
	if f.ID == 0 {
		return true
	}
	voters := v.previousVoters()
	for _, all := range [][]string{voters, f.NextVoters} {
		back := len(all) - len(v.unrecoverable(all))
		if len(all) > 0 && back < Quorum(len(all)) {
			return false
		}
	}
	return len(voters) > 0
}

// previousVoters returns the voters in status. A cluster that was adopted and never had a quorum has none there: its voters are
// then the members with a volume that holds its data, but for quarantined ones. Members on an emptyDir cannot be counted once one of them has stopped.
func (v *view) previousVoters() []string {
	if voters := v.Cluster.Previous.Voters; len(voters) > 0 {
		return voters
	}
	var names []string
	for _, c := range v.previousVolumes {
		if v.holdsPreviousData(c) && !c.Quarantined {
			names = append(names, c.Name)
		}
	}
	return names
}

// unrecoverable returns those of the named members that cannot come back with their data.
func (v *view) unrecoverable(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), v.canComeBack)
}

// canComeBack reports whether a previous member can start with its data: on its volume, or on an emptyDir whose pod is running
// and not about to stop. For a pod on an unreachable node, the Ready condition is all there is to go by.
func (v *view) canComeBack(name string) bool {
	i := slices.IndexFunc(v.previousPods, func(p Pod) bool { return p.Name == name && v.Cluster.replacedByRestore(p.Incarnation) })
	if i >= 0 && !v.previousPods[i].Persistent {
		p := v.previousPods[i]
		evicted := v.Budget.Exists && !v.Budget.Settled
		return p.Ready && !p.Deleting && p.Phase == Running && !evicted
	}
	if i >= 0 && v.previousPods[i].Exit.DataGone() {
		return false
	}
	return slices.ContainsFunc(v.previousVolumes, func(c Volume) bool {
		return c.Name == name && v.holdsPreviousData(c) && !c.Deleting && !c.Lost
	})
}

// holdsPreviousData reports whether the volume belongs to the cluster being replaced.
func (v *view) holdsPreviousData(c Volume) bool {
	return c.MemberID != 0 && c.ClusterID == v.Cluster.Previous.ID && v.Cluster.replacedByRestore(c.Incarnation)
}

// whyNotCanceled explains why a restore is not canceled.
func (v *view) whyNotCanceled() string {
	f := v.Cluster.Previous
	voters := v.previousVoters()
	if len(voters) == 0 {
		return "the previous members are unknown, and none has a volume"
	}
	if away := v.unrecoverable(voters); len(voters)-len(away) < Quorum(len(voters)) {
		return tooFew(away, len(voters))
	}
	return tooFew(v.unrecoverable(f.NextVoters), len(f.NextVoters))
}

func tooFew(away []string, voters int) string {
	return fmt.Sprintf("the data of %s is lost or about to be, and the previous cluster needs %d of its %d voters for a quorum",
		list(away), Quorum(voters), voters)
}

// advice tells the user how to proceed with a restore that is not canceled.
func (v *view) advice() string {
	text := "to restore something else, create another EtcdRestore, which supersedes this one"
	switch f := v.Cluster.Previous; {
	case v.Cluster.SafetySnapshot != "":
		text += fmt.Sprintf(": the previous data is in the safety snapshot %s (spec.snapshot)", v.Cluster.SafetySnapshot)
	case f != nil && f.ID != 0:
		text += "; there is no safety snapshot of the previous data"
	}
	return text
}

// waitForSafetySnapshot keeps a restore from replacing data that may exist only on an emptyDir, which the operator cannot keep. The
// EtcdRestore controller checks that before it requests the restore; this rule covers changes since then. That controller then
// checks again, and takes another safety snapshot or fails.
func waitForSafetySnapshot(v *view) Action {
	s := v.Cluster.Safety
	saved := s.Skipped || s.UnsavedReason == "" && !s.Stale && s.Revision != 0
	if v.Cluster.Restore == "" || v.Cluster.RestorePlan != "" || v.Cluster.Previous != nil || saved {
		return nil // who confirmed a recovery has been told whose data goes
	}
	var names []string
	for _, p := range v.Pods {
		if !p.Persistent && p.Permit != nil && !p.Deleting && p.Phase != Finished {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.SortFunc(names, CompareNames)
	return Wait{
		Reason: v1beta2.ReasonSaving, After: pollSlow,
		Message: fmt.Sprintf("%s may have data on an emptyDir that is in no safety snapshot: waiting until the EtcdRestore has saved it, "+
			"or has safetySnapshot: Skip", list(names)),
	}
}

// recordBeforeReplacing records the cluster ID of a cluster that is up before a newer restore or the previous members take its
// place. It is not in the client Service yet, but clients that use the members' own DNS names may have written to it.
func recordBeforeReplacing(v *view) Action {
	if v.Cluster.ID != 0 || v.Cluster.Bootstrap == nil {
		return nil
	}
	if goesBack := v.cancelReason() != nil && v.canGoBack(); v.Cluster.Restore == "" && !goesBack {
		return nil
	}
	return v.recordIfQuorum()
}

// startRestore commits an incarnation whose only initial member starts from a snapshot, whatever state the cluster is in. The
// record is committed before any of the existing members is touched; further members join the restored one as learners. A newer
// restore supersedes one in progress, and replaces what that one was to replace.
func startRestore(v *view) Action {
	if v.Cluster.Restore == "" || v.recoveryVoid() || v.Cluster.RestorePlan != "" && v.Recovery.HeldBack != "" {
		return nil
	}
	if v.safetySnapshotExpired() {
		return Wait{
			Reason: v1beta2.ReasonSaving, After: pollSlow,
			Message: "the safety snapshot is out of date: waiting for a new one before the data is replaced",
		}
	}
	b := v.newBootstrap(v.nextIncarnation(), v.freeNames(1), v.Cluster.Restore)
	before := v.Cluster.Bootstrap
	b.Recovery = v.Cluster.RestorePlan != "" || v.Cluster.Previous != nil && before != nil && before.Recovery // the same members are replaced
	return CommitBootstrap{Bootstrap: b, UnsavedReason: v.unsavedReason()}
}

// usedVolumes returns the volumes of the current attempt on which etcd was permitted to start. Even if it does not answer now,
// clients may have written to it.
func (v *view) usedVolumes() []string {
	var names []string
	for _, c := range v.Volumes {
		if c.MemberID != 0 && !c.Deleting {
			names = append(names, c.Name)
		}
	}
	return names
}
