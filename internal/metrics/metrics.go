// Package metrics holds the operator's own metrics, beside those of controller-runtime.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Actions counts the planner's answers, by action and reason; Wait and Blocked are answers too. With the reason WriteRefused it counts
// the action's writes, and dry runs of them, that the API server has refused or not answered in time.
var Actions = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "etcd_operator_actions_total",
	Help: "Answers of the planner, by action and reason; with the reason WriteRefused, its writes and dry runs that were refused or not answered.",
}, []string{"action", "reason"})

func init() { metrics.Registry.MustRegister(Actions) }
