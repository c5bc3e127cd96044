package controllertest

import (
	"testing"

	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Metrics are the operator's own of a namespace, by name. Of several of one name the last counts.
func Metrics(t *testing.T, namespace string) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	each(t, map[string]string{"namespace": namespace}, func(name string, value float64) { found[name] = value })
	return found
}

// Sample is the sum of the series of a name that have these labels, of a histogram the number of observations; 0 if there are none.
func Sample(t *testing.T, name string, labels map[string]string) float64 {
	t.Helper()
	total := 0.0
	each(t, labels, func(of string, value float64) {
		if of == name {
			total += value
		}
	})
	return total
}

// each calls back with every series that has these labels.
func each(t *testing.T, labels map[string]string, found func(name string, value float64)) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	Must(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if has(m, labels) {
				found(family.GetName(), m.GetGauge().GetValue()+m.GetCounter().GetValue()+float64(m.GetHistogram().GetSampleCount()))
			}
		}
	}
}

func has(m *dto.Metric, labels map[string]string) bool {
	matching := 0
	for _, label := range m.GetLabel() {
		if want, asked := labels[label.GetName()]; asked && want == label.GetValue() {
			matching++
		}
	}
	return matching == len(labels)
}
