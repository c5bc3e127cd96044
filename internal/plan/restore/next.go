package restore

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// Next decides what to do now. The first case that holds decides.
func Next(o Observed) Action {
	switch {
	case o.AnsweredBefore:
		return o.answeredBefore()
	case o.Phase == v1beta2.RestoreSucceeded || o.Phase == v1beta2.RestoreFailed:
		return o.rest()
	case o.Phase == v1beta2.RestoreReplacing, o.crossedRestore():
		return o.replacing()
	case o.Deleting:
		return o.release()
	case o.Phase == "":
		return Enter{Phase: v1beta2.RestoreVerifying}
	}
	if impossible := o.impossible(); impossible != nil {
		return impossible
	}
	if o.Cluster.Exists && !o.Cluster.Pinned {
		return Pin{}
	}
	if o.Run != nil {
		return o.proceed()
	}
	if leftover := o.tidy(); leftover != nil {
		return leftover
	}
	switch o.Phase {
	case v1beta2.RestoreSaving:
		return o.saving()
	default:
		return o.verifying()
	}
}

// answeredBefore leaves alone what an earlier operator has already answered: to carry it out now would be a surprise.
func (o Observed) answeredBefore() Action {
	return Idle{
		v1beta2.ReasonAnsweredBefore,
		"an earlier operator has answered this object, and nothing is done for it: create another EtcdRestore",
	}
}

// rest is for a restore that is over. The pod that it failed for is kept, for its log; the garbage collector takes it.
func (o Observed) rest() Action {
	if o.HasFinalizer {
		return RemoveFinalizer{}
	}
	if leftover := o.tidy(); leftover != nil && o.Phase == v1beta2.RestoreSucceeded && !o.Deleting {
		return leftover
	}
	return Idle{v1beta2.ReasonCompleted, "the restore is over"}
}

// release lets an EtcdRestore go that has not changed anything yet. The garbage collector takes its pods.
func (o Observed) release() Action {
	if o.HasFinalizer {
		return RemoveFinalizer{}
	}
	return Idle{v1beta2.ReasonTerminating, "the restore is canceled"}
}

// impossible says what stands in the way of the spec or the cluster, before anything is done to it.
func (o Observed) impossible() Action {
	c := o.Cluster
	switch {
	case o.Invalid != nil:
		return o.fail(*o.Invalid)
	case c.Deleting:
		return o.fail(failure.Problem{
			Reason: v1beta2.ReasonClusterDeleted, Message: fmt.Sprintf("EtcdCluster %s is being deleted", c.Name),
		})
	case c.Other:
		return o.fail(o.otherCluster())
	case !c.Exists && c.Pinned:
		return o.fail(failure.Problem{
			Reason: v1beta2.ReasonClusterDeleted, Message: fmt.Sprintf("EtcdCluster %s was deleted", c.Name),
		})
	case !c.Exists:
		return o.await(failure.Problem{Reason: v1beta2.ReasonClusterMissing, Message: fmt.Sprintf(
			"there is no EtcdCluster %s: create it; a new cluster can also start from a snapshot by its own spec.restoreFrom", c.Name)})
	case o.Void != nil:
		return o.fail(*o.Void)
	case o.Verified && o.Newer != "":
		return o.fail(o.superseded())
	case o.Verified && o.Unfit != nil:
		return o.fail(*o.Unfit)
	}
	return nil
}

func (o Observed) verifying() Action {
	switch {
	case !o.Verified && o.Source != nil && o.Source.Terminal:
		return o.fail(*o.Source)
	case !o.Verified && o.Source != nil:
		return o.await(*o.Source)
	case !o.Verified:
		return o.start(1)
	}
	return Enter{Phase: v1beta2.RestoreSaving, Of: o.Of}
}

func (o Observed) saving() Action {
	switch {
	case o.OfMember && o.Cluster.Paused:
		return o.paused()
	case o.OfMember: // what it holds was saved to be verified
		return o.replace(Replace{})
	case o.Outdated:
		return SaveAgain{}
	case o.Cluster.Unsaved != "" && !o.Saved && !o.Skip: // its members have stopped: only their volumes can be kept
		return o.replace(Replace{Unsaved: o.Cluster.Unsaved, Keep: true})
	case o.ages() && o.Saved:
		return SaveAgain{}
	case o.ages():
		return o.paused()
	case o.Saved && o.loses():
		return o.fail(o.lost())
	case o.Saved || !o.Cluster.Held:
		return o.replace(Replace{})
	case o.Skip:
		return o.replace(Replace{Unsaved: "spec.safetySnapshot is Skip"})
	case o.nobodyToAsk() != "":
		return o.replace(Replace{Unsaved: o.nobodyToAsk(), Keep: true})
	case slices.ContainsFunc(o.OrphanedPods, func(p retry.Pod) bool { return p.Leaving(o.Now) }):
		// It may have the name of the next one, and what it has to say is of before.
		return Wait{Reason: v1beta2.ReasonWaitingForPods, Message: "waiting until an earlier pod is gone", After: retry.Poll}
	}
	return o.start(1)
}

// nobodyToAsk is why nothing can be saved although there is something; empty if it may be.
func (o Observed) nobodyToAsk() string {
	switch c := o.Cluster; {
	case c.Mute:
		return "no member of it is known, and it has no pod that could be asked"
	case c.Asleep && !c.Answers && len(c.Volatile) == 0:
		return plan.UnsavedAsleep
	}
	return ""
}

// crossedRestore reports whether it went back to saving at the moment that the cluster began with it: the cluster cancels it, if
// it can.
func (o Observed) crossedRestore() bool {
	return o.Phase == v1beta2.RestoreSaving && o.Cluster.Record != nil
}

// ages reports whether what is saved now is old by the time that it is replaced: the clients of a paused cluster go on writing.
func (o Observed) ages() bool { return o.Cluster.Paused && o.Cluster.Held && !o.Skip }

// old reports whether the safety snapshot is older than one may be when its restore begins. It is taken again only when the
// cluster is about to begin, however long that takes: what is in the way may be there for days.
func (o Observed) old() bool {
	return o.Saved && !o.SavedAt.IsZero() && o.Now.Sub(o.SavedAt) > plan.SafetyAge
}

// replace leaves the cluster to its controller. Whoever deletes the EtcdRestore then cancels it, and sees what becomes of
// that: it gets the finalizer first.
func (o Observed) replace(how Replace) Action {
	if !o.HasFinalizer {
		return AddFinalizer{}
	}
	how.Of = o.Of
	return how
}

func (o Observed) start(attempt int) Start {
	return Start{Run{Attempt: attempt, Started: o.Now}}
}
