package meter

import (
	"fmt"
	"io"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Reading is what the operator has used up to a moment, except for Memory, Heap, Goal, Goroutines and the series, which are of that moment.
type Reading struct {
	At time.Time
	// CPU is processor time, of all cores together.
	CPU time.Duration
	// Memory and Heap are in bytes: what is resident, and what the garbage collector looks after.
	Memory, Heap int64
	// Goal is the size in bytes that the heap may reach before it is collected again: by GOGC larger than what was in use after the last
	// collection, so it depends less than Heap on when that was.
	Goal       int64
	Goroutines int64
	// Requests are those to the API server that were answered, by HTTP method.
	Requests map[string]int64
	// Calls are those to etcd servers.
	Calls int64
	// Passes are the reconciliations of EtcdClusters.
	Passes int64
	// Series are all that are served now, and OfCluster those of the EtcdCluster that has the most.
	Series, OfCluster int
}

// Parse reads the text format of Prometheus.
func Parse(text io.Reader, at time.Time) (Reading, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return Reading{}, fmt.Errorf("parse the operator's metrics: %w", err)
	}
	if families["process_cpu_seconds_total"] == nil {
		return Reading{}, fmt.Errorf("the operator's metrics do not tell its processor time")
	}
	r := Reading{
		At:         at,
		CPU:        time.Duration(sum(families["process_cpu_seconds_total"], nil) * float64(time.Second)),
		Memory:     int64(sum(families["process_resident_memory_bytes"], nil)),
		Heap:       int64(sum(families["go_memstats_heap_inuse_bytes"], nil)),
		Goal:       int64(sum(families["go_memstats_next_gc_bytes"], nil)),
		Goroutines: int64(sum(families["go_goroutines"], nil)),
		Calls:      int64(sum(families["etcd_operator_etcd_calls_total"], nil)),
		Passes: int64(sum(families["controller_runtime_reconcile_total"], func(labels map[string]string) bool {
			return labels["controller"] == "etcdcluster"
		})),
		Requests: map[string]int64{},
	}
	for _, m := range families["rest_client_requests_total"].GetMetric() {
		r.Requests[labelsOf(m)["method"]] += int64(m.GetCounter().GetValue())
	}
	r.countSeries(families)
	return r, nil
}

func (r *Reading) countSeries(families map[string]*dto.MetricFamily) {
	of := map[[2]string]int{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			n := lines(m)
			r.Series += n
			labels := labelsOf(m)
			if cluster := labels["etcd_cluster"]; cluster != "" {
				key := [2]string{labels["namespace"], cluster}
				of[key] += n
				r.OfCluster = max(r.OfCluster, of[key])
			}
		}
	}
}

// lines is how many series Prometheus makes of a metric: of a histogram one for each bucket, and its sum and count.
func lines(m *dto.Metric) int {
	switch {
	case m.Histogram != nil:
		return len(m.GetHistogram().GetBucket()) + 2
	case m.Summary != nil:
		return len(m.GetSummary().GetQuantile()) + 2
	}
	return 1
}

// Since is what was used between two readings, with the later one's values of what is of a moment.
func (r Reading) Since(earlier Reading) Usage {
	u := Usage{Reading: r, Took: r.At.Sub(earlier.At)}
	u.CPU -= earlier.CPU
	u.Calls -= earlier.Calls
	u.Passes -= earlier.Passes
	u.Requests = map[string]int64{}
	for method, n := range r.Requests {
		u.Requests[method] = n - earlier.Requests[method]
	}
	return u
}

// Usage is what was used over a time.
type Usage struct {
	Reading
	Took time.Duration
}

// Cores is how many cores were busy on average.
func (u Usage) Cores() float64 { return u.CPU.Seconds() / u.Took.Seconds() }

// Reads are the requests that change nothing.
func (u Usage) Reads() int64 { return u.Requests["GET"] }

// Writes are all others.
func (u Usage) Writes() int64 {
	var n int64
	for method, count := range u.Requests {
		if method != "GET" {
			n += count
		}
	}
	return n
}

// sum adds up the samples of a counter or gauge whose labels are wanted.
func sum(family *dto.MetricFamily, wanted func(map[string]string) bool) float64 {
	total := 0.0
	for _, m := range family.GetMetric() {
		if wanted == nil || wanted(labelsOf(m)) {
			total += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
		}
	}
	return total
}

func labelsOf(m *dto.Metric) map[string]string {
	labels := map[string]string{}
	for _, pair := range m.GetLabel() {
		labels[pair.GetName()] = pair.GetValue()
	}
	return labels
}
