package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// cancelRestore ends a restore that nobody wants any more, or that can never succeed, as long as nobody could use the restored data.
// Without a quorum of the former members to go back to it goes on: the cluster would be left with no data at all. So nil may also
// mean that the restore goes on although nobody wants it. ContinueRestore has that noted once; whether the cluster can go back is
// asked anew in every pass.
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

// cancelReason is why the restore under way is to be called off: nobody wants it any more, or it can never succeed. It is nil if it is
// to go on, or if there is none.
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

// canGoBack tells whether the cluster that is replaced can form a quorum again, as far as Kubernetes tells. One that had never
// been up starts from nothing again.
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

// previousVoters are those in status. Of an adopted cluster that never had a quorum nobody knows them: they are then whoever has
// a volume with its data. How many there were on an emptyDir cannot be told once one of them has stopped.
func (v *view) previousVoters() []string {
	if voters := v.Cluster.Previous.Voters; len(voters) > 0 {
		return voters
	}
	var names []string
	for _, c := range v.previousVolumes {
		if v.holdsPreviousData(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// unrecoverable are those of these names who cannot come back with their data.
func (v *view) unrecoverable(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), v.canComeBack)
}

// canComeBack tells whether a former member can: on its volume, or on an emptyDir if its pod runs and nothing is about to end it.
// That it is Ready is all that is known of a pod on a node which has fallen silent.
func (v *view) canComeBack(name string) bool {
	i := slices.IndexFunc(v.previousPods, func(p Pod) bool { return p.Name == name && v.Cluster.replaces(p.Incarnation) })
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

// holdsPreviousData tells whether the volume is one of the cluster's that is replaced.
func (v *view) holdsPreviousData(c Volume) bool {
	return c.MemberID != 0 && c.ClusterID == v.Cluster.Previous.ID && v.Cluster.replaces(c.Incarnation)
}

// whyNotCanceled says why a restore is not called off.
func (v *view) whyNotCanceled() string {
	f := v.Cluster.Previous
	voters := v.previousVoters()
	if len(voters) == 0 {
		return "nobody knows who the former members were, and none has a volume"
	}
	if away := v.unrecoverable(voters); len(voters)-len(away) < Quorum(len(voters)) {
		return tooFew(away, len(voters))
	}
	return tooFew(v.unrecoverable(f.NextVoters), len(f.NextVoters))
}

func tooFew(away []string, voters int) string {
	return fmt.Sprintf("the data of %s is gone or about to go, and the former cluster cannot come back without %d of its %d voters",
		list(away), Quorum(voters), voters)
}

// advice says what to do instead.
func (v *view) advice() string {
	text := "to restore something else, create another EtcdRestore, which takes the place of this one"
	switch f := v.Cluster.Previous; {
	case v.Cluster.SafetySnapshot != "":
		text += fmt.Sprintf(": what the cluster held is in the safety snapshot %s (spec.snapshot)", v.Cluster.SafetySnapshot)
	case f != nil && f.ID != 0:
		text += "; what the cluster held was not saved"
	}
	return text
}

// protectOnlyCopy keeps a restore from replacing what may be nowhere but on an emptyDir: nobody could keep that. Its EtcdRestore sees to
// it before it asks, and this is for what has changed since: it looks again, and saves once more or fails.
func protectOnlyCopy(v *view) Action {
	s := v.Cluster.Safety
	saved := s.Skipped || s.UnsavedReason == "" && !s.Stale && s.Revision != 0
	if v.Cluster.Restore == "" || v.Cluster.Previous != nil || saved {
		return nil
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
		Message: fmt.Sprintf("%s may have on an emptyDir what is in no safety snapshot: it is not replaced before its EtcdRestore has "+
			"saved it, or says that nobody needs it", list(names)),
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
