package plan

import (
	"fmt"
	"math"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const (
	// pollFast is how soon to look at etcd again while something is expected of it within a second.
	pollFast = 100 * time.Millisecond
	// pollSlow is how soon to look again at what takes seconds or needs somebody else.
	pollSlow = 2 * time.Second
	// pollRare is how soon to look again at what has not happened for long.
	pollRare = 30 * time.Second
)

// poll is how soon to ask etcd again: fast while a pod is young, and ever more slowly once it is clear that this takes
// longer. Whatever ends the wait, a pod that gets ready or a new one, is an event too.
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

// waitForPods names the pods that are missing, on their way out, or without an address.
func (v *view) waitForPods(names []string) Action {
	var waiting []string
	for _, name := range names {
		p, ok := v.pods[name]
		switch {
		case ok && p.startProblem() != "":
			return Wait{
				Reason: v1beta2.ReasonPodCannotStart, After: pollSlow,
				Message: fmt.Sprintf("pod %s: %s", name, p.startProblem()),
			}
		case !ok || p.Deleting || !p.up():
			waiting = append(waiting, name)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForPods, After: pollSlow,
		Message: "waiting for the pods " + list(waiting),
	}
}
