package restore

import (
	"fmt"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// WaitLimit is how long after its creation an EtcdRestore waits for an EtcdCluster or an EtcdBackup that is not there. One that
// waited for ever would replace the data of whatever is created under that name months later.
const WaitLimit = time.Hour

// await says what has to be there, and until when.
func (o Observed) await(why failure.Problem) Action {
	until := o.Created.Add(WaitLimit)
	if !o.Now.Before(until) {
		why.Message += fmt.Sprintf("; it was waited for until %s, %s after this EtcdRestore was created",
			until.UTC().Format(time.RFC3339), WaitLimit)
		return o.fail(why)
	}
	why.Message += fmt.Sprintf("; it is waited for until %s", until.UTC().Format(time.RFC3339))
	return Blocked(why)
}

func (o Observed) otherCluster() failure.Problem {
	return failure.Problem{Reason: v1beta2.ReasonClusterReplaced, Message: fmt.Sprintf(
		"EtcdCluster %s was deleted, and the one that has its name now is another one, to which nothing is done", o.Cluster.Name)}
}

func (o Observed) superseded() failure.Problem {
	return failure.Problem{Reason: v1beta2.ReasonRestoreSuperseded, Message: fmt.Sprintf(
		"EtcdRestore %s of the same cluster is later, and takes the place of this one", o.Newer)}
}

// replacing waits for the EtcdCluster's controller. What that has noted counts for more than anything else.
func (o Observed) replacing() Action {
	c, r := o.Cluster, o.Cluster.Record
	switch {
	case c.Other:
		return o.fail(o.otherCluster())
	case r != nil && r.Completed:
		return Succeed{Of: o.Of, Alarms: o.Alarms, Kept: r.Kept, Unsaved: r.Unsaved}
	case r != nil && r.Canceled != nil:
		return o.fail(*r.Canceled)
	case !c.Exists || c.Deleting:
		return o.fail(failure.Problem{Reason: v1beta2.ReasonClusterDeleted, Message: fmt.Sprintf(
			"EtcdCluster %s was deleted while its data was being replaced", c.Name)})
	case r == nil:
		return o.notBegun()
	case r.Superseded:
		return o.fail(failure.Problem{
			Reason: v1beta2.ReasonRestoreSuperseded, Message: "another EtcdRestore has replaced the data since",
		})
	case c.Paused:
		return o.paused()
	case !r.ClusterIDRecorded && (c.Stranded || r.CancelDeclined != "" || o.Deleting || o.crossedRestore()):
		return o.unwanted(*r)
	case r.Failure != nil:
		return Wait{Reason: r.Failure.Reason, Message: r.Failure.Message, After: retry.Poll}
	case c.Doing != "":
		return Wait{Reason: v1beta2.ReasonRestoring, Message: c.Doing, After: retry.Poll}
	}
	return o.toStart()
}

// unwanted says what becomes of a restore that is no longer wanted, or that cannot be completed, before the new cluster is up.
func (o Observed) unwanted(r Record) Action {
	switch {
	case o.Cluster.Stranded:
		return Blocked{Reason: v1beta2.ReasonRestoreFailed, Message: o.Cluster.Doing}
	case r.CancelDeclined != "":
		return Wait{Reason: v1beta2.ReasonRestoreContinues, Message: r.CancelDeclined, After: retry.Poll}
	}
	return Wait{Reason: v1beta2.ReasonRestoreCalledOff, After: retry.Poll, Message: fmt.Sprintf(
		"the restore is to be canceled: EtcdCluster %s goes back to what it held if enough of its former members can come back, "+
			"and else the restore continues", o.Cluster.Name)}
}

// notBegun is for a restore that the EtcdCluster's controller has not taken up: nothing was done for it.
func (o Observed) notBegun() Action {
	switch {
	case o.Deleting:
		return o.fail(failure.Problem{
			Reason: v1beta2.ReasonRestoreCalledOff, Message: "the EtcdRestore was deleted before anything was replaced",
		})
	case o.Newer != "":
		return o.fail(o.superseded())
	case o.OfMember && o.Void != nil:
		return o.fail(*o.Void)
	case o.OfMember && o.Cluster.Paused:
		return o.paused()
	case o.OfMember: // nobody writes without a quorum: what is saved does not age
		return o.toStart()
	case o.Cluster.Moved, o.ages(), o.Cluster.Again && (o.old() || o.UnsavedAsleep), !o.Saved && o.loses():
		return SaveAgain{}
	case o.loses():
		return o.fail(o.lost())
	case o.Cluster.Paused:
		return o.paused()
	}
	return o.toStart() // what the cluster says it does is about something else
}

func (o Observed) paused() Action {
	return Wait{Reason: v1beta2.ReasonPaused, After: retry.Poll, Message: fmt.Sprintf(
		"spec.paused of EtcdCluster %s is true: reconciliation is paused", o.Cluster.Name)}
}

func (o Observed) toStart() Action {
	return Wait{Reason: v1beta2.ReasonRestoring, After: retry.Poll, Message: fmt.Sprintf(
		"EtcdCluster %s is to start again from the snapshot", o.Cluster.Name)}
}

// given says what a restore that gives way to another one leaves to that.
func (o Observed) given() string {
	r := o.Cluster.Record
	switch {
	case r == nil:
		return "nothing was done to the cluster for this one"
	case r.Canceled != nil:
		return "what this one has begun goes, and what becomes of the cluster's data is up to that one"
	}
	return "this one is not completed"
}

// left says what a restore that fails leaves behind.
func (o Observed) left() string {
	r := o.Cluster.Record
	switch {
	case r == nil && (o.Phase != v1beta2.RestoreReplacing || o.Cluster.Exists):
		return "nothing was done to the cluster"
	case r != nil && r.Canceled != nil:
		return "the cluster resumes with its previous data"
	}
	return "its old data may be gone"
}
