package plan

import (
	"testing"
	"time"
)

// TestBadSpecOutOfTurn: c-0 does not start with a bad spec, and c-1, whose turn it is not, is lost and refused once.
func TestBadSpecOutOfTurn(t *testing.T) {
	o := withoutPod(silent(healthyCluster(3, true), 0), 1)
	o.Pods[0].StartProblem, o.Pods[0].Ready = "etcd is crash-looping", false
	o.Cluster.AcceptedSpec, o.Cluster.PreviousSpec, o.Cluster.Spec = "b", "a", "b"
	o = noContact(o)
	for i := range o.Pods {
		if o.Pods[i].Name == "c-2" {
			o.Pods[i].Drift.Template = true
		}
	}
	o.Volumes[1].FromPreviousSpec, o.Volumes[2].FromPreviousSpec = true, true
	o.Refused = []Refusal{{Target: Target{"create from the previous spec", KindPod, "c-1"}, Message: "failed calling webhook", Since: now, RetryAt: now.Add(2 * time.Second)}}
	a, _ := Decide(o)
	t.Logf("%T %+v", a, a)
	if act, ok := a.(CreatePods); ok && !act.Pods[0].FromPreviousSpec {
		t.Error("the bad spec reaches a second of three members while the first is down with it")
	}
}
