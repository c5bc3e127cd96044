package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// OperatedByAnother is how many objects this operator leaves alone because another one acts on them, by kind and namespace.
var OperatedByAnother = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "etcd_operator_operated_by_another",
	Help: "Objects that this operator leaves alone because another one acts on them, by kind and namespace.",
}, []string{"kind", "namespace"})

func init() { metrics.Registry.MustRegister(OperatedByAnother) }
