package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var certificateExpiry = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "etcd_operator_certificate_expiration_timestamp_seconds",
	Help: "When the first certificate of an EtcdCluster for that use expires, in seconds since 1970.",
}, []string{"namespace", "name", "use"})

func init() { metrics.Registry.MustRegister(certificateExpiry) }

// SetCertificates exports when the first certificate of each use expires, in seconds since 1970.
func SetCertificates(namespace, name string, first map[string]float64) {
	ForgetCertificates(namespace, name)
	for use, at := range first {
		certificateExpiry.WithLabelValues(namespace, name, use).Set(at)
	}
}

// ForgetCertificates removes the metrics of an EtcdCluster.
func ForgetCertificates(namespace, name string) {
	certificateExpiry.DeletePartialMatch(prometheus.Labels{"namespace": namespace, "name": name})
}
