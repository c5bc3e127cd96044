package restore

import (
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// proceed goes on with the run that is under way.
func (o Observed) proceed() Action {
	switch {
	case !o.Run.RetryAfter.IsZero():
		return o.again()
	case o.Pod == nil:
		return CreatePod{}
	}
	try := retry.Try{Pod: *o.Pod, Started: o.Run.Started, Timeout: o.Timeout, Limit: "spec.timeoutSeconds"}
	verdict := try.Judge(o.Now)
	switch {
	case verdict.Over && verdict.Problem == nil:
		return Finish{}
	case verdict.Over:
		return o.failed(*verdict.Problem)
	case verdict.ResetTimer:
		return ResetTimer{}
	case verdict.Problem != nil:
		return Wait{Reason: verdict.Problem.Reason, Message: verdict.Problem.Message, After: retry.Poll}
	case o.OfMember && !o.Saved:
		return Wait{Reason: v1beta2.ReasonSaving, After: retry.Poll, Message: "what the surviving member holds is being saved"}
	case o.Phase == v1beta2.RestoreSaving:
		return Wait{
			Reason: v1beta2.ReasonSaving, After: retry.Poll, Message: "what the cluster holds is being saved before it is replaced",
		}
	}
	return Wait{Reason: v1beta2.ReasonVerifying, Message: "the snapshot is being read and checked", After: retry.Poll}
}

// failed ends a try. Where no try at all has reached a member nothing can be saved, and it is replaced if its volumes can be kept
// or nothing is left of it. Where one has, or somebody is known to answer, it must be saved.
func (o Observed) failed(why failure.Problem) Action {
	silent, unanswered := o.Phase == v1beta2.RestoreSaving && why.Reason == v1beta2.ReasonEtcdUnreachable, o.Run.Unanswered
	if silent {
		unanswered++
	}
	switch {
	case (!why.Terminal || silent) && o.Run.Attempt < retry.Attempts:
		return Retry{Failure: why, After: o.Now.Add(retry.Delay(o.Run.Attempt)), Unanswered: unanswered}
	case unanswered >= o.Run.Attempt && !o.Cluster.Answers && len(o.Cluster.Volatile) == 0:
		return o.replace(Replace{Unsaved: why.Message, Keep: true})
	case o.Phase == v1beta2.RestoreSaving:
		why.Message = "what the cluster holds cannot be saved: " + why.Message + o.unkept() + skipping
	}
	return o.fail(why)
}

// skipping says how data is replaced nevertheless.
const skipping = "; one with spec.safetySnapshot: Skip replaces it unsaved, and it cannot be recovered then"

// loses reports whether data would be gone for good if it were replaced now: it is on an emptyDir, and nothing is known to hold all
// of it.
func (o Observed) loses() bool {
	return len(o.Cluster.Volatile) > 0 && !o.Skip && (!o.Saved || o.Stale)
}

// lost says so of what was saved without a quorum, and what to do.
func (o Observed) lost() failure.Problem {
	return failure.Problem{Reason: v1beta2.ReasonStaleBackup, Message: "what the cluster holds cannot be saved: the safety snapshot may " +
		"be old, for no quorum stood behind it, or the cluster had come further before" + o.unkept() +
		"; bring a quorum of its members back first" + skipping}
}

// unkept says that nothing would be left of data that is replaced unsaved.
func (o Observed) unkept() string {
	if len(o.Cluster.Volatile) == 0 {
		return ""
	}
	return "; " + strings.Join(o.Cluster.Volatile, ", ") + " may have it on an emptyDir, where it is gone for good once the pod is"
}

// Refused decides what follows if the pod of a try cannot be made: the try has failed.
func (o Observed) Refused(why failure.Problem) Action { return o.failed(why) }

// again begins the next try once its time has come. The pod of the last one is kept until then, for its log.
func (o Observed) again() Action {
	if pause := retry.Pause(o.Now, o.Run.RetryAfter); pause > 0 {
		return Wait{
			Reason: v1beta2.ReasonWaitingForRetry, Message: "another try follows one that failed: " + o.Run.Failure, After: pause,
		}
	}
	if o.Pod != nil && !o.Pod.Deleting {
		return DeletePod{Name: o.Pod.Name, UID: o.Pod.UID}
	}
	if o.Phase == v1beta2.RestoreSaving && !o.Cluster.Held {
		return o.saving() // another restore has stopped its members meanwhile: there is nobody to ask
	}
	next := o.start(o.Run.Attempt + 1)
	next.Run.Unanswered = o.Run.Unanswered
	return next
}

// tidy deletes the pods of tries that are over, nil if all are on their way out. One on a node that is lost may stay there for
// long, and is in nobody's way.
func (o Observed) tidy() Action {
	if p, found := retry.Staying(o.OrphanedPods); found {
		return DeletePod{Name: p.Name, UID: p.UID}
	}
	return nil
}

// fail ends the restore, and says what it leaves. One that gives way to another is not to be tried again: it would replace what
// that one has restored.
func (o Observed) fail(why failure.Problem) Action {
	if why.Reason == v1beta2.ReasonRestoreSuperseded {
		why.Message += "; " + o.given()
	} else {
		why.Message += "; " + o.left() + "; create another EtcdRestore to try again"
	}
	return Fail(why)
}

// Refuse is for what Kubernetes does not take as the spec has it.
func (o Observed) Refuse(reason, message string) Action {
	return o.fail(failure.Problem{Reason: reason, Message: message})
}
