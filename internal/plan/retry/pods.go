package retry

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Pod is a pod that does the work.
type Pod struct {
	Name, UID string
	Created   time.Time
	// Deleting is true while it is being deleted; it is to be gone at Deadline.
	Deleting bool
	Deadline time.Time
	// Running is true while its container does, Ended once it ended for good, or if the pod can never run.
	Running, Ended bool
	// Result is what it left, nil if it left nothing that can be read.
	Result *Result
	// Problem says why the pod does not run, empty if nothing is known.
	Problem string
}

// Result is the end of a try as far as a decision depends on it.
type Result struct {
	// Failure is nil if the try succeeded.
	Failure *failure.Problem
}

// Leaving reports whether the pod is on its way out, unless its node has been silent for too long, or its time to end is far
// off, as if the clock was set back: then it is waited for no more. If it should still run it harms nobody, for no two tries
// write the same object.
func (p Pod) Leaving(now time.Time) bool {
	return p.Deleting && now.Before(p.Deadline.Add(silence)) && !now.Before(p.Deadline.Add(-Slack))
}

// failed reports whether the pod's log may say why a try failed.
func (p Pod) failed() bool {
	if p.Result != nil {
		return p.Result.Failure != nil
	}
	return p.Ended
}

// Staying finds a pod that is not being deleted.
func Staying(pods []Pod) (Pod, bool) {
	i := slices.IndexFunc(pods, func(p Pod) bool { return !p.Deleting })
	if i < 0 {
		return Pod{}, false
	}
	return pods[i], true
}

// Leftover finds a pod that is of no use any more among those of tries that are over. The last one that failed is kept for
// its log.
func Leftover(pods []Pod) (Pod, bool) {
	kept := Pod{}
	for _, p := range pods {
		if p.failed() && (kept.UID == "" || p.Created.After(kept.Created)) {
			kept = p
		}
	}
	return Staying(slices.DeleteFunc(slices.Clone(pods), func(p Pod) bool { return p.UID == kept.UID }))
}

const (
	// nameLimit is that of a DNS label: pods have their names as host names.
	nameLimit = 63
	hashBytes = 4
)

// PodName is the name of a try's pod: its owner's, and the try's. A long owner's is cut, and has a hash behind it.
func PodName(owner, try string) string {
	tail := "-" + try
	if len(owner)+len(tail) <= nameLimit {
		return owner + tail
	}
	sum := sha256.Sum256([]byte(owner))
	tail = "-" + hex.EncodeToString(sum[:hashBytes]) + tail
	return strings.TrimRight(owner[:nameLimit-len(tail)], "-.") + tail
}
