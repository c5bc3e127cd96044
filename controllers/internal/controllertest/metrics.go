package controllertest

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Metrics are the operator's own of a namespace, by name. Of several of one name the last counts.
func Metrics(t *testing.T, namespace string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	Must(t, err)
	found := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "namespace" && label.GetValue() == namespace {
					found[family.GetName()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
				}
			}
		}
	}
	return found
}
