// Package retry judges the pods that carry out the tasks of EtcdBackups and EtcdRestores, and says when to try again. Like
// its parent it is pure.
package retry

import (
	"cmp"
	"fmt"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

const (
	// Attempts is how often a task of an EtcdRestore is tried before it is given up, and one of an EtcdBackup that saves
	// nothing but what is damaged. What else an EtcdBackup is to do is tried for longer.
	Attempts = 6
	// Poll is how often a pod at work is asked how far it is; what becomes of it is watched.
	Poll = 5 * time.Second
	// firstDelay and lastDelay are between tries: the first, and the longest.
	firstDelay = 10 * time.Second
	lastDelay  = 5 * time.Minute
	// startLimit is how long Kubernetes may take to start a pod.
	startLimit = 5 * time.Minute
	// overtime is what a pod has beyond the time-out: it ends itself, or Kubernetes ends it a minute later, unless its node
	// is lost.
	overtime = startLimit + 2*time.Minute
	// Slack is how far a time that was noted may be ahead of the clock: clocks are set back by moments all the time.
	Slack = 5 * time.Minute
	// silence is how long a node may take to say that a pod has ended that was to.
	silence = 30 * time.Second
)

// Try is one try of a task.
type Try struct {
	Pod Pod
	// Started is when it began, and Timeout how long it may take; Limit is the field that says so, or what does.
	Started time.Time
	Timeout time.Duration
	Limit   string
}

// Verdict is what is to be said of a try.
type Verdict struct {
	// Over is true once it has succeeded or failed.
	Over bool
	// Problem is why it failed, or what keeps it from going on; nil if nothing does.
	Problem *failure.Problem
	// ResetTimer is true if the clock was set back, so that the try began in the future: from now on it is to have begun now, or
	// it would be given up that much late.
	ResetTimer bool
}

// Judge tells how the try goes.
func (t Try) Judge(now time.Time) Verdict {
	p, taken := t.Pod, now.Sub(t.Started)
	switch {
	case p.Result != nil:
		return Verdict{Over: true, Problem: p.Result.Failure}
	case p.Ended:
		return failed(v1beta2.ReasonAgentLost, "the pod exited without a termination message; "+cmp.Or(p.Problem, "check its log"))
	case p.Leaving(now):
		return Verdict{}
	case p.Deleting:
		return failed(v1beta2.ReasonAgentLost, "the pod was to end, and its node does not say that it has: look at the node")
	case taken < -Slack:
		return Verdict{ResetTimer: true}
	case !p.Running && taken > startLimit:
		return failed(v1beta2.ReasonPodCannotStart, cmp.Or(p.Problem, "the pod does not start: kubectl describe pod "+p.Name+
			" says why; a volume that is missing is the usual reason"))
	case taken > t.Timeout+overtime:
		return failed(v1beta2.ReasonTimeout, fmt.Sprintf("the pod did not end after %s (%s): look at its node", t.Timeout, t.Limit))
	case !p.Running && p.Problem != "":
		return Verdict{Problem: &failure.Problem{Reason: v1beta2.ReasonPodCannotStart, Message: p.Problem}}
	}
	return Verdict{}
}

func failed(reason, message string) Verdict {
	return Verdict{Over: true, Problem: &failure.Problem{Reason: reason, Message: message}}
}

// Delay is how long to wait after that many tries.
func Delay(attempt int) time.Duration {
	d := firstDelay
	for range attempt - 1 {
		d = min(2*d, lastDelay)
	}
	return d
}

// Pause is how long the next try has to wait yet. A clock that was set back holds nobody up.
func Pause(now, after time.Time) time.Duration {
	if pause := after.Sub(now); pause > 0 && pause <= lastDelay {
		return pause
	}
	return 0
}
