package plan

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestPodThatDoesNotStart says of a pod that waits for longer than usual what it waits for, and since when.
func TestPodThatDoesNotStart(t *testing.T) {
	o := edit(healthyCluster(1, true), func(o *Observed) {
		o.Cluster.Size = 2
		p := waitingPod(1)
		p.Phase, p.IP, p.Persistent, p.WaitsFor = Pending, "", true, "no scheduler has looked at it"
		o.Pods = append(o.Pods, p)
		o.Volumes = append(o.Volumes, Volume{Name: "c-1", UID: "v1", Incarnation: 1, Owned: true})
	})
	for age, want := range map[time.Duration]Wait{
		startLimit:               {Reason: v1beta2.ReasonWaitingForPods, Message: "waiting for pods c-1"},
		startLimit + time.Second: {Reason: v1beta2.ReasonPodCannotStart, Message: "no scheduler has looked at it"},
	} {
		w, ok := Next(edit(o, func(o *Observed) { o.Pods[1].Created = now.Add(-age) })).(Wait)
		if !ok || w.Reason != want.Reason || !strings.Contains(w.Message, want.Message) {
			t.Errorf("after %s: %+v", age, w)
		}
	}
}
