package clusterspec

import (
	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// validateWindow refuses a maintenance window that says nothing about when it is open. The schema knows neither time zones nor calendars.
func validateWindow(c *v1beta2.EtcdCluster) *failure.Problem {
	if _, err := plan.WindowOf(c.Spec.MaintenanceWindow, c.CreationTimestamp.Time); err != nil {
		return &failure.Problem{Reason: v1beta2.ReasonInvalidWindow, Message: err.Error()}
	}
	return nil
}
