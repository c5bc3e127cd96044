package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const (
	// pollFast is the interval for states of etcd that should change within a second.
	pollFast = 100 * time.Millisecond
	// pollDefragmented is the interval while a member is being defragmented.
	pollDefragmented = 500 * time.Millisecond
	// pollSlow is the interval for what takes seconds, or depends on someone else.
	pollSlow = 2 * time.Second
	// pollRare is the interval for what has not changed in a long time.
	pollRare = 30 * time.Second
	// usualStart is how long a pod usually takes to start at most, and startLimit is how long a pod may wait for its node, its volumes and its network before that counts as a problem.
	usualStart, startLimit = 10 * time.Second, time.Minute
)

// poll returns when to query etcd again: soon while a pod is young, and less and less often later. A pod that becomes ready or
// is created triggers a pass anyway.
func (v *view) poll() time.Duration {
	const settled = 15 * pollSlow
	age, calm := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for _, p := range v.Pods {
		age = min(age, v.Now.Sub(p.Created))
		if calm = min(calm, age); !p.ReadyChanged.IsZero() {
			calm = min(calm, v.Now.Sub(p.ReadyChanged))
		}
	}
	if age < settled {
		return pollFast
	}
	return min(max(pollSlow, calm/15), pollRare)
}

// waitForPods waits for those of the named pods that are missing, terminating, or without an address; nil if there are none.
func (v *view) waitForPods(names []string) Action {
	var waiting []string
	for _, name := range names {
		p, ok := v.pods[name]
		switch {
		case ok && p.startProblem() != "":
			return Wait{
				Reason: v1beta2.ReasonPodCannotStart, After: pollSlow,
				Message: fmt.Sprintf("pod %s: %s", name, p.startProblem()) + v.untilGivenUp(p),
			}
		case ok && !p.Deleting && p.WaitsFor != "" && v.Now.Sub(p.Created) > startLimit:
			return Wait{
				Reason: v1beta2.ReasonPodCannotStart, After: pollSlow,
				Message: fmt.Sprintf("pod %s %s", name, p.NotStarted()) + v.untilGivenUp(p),
			}
		case !ok:
			waiting = append(waiting, name+" (it does not exist)")
		case p.Deleting || !p.up():
			waiting = append(waiting, name+p.awaited(v.Now))
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForPods, After: pollSlow,
		Message: "waiting for pods " + list(waiting),
	}
}

// untilGivenUp says what becomes of a candidate that its node does not prepare, or that no node can have; empty for any other pod.
func (v *view) untilGivenUp(p Pod) string {
	isCandidate := slices.ContainsFunc(v.Candidates, func(c Pod) bool { return c.UID == p.UID })
	if v.Cluster.ID == 0 || !isCandidate || !p.unprepared() {
		return ""
	}
	return fmt.Sprintf("; a new member whose pod does not start within %s is given up, and another one is made in its place", silentLimit)
}

// NotStarted says since when a pod has not started, and what it waits for.
func (p Pod) NotStarted() string {
	return "has not started since " + p.Created.UTC().Format(time.RFC3339) + ": " + p.WaitsFor
}

// awaited says why a pod that has to be waited for is not up, and since when, or until when that is to be expected; nothing of a pod that
// is about to start. It names times, not durations, so that the message does not change with every pass.
func (p Pod) awaited(now time.Time) string {
	created := p.Created.UTC().Format(time.RFC3339)
	switch {
	case p.Deleting:
		return " (terminating, with grace until " + p.Deadline.UTC().Format(time.RFC3339) + ")"
	case now.Sub(p.Created) < usualStart:
		return ""
	case p.Node == "":
		return " (not scheduled since it was created at " + created + ")"
	case p.Phase == Running:
		return fmt.Sprintf(" (on node %s without an address since it was created at %s)", p.Node, created)
	default:
		return fmt.Sprintf(" (not started by node %s since it was created at %s)", p.Node, created)
	}
}
