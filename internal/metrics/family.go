package metrics

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// prefix begins the name of every metric of this operator.
const prefix = "etcd_operator_"

// Type is what kind of number a metric is, in Prometheus's words.
type Type string

// The types.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Family describes all series of one name.
type Family struct {
	Name, Help string
	Type       Type
	// Labels are those that the operator sets: Prometheus adds others.
	Labels []string
}

// units are what a name ends with before _total, by the unit that it stands for: Prometheus's base units.
var units = []struct{ suffix, unit string }{
	{"_timestamp_seconds", "seconds since 1970"}, {"_seconds", "seconds"}, {"seconds_until_quota", "seconds"}, {"_bytes", "bytes"}, {"_ratio", "0 to 1"},
}

// Unit is what is counted or measured, empty of a plain number.
func (f Family) Unit() string {
	for _, u := range units {
		if strings.HasSuffix(strings.TrimSuffix(f.Name, "_total"), u.suffix) {
			return u.unit
		}
	}
	return ""
}

// known are all families, in no order.
var known []Family

// Families are all metrics of this operator, by name. Those of controller-runtime and of Go are not among them.
func Families() []Family {
	all := slices.Clone(known)
	slices.SortFunc(all, func(a, b Family) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func declare(kind Type, name, help string, labels []string) Family {
	f := Family{Name: prefix + name, Help: help, Type: kind, Labels: labels}
	known = append(known, f)
	return f
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	f := declare(Counter, name, help, labels)
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: f.Name, Help: f.Help}, f.Labels)
	metrics.Registry.MustRegister(vec)
	return vec
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	f := declare(Gauge, name, help, labels)
	vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: f.Name, Help: f.Help}, f.Labels)
	metrics.Registry.MustRegister(vec)
	return vec
}

// seconds are the buckets of how long something took that waits for a network and for disks.
var seconds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

func histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	f := declare(Histogram, name, help, labels)
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: f.Name, Help: f.Help, Buckets: seconds}, f.Labels)
	metrics.Registry.MustRegister(vec)
	return vec
}

// column is a family of a collector that holds what it shows as plain data, by object. A GaugeVec would keep each series as an object of
// its own, with all of its labels.
type column struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func columnOf(kind Type, name, help string, labels ...string) column {
	f := declare(kind, name, help, labels)
	c := column{desc: prometheus.NewDesc(f.Name, f.Help, f.Labels, nil), kind: prometheus.GaugeValue}
	if kind == Counter {
		c.kind = prometheus.CounterValue
	}
	return c
}

// series is where a collector writes those of one object to: labels begin with the two that say which.
type series struct {
	to              chan<- prometheus.Metric
	namespace, name string
}

func (s series) add(c column, value float64, labels ...string) {
	s.to <- prometheus.MustNewConstMetric(c.desc, c.kind, value, append([]string{s.namespace, s.name}, labels...)...)
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
