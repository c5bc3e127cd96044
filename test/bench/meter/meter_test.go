package meter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdpilot/etcd-operator/test/bench/meter"
)

const first = `# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 1.5
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 5.0e+07
# TYPE rest_client_requests_total counter
rest_client_requests_total{code="200",host="a",method="GET"} 10
rest_client_requests_total{code="201",host="a",method="POST"} 2
# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="etcdcluster",result="success"} 7
controller_runtime_reconcile_total{controller="etcdbackup",result="success"} 100
`

const second = `# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 2.5
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 6.0e+07
# TYPE go_memstats_next_gc_bytes gauge
go_memstats_next_gc_bytes 4.0e+07
# TYPE rest_client_requests_total counter
rest_client_requests_total{code="200",host="a",method="GET"} 14
rest_client_requests_total{code="404",host="a",method="GET"} 1
rest_client_requests_total{code="201",host="a",method="POST"} 2
rest_client_requests_total{code="200",host="a",method="PUT"} 3
# TYPE etcd_operator_etcd_calls_total counter
etcd_operator_etcd_calls_total{method="Status",outcome="OK"} 6
etcd_operator_etcd_calls_total{method="Range",outcome="Unavailable"} 1
# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="etcdcluster",result="success"} 8
controller_runtime_reconcile_total{controller="etcdcluster",result="requeue_after"} 4
# TYPE etcd_operator_cluster_condition gauge
etcd_operator_cluster_condition{namespace="a",etcd_cluster="c",type="Ready"} 1
etcd_operator_cluster_condition{namespace="b",etcd_cluster="c",type="Ready"} 1
etcd_operator_cluster_condition{namespace="b",etcd_cluster="c",type="Available"} 1
# TYPE etcd_operator_observe_duration_seconds histogram
etcd_operator_observe_duration_seconds_bucket{le="1"} 1
etcd_operator_observe_duration_seconds_bucket{le="+Inf"} 1
etcd_operator_observe_duration_seconds_sum 0.5
etcd_operator_observe_duration_seconds_count 1
`

func TestUsage(t *testing.T) {
	at := time.Now()
	before, err := meter.Parse(strings.NewReader(first), at)
	if err != nil {
		t.Fatal(err)
	}
	after, err := meter.Parse(strings.NewReader(second), at.Add(4*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if after.Series != 18 || after.OfCluster != 2 {
		t.Errorf("%d series, and a cluster has up to %d", after.Series, after.OfCluster)
	}
	u := after.Since(before)
	if u.Cores() != 0.25 || u.Memory != 60_000_000 || u.Goal != 40_000_000 || u.Reads() != 5 || u.Writes() != 3 || u.Calls != 7 || u.Passes != 5 {
		t.Errorf("usage %+v: %v cores, %d reads, %d writes", u, u.Cores(), u.Reads(), u.Writes())
	}
}

func TestParseRefusesWhatIsNotTheOperator(t *testing.T) {
	for _, text := range []string{"", "no metrics", "up 1\n"} {
		if _, err := meter.Parse(strings.NewReader(text), time.Time{}); err == nil {
			t.Errorf("%q is taken for the operator's metrics", text)
		}
	}
}
