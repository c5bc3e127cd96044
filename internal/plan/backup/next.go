package backup

import (
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const (
	// Attempts is how often a run is tried before it is given up.
	Attempts = 6
	// firstDelay and lastDelay are between tries: the first, and the longest.
	firstDelay = 10 * time.Second
	lastDelay  = 5 * time.Minute
	// poll is how often a pod at work is asked how far it is; what becomes of it is watched.
	poll = 5 * time.Second
	// startLimit is how long a try may take to begin in a pod that Kubernetes does not start.
	startLimit = 5 * time.Minute
	// overtime is what a pod has beyond the time-out: it ends itself, or Kubernetes ends it a minute later, unless its node
	// is lost.
	overtime = startLimit + 2*time.Minute
	// silence is how long a node may take to say that a pod has ended that was to.
	silence = 30 * time.Second
)

// Next decides what to do now.
func Next(o Observed) Action {
	switch {
	case o.Deleting:
		return o.end()
	case o.Clean && !o.Guarded:
		return Guard{}
	case o.Guarded && !o.Clean:
		return Release{}
	case o.Run != nil:
		return o.proceed()
	}
	if p, found := o.leftover(); found {
		return DeletePod{Name: p.Name, UID: p.UID}
	}
	return o.begin()
}

// begin starts a run if one is due and nothing keeps it from it.
func (o Observed) begin() Action {
	due, next := o.Due()
	switch {
	case o.Done:
		return Idle{Reason: v1beta2.ReasonCompleted, Message: "the one backup that was asked for is over"}
	case o.Problem != nil:
		return Blocked(*o.Problem)
	case o.Suspended:
		return Idle{Reason: v1beta2.ReasonSuspended, Message: "spec.suspend keeps new backups from being taken"}
	case due.IsZero():
		return Idle{
			Reason: v1beta2.ReasonScheduled, Next: next,
			Message: "the next backup is due at " + next.UTC().Format(time.RFC3339),
		}
	case o.Ahead != "":
		return o.queue()
	}
	if action := tidy(o.Strays, o.Now); action != nil {
		return action
	}
	return Start{Run: Run{Task: TaskBackup, Due: due, Attempt: 1, Started: o.Now}}
}

func (o Observed) queue() Action {
	return Wait{
		Reason: v1beta2.ReasonWaitingForStorage, After: 2 * poll,
		Message: fmt.Sprintf("EtcdBackup %s is at work on the same storage", o.Ahead),
	}
}

// leftover is a pod that is of no use any more. The last one that failed is kept for its log.
func (o Observed) leftover() (Pod, bool) {
	kept := Pod{}
	for _, p := range o.Strays {
		if p.failed() && (kept.UID == "" || p.Created.After(kept.Created)) {
			kept = p
		}
	}
	for _, p := range o.Strays {
		if !p.Deleting && p.UID != kept.UID {
			return p, true
		}
	}
	return Pod{}, false
}

// tidy deletes pods and waits until they are gone, nil if they are.
func tidy(pods []Pod, now time.Time) Action {
	for _, p := range pods {
		if !p.Deleting {
			return DeletePod{Name: p.Name, UID: p.UID}
		}
	}
	if slices.ContainsFunc(pods, func(p Pod) bool { return p.leaving(now) }) {
		return Wait{Reason: v1beta2.ReasonWaitingForPods, Message: "waiting until an earlier pod is gone", After: poll}
	}
	return nil
}

// proceed goes on with the run that is under way.
func (o Observed) proceed() Action {
	p := o.Pod
	switch {
	case !o.Run.RetryAfter.IsZero():
		return o.again()
	case p == nil:
		return o.make()
	case p.Result != nil && p.Result.Failure == nil:
		return Finish{}
	case p.Result != nil:
		return o.failed(*p.Result.Failure, p.Result.Hopeless)
	case p.Ended && p.Problem == "":
		return o.failed(Problem{v1beta2.ReasonAgentLost, "the pod ended without a word"}, false)
	case p.Ended:
		return o.failed(Problem{v1beta2.ReasonAgentLost, "the pod ended without a word: " + p.Problem}, false)
	}
	return o.await()
}

// make is for a try without a pod.
func (o Observed) make() Action {
	switch {
	case o.Run.Made:
		return o.failed(Problem{v1beta2.ReasonAgentLost, "the pod was deleted before it was done"}, false)
	case o.Problem != nil:
		return Withdraw{Why: *o.Problem}
	}
	if action := tidy(o.Strays, o.Now); action != nil {
		return action
	}
	return CreatePod{}
}

// await is for a pod that has yet to end.
func (o Observed) await() Action {
	p, since := o.Pod, o.Now.Sub(o.Run.Started)
	switch {
	case p.leaving(o.Now):
		return Wait{Reason: v1beta2.ReasonWaitingForPods, Message: "somebody deletes the pod; another try follows", After: poll}
	case p.Deleting:
		return o.failed(Problem{
			v1beta2.ReasonAgentLost, "the pod was to end, and its node does not say that it has: look at the node",
		}, false)
	case !p.Running && since > startLimit:
		return o.failed(Problem{v1beta2.ReasonPodCannotStart, o.whyNotRunning()}, false)
	case since > o.Timeout+overtime:
		return o.failed(Problem{
			v1beta2.ReasonTimeout, fmt.Sprintf("the pod did not end after %s: look at its node", o.Timeout),
		}, false)
	case !p.Running && p.Problem != "":
		return Wait{Reason: v1beta2.ReasonPodCannotStart, Message: p.Problem, After: poll}
	case !p.Running:
		return Wait{Reason: v1beta2.ReasonWaitingForPods, Message: "waiting for pod " + p.Name + " to start", After: poll}
	case o.Run.Task == TaskClean:
		return Wait{Reason: v1beta2.ReasonCleaning, Message: "the objects are being deleted", After: poll}
	}
	return Wait{Reason: v1beta2.ReasonBackingUp, Message: "the pod is at work", After: poll}
}

func (o Observed) whyNotRunning() string {
	if o.Pod.Problem != "" {
		return o.Pod.Problem
	}
	return fmt.Sprintf("the pod has not started for %s: kubectl describe pod %s says why; a Secret or a volume that is "+
		"missing is the usual reason", startLimit, o.Pod.Name)
}

// Refused decides what follows if Kubernetes does not take the pod of a try: the try has failed.
func Refused(o Observed, why Problem) Action { return o.failed(why, false) }

// failed ends a try. Another time that is due meanwhile takes the place of another try.
func (o Observed) failed(why Problem, hopeless bool) Action {
	after := o.Now.Add(delay(o.Run.Attempt))
	if o.Run.Task == TaskBackup {
		_, next := o.Due()
		superseded := !next.IsZero() && after.After(next)
		if hopeless || o.Run.Attempt >= Attempts || superseded {
			return GiveUp{Failure: why}
		}
	}
	return Retry{Failure: why, After: after}
}

// again begins the next try once its time has come and the pod of the last one, which was kept for its log, is gone.
func (o Observed) again() Action {
	wait := o.Run.RetryAfter.Sub(o.Now)
	switch {
	case wait > 0 && wait <= lastDelay: // a clock that was set back holds nobody up
		return Wait{Reason: v1beta2.ReasonWaitingForRetry, Message: "another try follows", After: wait}
	case o.Ahead != "" && o.Run.Task == TaskBackup:
		return o.queue()
	}
	if action := tidy(o.pods(), o.Now); action != nil {
		return action
	}
	return Start{Run: Run{Task: o.Run.Task, Due: o.Run.Due, Attempt: o.Run.Attempt + 1, Started: o.Now}}
}

// pods are all of this EtcdBackup's.
func (o Observed) pods() []Pod {
	if o.Pod == nil {
		return o.Strays
	}
	return append(slices.Clone(o.Strays), *o.Pod)
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
	case !o.Guarded:
		return Idle{Reason: v1beta2.ReasonTerminating, Message: "the EtcdBackup is being deleted"}
	case !o.Clean || !o.Written:
		return Release{} // the garbage collector takes the pods
	case cleaning && o.Pod != nil && o.Pod.Result != nil && o.Pod.Result.Failure == nil:
		return Release{}
	case cleaning:
		return o.proceed()
	}
	if action := tidy(o.pods(), o.Now); action != nil {
		return action
	}
	if o.Problem != nil {
		return Blocked(*o.Problem)
	}
	return Start{Run: Run{Task: TaskClean, Due: o.Now, Attempt: 1, Started: o.Now}}
}
