package doctor

import (
	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
)

// autopilot tells what Auto Pilot holds back; nothing if that is nothing.
func autopilot(f *Facts) (found []Finding) {
	if f.Cluster.Status.Autopilot == nil {
		return nil
	}
	for _, h := range f.Cluster.Status.Autopilot.Held {
		if onlyWaits(h.Reason, f.Cluster.Spec.MaintenanceWindow) {
			found = append(found, good("%s: %s: %s", h.Feature, h.Reason, h.Message)...)
			continue
		}
		one := doubtful("%s is held: %s: %s", h.Feature, h.Reason, h.Message)
		one.Next, one.ByHand = "the operator does it once it may", reasons.Of(h.Reason).Todo
		one.Why, one.Runbook = reasons.Link(h.Reason), runbook("EtcdAutopilotHeld")
		found = append(found, one)
	}
	return found
}

// onlyWaits reports whether what is held for that reason is done as time goes by: the alert EtcdAutopilotHeld does not fire then.
func onlyWaits(reason string, window *v1beta2.MaintenanceWindow) bool {
	switch reason {
	case v1beta2.ReasonWaitingForBrake, v1beta2.ReasonPatchOnTrial:
		return true
	}
	return reason == v1beta2.ReasonWaitingForWindow && window != nil
}
