package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// OperatedByAnother is how many objects another operator reconciles, so that this one does not, by kind and namespace.
var OperatedByAnother = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "etcd_operator_operated_by_another",
	Help: "Objects that this operator does not reconcile because another one does, by kind and namespace.",
}, []string{"kind", "namespace"})

func init() { metrics.Registry.MustRegister(OperatedByAnother) }
