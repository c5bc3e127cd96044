package restore

import (
	"fmt"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// Next decides what to do now. The first case that holds decides.
func Next(o Observed) Action {
	switch {
	case o.Former:
		return o.former()
	case o.Phase == v1beta2.RestoreSucceeded || o.Phase == v1beta2.RestoreFailed:
		return o.rest()
	case o.Phase == v1beta2.RestoreReplacing: // nobody can call it off any more
		return o.replacing()
	case o.Deleting:
		return o.release()
	case o.Phase == "":
		return Enter{Phase: v1beta2.RestoreVerifying}
	}
	if impossible := o.impossible(); impossible != nil {
		return impossible
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

// former leaves alone what an earlier operator was asked for: to carry it out now would be a surprise.
func (o Observed) former() Action {
	return Idle{
		v1beta2.ReasonAnsweredBefore,
		"an earlier operator has answered this object, and nothing is done for it: create another EtcdRestore",
	}
}

// rest is for a restore that is over. The pod that it failed for is kept, for its log; the garbage collector takes it.
func (o Observed) rest() Action {
	if o.Guarded {
		return Release{}
	}
	if leftover := o.tidy(); leftover != nil && o.Phase == v1beta2.RestoreSucceeded && !o.Deleting {
		return leftover
	}
	return Idle{v1beta2.ReasonCompleted, "the restore is over"}
}

// release lets an EtcdRestore go that has not changed anything yet. The garbage collector takes its pods.
func (o Observed) release() Action {
	if o.Guarded {
		return Release{}
	}
	return Idle{v1beta2.ReasonTerminating, "the restore is called off"}
}

// impossible says what stands in the way of the spec or the cluster, before anything is done to it.
func (o Observed) impossible() Action {
	c := o.Cluster
	switch {
	case o.Invalid != nil:
		return o.fail(*o.Invalid)
	case c.Deleting:
		return o.fail(retry.Problem{
			Reason: v1beta2.ReasonClusterDeleted, Message: fmt.Sprintf("EtcdCluster %s is being deleted", c.Name),
		})
	case c.Exists && o.Template && !c.Own:
		return o.fail(retry.Problem{Reason: v1beta2.ReasonClusterExists, Message: fmt.Sprintf(
			"EtcdCluster %s is there already, and spec.clusterTemplate is only for one that is not: leave clusterTemplate out"+
				" to replace its data, or name another cluster in spec.etcdCluster", c.Name)})
	case !c.Exists && !o.Template:
		return Blocked{v1beta2.ReasonClusterMissing, fmt.Sprintf(
			"there is no EtcdCluster %s: create it, or create another EtcdRestore with spec.clusterTemplate", c.Name)}
	case o.Verified && o.Unfit != nil:
		return o.fail(*o.Unfit)
	}
	return nil
}

func (o Observed) verifying() Action {
	switch {
	case !o.Verified && o.Source != nil && o.Source.Hopeless:
		return o.fail(o.Source.Problem)
	case !o.Verified && o.Source != nil:
		return Blocked(o.Source.Problem)
	case !o.Verified:
		return o.start(1)
	case o.Ahead != "":
		return Wait{
			Reason: v1beta2.ReasonWaitingForRestore, After: retry.Poll,
			Message: fmt.Sprintf("EtcdRestore %s is replacing the data of the same cluster", o.Ahead),
		}
	}
	return Enter{Phase: v1beta2.RestoreSaving, Of: o.Of}
}

func (o Observed) saving() Action {
	switch {
	case !o.Cluster.Exists:
		return CreateCluster{}
	case o.Saved || !o.Cluster.Held:
		return o.replace("")
	case o.Skip:
		return o.replace("spec.safetySnapshot is Skip")
	}
	return o.start(1)
}

// replace is the step of no return. What an EtcdRestore is needed for then must not go: it is guarded first.
func (o Observed) replace(unsaved string) Action {
	if !o.Guarded {
		return Guard{}
	}
	return Replace{Unsaved: unsaved, Of: o.Of}
}

func (o Observed) start(attempt int) Action {
	return Start{Run{Attempt: attempt, Started: o.Now}}
}

// replacing waits for the EtcdCluster's controller.
func (o Observed) replacing() Action {
	c := o.Cluster
	switch {
	case c.Record != nil && c.Record.Completed:
		return Succeed{Of: o.Of, Alarms: o.Alarms}
	case !c.Exists || c.Deleting:
		return o.fail(retry.Problem{Reason: v1beta2.ReasonClusterDeleted, Message: fmt.Sprintf(
			"EtcdCluster %s was deleted while its data was being replaced", c.Name)})
	case c.Record != nil && c.Record.Superseded:
		return o.fail(retry.Problem{
			Reason: v1beta2.ReasonRestoreSuperseded, Message: "another EtcdRestore has replaced the data since",
		})
	case c.Paused:
		return Wait{Reason: v1beta2.ReasonPaused, After: retry.Poll, Message: fmt.Sprintf(
			"spec.paused of EtcdCluster %s keeps the operator's hands off", c.Name)}
	}
	message := fmt.Sprintf("EtcdCluster %s is to start again from the snapshot", c.Name)
	if c.Record != nil && c.Doing != "" { // before it was taken up, what the cluster says is about something else
		message = c.Doing
	}
	return Wait{Reason: v1beta2.ReasonRestoring, Message: message, After: retry.Poll}
}
