package etcdcluster

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	own "github.com/etcdpilot/etcd-operator/internal/metrics"
)

// TestExportedExpiry exports when authorities expire beside what they have issued.
func TestExportedExpiry(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shown", Name: "c"}}
	exportExpiry(c, []certificates.Info{
		{Name: "c-0-tls", Use: "peer", NotAfter: noon.Add(time.Hour)},
		{Name: "c-1-tls", Use: "peer", NotAfter: noon},
		{Name: "c-ca", Use: "peer", NotAfter: noon.Add(2 * time.Hour)},
	})
	defer own.ForgetCertificates("shown", "c")
	families, err := metrics.Registry.Gather()
	must(t, err)
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, pair := range m.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
			}
			if family.GetName() == "etcd_operator_certificate_expiration_timestamp_seconds" && labels["namespace"] == "shown" {
				got[labels["use"]] = m.GetGauge().GetValue()
			}
		}
	}
	if len(got) != 2 || got["peer"] != float64(noon.Unix()) || got["peer-ca"] != float64(noon.Add(2*time.Hour).Unix()) {
		t.Errorf("exported is %v", got)
	}
}
