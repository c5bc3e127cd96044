package status

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestResourcesAreShown as long as the spec has what they were changed from, whether or not anything is held.
func TestResourcesAreShown(t *testing.T) {
	of := plan.Requirements{Requests: plan.Resources{CPU: 1000, Memory: 2 << 30}, Limits: plan.Resources{Memory: 4 << 30}}
	resized := resizedFor(plan.Resized{Now: plan.Resources{CPU: 1270, Memory: 2 << 30}, Before: of.Requests, InsteadOf: of, Since: at})
	if cpu, memory := resized.Requests.Cpu().String(), resized.InsteadOf.Limits.Memory().String(); cpu != "1270m" || memory != "4Gi" {
		t.Errorf("it is shown as %s of CPU, and was limited to %s of memory", cpu, memory)
	}
	after := func(spec plan.Requirements) *v1beta2.AutopilotStatus {
		return Compute(edited(threeMembers(), func(in *Input) {
			in.Cluster.Status.Autopilot = &v1beta2.AutopilotStatus{Resources: resized.DeepCopy()}
			in.Observed.Cluster.SpecResources = spec
		})).Autopilot
	}
	if got := after(of); got == nil || !equality.Semantic.DeepEqual(got.Resources, resized) {
		t.Errorf("got %+v", got)
	}
	if got := after(plan.Requirements{Requests: plan.Resources{CPU: 1100, Memory: 2 << 30}}); got != nil {
		t.Errorf("the spec has something else now, and it is %+v", got)
	}
}
