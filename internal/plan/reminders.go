package plan

import (
	"slices"
	"time"
)

const (
	// remindAfter is how long a kubelet may take to bring a permit into its pod: usually less than a second.
	remindAfter = 5 * time.Second
	// remindLimit is when reminders end: by then the kubelet has looked by itself.
	remindLimit = publishLimit
	// mostReminders are given at a time: a few more than a cluster has members, so that pods that somebody has made up cost no more.
	mostReminders = 10
)

// Reminders returns the pods whose kubelets are to be told once more that there is a permit, and when to ask again; 0 if nobody waits. A
// kubelet writes an annotation into the pod's volume when the pod changes, but misses a change that it is told of while it writes an
// earlier one (AddPodToVolume in the kubelet's actual_state_of_world.go clears the request), and looks by itself only 60 to 90 s later.
// Any other change of the pod makes it look. It is told after 5 s, and then after twice as long each time.
func Reminders(o Observed) (due []Pod, next time.Duration) {
	for _, p := range o.Pods {
		if !o.Cluster.CurrentPod(p) || !p.mayNotKnow(o.Now) || answered(o, p) {
			continue
		}
		last := p.PermittedAt
		if p.RemindedAt.After(last) {
			last = p.RemindedAt
		}
		left := last.Add(max(remindAfter, last.Sub(p.PermittedAt))).Sub(o.Now)
		if left <= 0 {
			left = remindAfter
			if len(due) < mostReminders {
				due = append(due, p)
			}
		}
		if next == 0 || left < next {
			next = left
		}
	}
	return due, next
}

// mayNotKnow reports whether the pod runs, and was given its permit meanwhile, not long ago. One that was created with it has it.
func (p Pod) mayNotKnow(now time.Time) bool {
	return p.Permit != nil && !p.PermittedAt.Equal(p.Created) && now.Sub(p.PermittedAt) <= remindLimit &&
		p.Phase == Running && !p.Deleting && p.Exit == ExitNone
}

func answered(o Observed, p Pod) bool {
	return slices.ContainsFunc(o.Etcd.Answers, func(a Answer) bool { return a.Pod == p.Name && a.PodUID == p.UID })
}
