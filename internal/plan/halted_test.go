package plan

import (
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestHalted has members serve whose pods are not Ready, because another container in them does not run: the update that led to it stops at the first, and
// what mends it reaches all of them, the leader last.
func TestHalted(t *testing.T) {
	halts := func(problem string, since time.Duration, members ...int) func(*Observed) {
		return func(o *Observed) {
			for _, i := range members {
				p := &o.Pods[i]
				p.Ready, p.NotReadyByKubelet, p.SidecarNotReady = false, true, problem != ""
				p.StartProblem, p.ReadyChanged = problem, now.Add(-since)
			}
		}
	}
	const missing = "container beside: ErrImagePull: not found"
	rolled := func(halted func(*Observed), mended ...int) Observed {
		return closed(edit(healthyCluster(3, true), halted, template(mended...)))
	}
	stopped := Wait{Reason: v1beta2.ReasonUpdateStopped}
	recreated := func(i int) Action {
		return Recreate{Name: name(i), UID: newView(healthyCluster(3, true)).pods[name(i)].UID, Version: "3.6.16"}
	}
	check(t, map[string]planCase{
		"the update stops at it":                          {rolled(halts(missing, time.Minute, 1), 0, 2), stopped},
		"it is reverted: it leaves the Service":           {rolled(halts(missing, time.Minute, 1), 1), RemoveFromService{Pod: "c-1", UID: "p1"}},
		"and is recreated":                                {unserved(rolled(halts(missing, time.Minute, 1), 1), 1), recreated(1)},
		"another container ends again and again":          {unserved(rolled(halts("", time.Hour, 1), 1), 1), recreated(1)},
		"it may become ready":                             {rolled(halts("", time.Minute, 1), 1), Wait{Reason: v1beta2.ReasonWaitingForMember}},
		"another one has an update, too, and it is first": {unserved(rolled(halts(missing, time.Minute, 2), 1, 2), 2), recreated(2)},
		"two are": {unserved(rolled(halts(missing, time.Minute, 1, 2), 1, 2), 1), recreated(1)},
		"one's own probe fails, and another's sidecar": {
			unserved(rolled(func(o *Observed) { halts("", time.Hour, 2)(o); halts(missing, time.Minute, 1)(o) }, 1, 2), 2), recreated(2),
		},
		"one's own probe fails, and no volume can be made for its replacement": {
			edit(rolled(halts("", time.Hour, 1), 1, 2), refuse(Target{"create", KindVolume, "c-3"}), func(o *Observed) { o.Volumes[1].Drift = true }),
			SetBudget{MinAvailable: 2},
		},
		"so is the leader": {unserved(rolled(halts(missing, time.Minute, 0, 1), 0, 1), 1), recreated(1)},
		"its node does not report": {
			edit(rolled(halts("", time.Hour, 1), 1), func(o *Observed) { o.Pods[1].NotReadyByKubelet = false }), stopped,
		},
		"nobody is heard":  {noContact(rolled(halts(missing, time.Minute, 0, 1, 2), 0, 1, 2)), Wait{Reason: v1beta2.ReasonQuorumLost}},
		"it has no etcd":   {silent(rolled(halts(missing, time.Minute, 1), 1), 1), recreated(1)},
		"one is not due":   {rolled(halts(missing, time.Minute, 1, 2), 1), stopped},
		"all as asked for": {closed(edit(healthyCluster(3, true), halts(missing, time.Minute, 1))), stopped},
	})
}
