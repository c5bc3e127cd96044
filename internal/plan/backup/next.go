package backup

import (
	"fmt"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const (
	// attempts is how often a run is tried before it is given up.
	attempts = 6
	// firstDelay and lastDelay are between tries: the first, and the longest.
	firstDelay = 10 * time.Second
	lastDelay  = 5 * time.Minute
	// poll is how often a pod at work is asked how far it is; what becomes of it is watched.
	poll = 3 * time.Second
	// startLimit is how long a try may take to begin in a pod that Kubernetes does not start.
	startLimit = 5 * time.Minute
)

// Next decides what to do now.
func Next(o Observed) Action {
	switch {
	case o.Deleting:
		return o.end()
	case o.Run != nil:
		return o.proceed()
	case len(o.Strays) > 0:
		return o.tidy()
	case o.Problem != nil:
		return Blocked(*o.Problem)
	}
	due, next := o.due()
	switch {
	case o.Suspended:
		return Idle{Reason: v1beta2.ReasonSuspended, Message: "spec.suspend keeps new backups from being taken"}
	case due.IsZero() && next.IsZero():
		return Idle{Reason: v1beta2.ReasonCompleted, Message: "the one backup that was asked for is over"}
	case due.IsZero():
		return Idle{Reason: v1beta2.ReasonScheduled, Message: "waiting for the next time that a backup is due", Next: next}
	case o.Ahead != "":
		return Wait{
			Reason: v1beta2.ReasonWaitingForStorage, After: 2 * poll,
			Message: fmt.Sprintf("EtcdBackup %s is at work on the same storage", o.Ahead),
		}
	}
	return Start{Run: Run{Task: TaskBackup, Due: due, Attempt: 1, Started: o.Now}}
}

// tidy deletes the pods of tries that are over.
func (o Observed) tidy() Action {
	for _, p := range o.Strays {
		if !p.Deleting {
			return DeletePod{Name: p.Name, UID: p.UID}
		}
	}
	return Wait{Reason: v1beta2.ReasonWaitingForPods, Message: "waiting until an earlier pod is gone", After: poll}
}

// proceed goes on with the run that is under way.
func (o Observed) proceed() Action {
	p := o.Pod
	switch {
	case !o.Run.RetryAfter.IsZero():
		return o.again()
	case p == nil && len(o.Strays) > 0:
		return o.tidy()
	case p == nil:
		return CreatePod{}
	case p.Result != nil && p.Result.Failure == nil:
		return Finish{}
	case p.Result != nil:
		return o.failed(*p.Result.Failure, p.Result.Hopeless)
	case p.Ended:
		return o.failed(Problem{v1beta2.ReasonAgentLost, "the pod ended without a word: " + p.Problem}, false)
	case o.Now.Sub(o.Run.Started) > o.Timeout:
		return o.failed(Problem{
			v1beta2.ReasonTimeout, fmt.Sprintf("not done after %s (backupPolicy.timeoutInSecond)", o.Timeout),
		}, false)
	case p.Problem != "" && o.Now.Sub(o.Run.Started) > startLimit:
		return o.failed(Problem{v1beta2.ReasonPodCannotStart, p.Problem}, false)
	case p.Problem != "":
		return Wait{Reason: v1beta2.ReasonPodCannotStart, Message: p.Problem, After: poll}
	}
	return Wait{Reason: v1beta2.ReasonBackingUp, Message: "the pod is at work", After: poll}
}

// failed ends a try. Another time that is due meanwhile takes the place of another try.
func (o Observed) failed(why Problem, hopeless bool) Action {
	_, next := o.due()
	after := o.Now.Add(delay(o.Run.Attempt))
	superseded := o.Run.Task == TaskBackup && !next.IsZero() && after.After(next)
	if o.Run.Task == TaskBackup && (hopeless || o.Run.Attempt >= attempts) || superseded {
		return GiveUp{Failure: why}
	}
	return Retry{Failure: why, After: after}
}

// again begins the next try once the pod of the last one is gone and its time has come.
func (o Observed) again() Action {
	if o.Pod != nil && !o.Pod.Deleting {
		return DeletePod{Name: o.Pod.Name, UID: o.Pod.UID}
	}
	if wait := o.Run.RetryAfter.Sub(o.Now); wait > 0 && wait <= lastDelay { // a clock that was set back holds nobody up
		return Wait{Reason: v1beta2.ReasonWaitingForRetry, Message: "the last try failed; another one follows", After: wait}
	}
	return Start{Run: Run{Task: o.Run.Task, Due: o.Run.Due, Attempt: o.Run.Attempt + 1, Started: o.Now}}
}

// delay is how long to wait after that many tries.
func delay(attempt int) time.Duration {
	d := firstDelay
	for range attempt - 1 {
		d = min(2*d, lastDelay)
	}
	return d
}

// end is for an EtcdBackup that is being deleted.
func (o Observed) end() Action {
	cleaning := o.Run != nil && o.Run.Task == TaskClean
	switch {
	case !o.Clean:
		return Release{} // the garbage collector takes the pods
	case cleaning && o.Pod != nil && o.Pod.Result != nil && o.Pod.Result.Failure == nil:
		return Release{}
	case cleaning:
		return o.proceed()
	case o.Pod != nil && !o.Pod.Deleting:
		return DeletePod{Name: o.Pod.Name, UID: o.Pod.UID}
	case o.Pod != nil || len(o.Strays) > 0:
		return o.tidy()
	}
	return Start{Run: Run{Task: TaskClean, Due: o.Now, Attempt: 1, Started: o.Now}}
}
