package backup

import (
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// Next decides what to do now.
func Next(o Observed) Action {
	switch {
	case o.Deleting:
		return o.end()
	case o.Clean && !o.HasFinalizer:
		return AddFinalizer{}
	case o.HasFinalizer && !o.Clean:
		return RemoveFinalizer{}
	case o.Run != nil:
		return o.proceed()
	}
	if p, found := retry.Leftover(o.OrphanedPods); found {
		return DeletePod{Name: p.Name, UID: p.UID}
	}
	return o.begin()
}

// begin starts a run if one is due and nothing keeps it from it.
func (o Observed) begin() Action {
	due, next := o.Due()
	switch {
	case o.Done:
		return Idle{Reason: v1beta2.ReasonCompleted, Message: "the backup is complete"}
	case o.Problem != nil:
		return Blocked(*o.Problem)
	case o.Suspended:
		return Idle{Reason: v1beta2.ReasonSuspended, Message: "spec.suspend is true: no new backups are taken"}
	case o.Asleep != "":
		return Idle{Reason: v1beta2.ReasonHibernated, Message: o.Asleep}
	case due.IsZero():
		return Idle{
			Reason: v1beta2.ReasonScheduled, Next: next,
			Message: "the next backup is due at " + next.UTC().Format(time.RFC3339),
		}
	case o.Ahead != "":
		return o.queue()
	}
	if action := tidy(o.OrphanedPods, o.Now); action != nil {
		return action
	}
	return Start{Run: Run{Task: TaskBackup, Due: due, Attempt: 1, Began: o.Now, Started: o.Now}}
}

func (o Observed) queue() Action {
	return Wait{
		Reason: v1beta2.ReasonWaitingForStorage, After: 2 * retry.Poll,
		Message: fmt.Sprintf("EtcdBackup %s is at work where this one writes, too", o.Ahead),
	}
}

// tidy deletes pods and waits until they are gone, nil if they are.
func tidy(pods []retry.Pod, now time.Time) Action {
	if p, found := retry.Staying(pods); found {
		return DeletePod{Name: p.Name, UID: p.UID}
	}
	if slices.ContainsFunc(pods, func(p retry.Pod) bool { return p.Leaving(now) }) {
		return Wait{Reason: v1beta2.ReasonWaitingForPods, Message: "waiting until an earlier pod is gone", After: retry.Poll}
	}
	return nil
}

// proceed goes on with the run that is under way.
func (o Observed) proceed() Action {
	switch {
	case !o.Run.RetryAfter.IsZero():
		return o.again()
	case o.Pod == nil:
		return o.make()
	}
	try := retry.Try{Pod: *o.Pod, Started: o.Run.Started, Timeout: o.Timeout, Limit: "spec.backupPolicy.timeoutSeconds"}
	if o.Run.Task == TaskClean {
		try.Limit = "the limit for deleting objects"
	}
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
	}
	return o.await()
}

// make is for a try without a pod.
func (o Observed) make() Action {
	switch {
	case o.Run.Made:
		return o.failed(failure.Problem{
			Reason: v1beta2.ReasonAgentLost, Message: "the pod was deleted before it had completed",
		})
	case o.Problem != nil:
		return CancelRun{Why: *o.Problem}
	case o.Asleep != "" && o.Run.Task == TaskBackup:
		return CancelRun{Why: failure.Problem{Reason: v1beta2.ReasonHibernated, Message: o.Asleep}}
	}
	if action := tidy(o.OrphanedPods, o.Now); action != nil {
		return action
	}
	return CreatePod{}
}

// await is for a pod that has yet to end, and that nothing is wrong with.
func (o Observed) await() Action {
	wait := Wait{Reason: v1beta2.ReasonBackingUp, Message: "the pod is at work", After: retry.Poll}
	switch {
	case o.Pod.Deleting:
		wait.Reason, wait.Message = v1beta2.ReasonWaitingForPods, "the pod is being deleted; another attempt follows"
	case !o.Pod.Running:
		// A time and not a duration, with which the message would change all the while. Why it does not start is a Problem.
		created := o.Pod.Created.UTC().Format(time.RFC3339)
		wait.Reason = v1beta2.ReasonWaitingForPods
		wait.Message = fmt.Sprintf("waiting for pod %s to start, which was created at %s", o.Pod.Name, created)
	case o.Run.Task == TaskClean:
		wait.Reason, wait.Message = v1beta2.ReasonCleaning, "the objects are being deleted"
	}
	return wait
}

// Refused decides what follows if Kubernetes does not take the pod of a try: the try has failed.
func Refused(o Observed, why failure.Problem) Action { return o.failed(why) }

// failed ends a try. Whatever may go away by itself is tried again for as long as the backup is of use. What is damaged each
// time is not: it loads etcd and the storage, and whatever is at fault does not mend itself.
func (o Observed) failed(why failure.Problem) Action {
	after := o.Now.Add(retry.Delay(o.Run.Attempt))
	damaged := why.Reason == v1beta2.ReasonSnapshotDamaged && o.Run.Attempt >= retry.Attempts
	if o.Run.Task == TaskBackup && (why.Terminal || damaged || o.exhausted(after)) {
		return GiveUp{Failure: why}
	}
	return Retry{Failure: why, After: after}
}

// again begins the next try once its time has come and the pod of the last one, which was kept for its log, is gone.
func (o Observed) again() Action {
	if pause := retry.Pause(o.Now, o.Run.RetryAfter); pause > 0 {
		return Wait{Reason: v1beta2.ReasonWaitingForRetry, Message: "another try follows", After: pause}
	}
	if o.Ahead != "" && o.Run.Task == TaskBackup {
		return o.queue()
	}
	if action := tidy(o.pods(), o.Now); action != nil {
		return action
	}
	next := Run{Task: o.Run.Task, Due: o.Run.Due, Attempt: o.Run.Attempt + 1, Began: o.Run.Began, Started: o.Now}
	return Start{Run: next}
}

// pods are all of this EtcdBackup's.
func (o Observed) pods() []retry.Pod {
	if o.Pod == nil {
		return o.OrphanedPods
	}
	return append(slices.Clone(o.OrphanedPods), *o.Pod)
}

// end is for an EtcdBackup that is being deleted.
func (o Observed) end() Action {
	cleaning := o.Run != nil && o.Run.Task == TaskClean
	switch {
	case !o.HasFinalizer:
		return Idle{Reason: v1beta2.ReasonTerminating, Message: "the EtcdBackup is being deleted"}
	case !o.Clean || !o.Written:
		return RemoveFinalizer{} // the garbage collector takes the pods
	case cleaning && o.Pod != nil && o.Pod.Result != nil && o.Pod.Result.Failure == nil:
		return RemoveFinalizer{}
	case cleaning:
		return o.proceed()
	}
	if action := tidy(o.pods(), o.Now); action != nil {
		return action
	}
	if o.Problem != nil {
		return Blocked(*o.Problem)
	}
	return Start{Run: Run{Task: TaskClean, Due: o.Now, Attempt: 1, Began: o.Now, Started: o.Now}}
}
