package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// callOff ends a restore that nobody wants any more, or that can never succeed, as long as nobody could use the restored data.
// Without a quorum of the former members to go back to it goes on: the cluster would be left with no data at all. So nil may also
// mean that the restore goes on although nobody wants it. ContinueRestore has that noted once; whether the cluster can go back is
// asked anew in every pass.
func callOff(v *view) Action {
	c, why := v.Cluster, v.givenUp()
	switch {
	case why == nil:
		return nil
	case v.canGoBack():
		return CallOff{Why: *why, ClusterID: c.Former.ID, Kept: v.tried()}
	case c.CallOff == nil || c.NotCalledOff || v.sourceless():
		return nil
	}
	return ContinueRestore{Why: failure.Problem{
		Reason:  v1beta2.ReasonRestoreContinues,
		Message: fmt.Sprintf("%s, but the restore continues: %s; %s", why.Message, v.noWayBack(), v.wayOut()),
	}}
}

// givenUp is why the restore under way is to be called off: nobody wants it any more, or it can never succeed. It is nil if it is
// to go on, or if there is none.
func (v *view) givenUp() *failure.Problem {
	b, c := v.Cluster.Bootstrap, v.Cluster
	if c.ID != 0 || b == nil || b.Restore == "" || c.Former == nil {
		return nil
	}
	if f := v.pods[b.Members[0]].Failure; c.CallOff == nil && f != nil && f.Terminal {
		return f
	}
	return c.CallOff
}

// canGoBack tells whether the cluster that is replaced can form a quorum again, as far as Kubernetes tells. One that had never
// been up starts from nothing again.
func (v *view) canGoBack() bool {
	f := v.Cluster.Former
	if f.ID == 0 {
		return true
	}
	voters := v.formerVoters()
	for _, all := range [][]string{voters, f.NextVoters} {
		back := len(all) - len(v.stayAway(all))
		if len(all) > 0 && back < Quorum(len(all)) {
			return false
		}
	}
	return len(voters) > 0
}

// formerVoters are those in status. Of an adopted cluster that never had a quorum nobody knows them: they are then whoever has
// a volume with its data. How many there were on an emptyDir cannot be told once one of them has stopped.
func (v *view) formerVoters() []string {
	if voters := v.Cluster.Former.Voters; len(voters) > 0 {
		return voters
	}
	var names []string
	for _, c := range v.oldVolumes {
		if v.formerData(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// stayAway are those of these names who cannot come back with their data.
func (v *view) stayAway(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), v.comesBack)
}

// comesBack tells whether a former member can: on its volume, or on an emptyDir if its pod runs and nothing is about to end it.
// That it is Ready is all that is known of a pod on a node which has fallen silent.
func (v *view) comesBack(name string) bool {
	i := slices.IndexFunc(v.oldPods, func(p Pod) bool { return p.Name == name && v.Cluster.replaces(p.Incarnation) })
	if i >= 0 && !v.oldPods[i].Persistent {
		p := v.oldPods[i]
		evicted := v.Budget.Exists && !v.Budget.Settled
		return p.Ready && !p.Deleting && p.Phase == Running && !evicted
	}
	if i >= 0 && v.oldPods[i].Exit.Terminal() {
		return false
	}
	return slices.ContainsFunc(v.oldVolumes, func(c Volume) bool {
		return c.Name == name && v.formerData(c) && !c.Deleting && !c.Lost
	})
}

// formerData tells whether the volume is one of the cluster's that is replaced.
func (v *view) formerData(c Volume) bool {
	return c.MemberID != 0 && c.ClusterID == v.Cluster.Former.ID && v.Cluster.replaces(c.Incarnation)
}

// noWayBack says why a restore is not called off.
func (v *view) noWayBack() string {
	f := v.Cluster.Former
	voters := v.formerVoters()
	if len(voters) == 0 {
		return "nobody knows who the former members were, and none has a volume"
	}
	if away := v.stayAway(voters); len(voters)-len(away) < Quorum(len(voters)) {
		return tooFew(away, len(voters))
	}
	return tooFew(v.stayAway(f.NextVoters), len(f.NextVoters))
}

func tooFew(away []string, voters int) string {
	return fmt.Sprintf("the data of %s is gone or about to go, and the former cluster cannot come back without %d of its %d voters",
		list(away), Quorum(voters), voters)
}

// wayOut says what to do instead.
func (v *view) wayOut() string {
	text := "to restore something else, create another EtcdRestore, which takes the place of this one"
	switch f := v.Cluster.Former; {
	case v.Cluster.Saved != "":
		text += fmt.Sprintf(": what the cluster held is in the safety snapshot %s (spec.snapshot)", v.Cluster.Saved)
	case f != nil && f.ID != 0:
		text += "; what the cluster held was not saved"
	}
	return text
}

// stranded is where a restore ends that can neither be completed nor called off.
func (v *view) stranded(why string) Action {
	if v.Cluster.Former != nil {
		why += "; " + v.noWayBack()
	}
	return Blocked{Reason: v1beta2.ReasonRestoreFailed, Message: why + "; " + v.wayOut()}
}

// sourceless tells whether nothing says any more which snapshot the first member is to start from, and none is at it.
func (v *view) sourceless() bool {
	b := v.Cluster.Bootstrap
	_, there := v.pods[b.Members[0]]
	return v.Cluster.SourceGone && !there
}

// sourceGone stops where a restore can never be completed, before anything more of the former members goes: they may come back.
func sourceGone(v *view) Action {
	if !v.sourceless() {
		return nil
	}
	return v.stranded("the EtcdRestore that says where the snapshot is does not exist any more")
}
