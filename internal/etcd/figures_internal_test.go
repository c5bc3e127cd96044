package etcd

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/anomaly"
)

// TestFiguresOfNoEtcd takes no revision for one that no etcd can have: such a number is none that Go can convert.
func TestFiguresOfNoEtcd(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"NaN", "+Inf", "1e300", "-1"} {
		got := figures{}
		if err := got.scan(strings.NewReader(compactFamily + " " + v + "\n")); err != nil || got.compacted != 0 {
			t.Errorf("%s is taken for the revision %d, %v", v, got.compacted, err)
		}
	}
}

// TestFigures reads what matters of a member's metrics, as etcd writes them.
func TestFigures(t *testing.T) {
	t.Parallel()
	const text = `# HELP etcd_disk_wal_fsync_duration_seconds The latency distributions of fsync called by WAL.
# TYPE etcd_disk_wal_fsync_duration_seconds histogram
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.001"} 12
etcd_disk_wal_fsync_duration_seconds_sum 0.25
etcd_disk_wal_fsync_duration_seconds_count 100
etcd_disk_backend_defrag_duration_seconds_count 2
etcd_disk_defrag_inflight 1
etcd_debugging_mvcc_compact_revision 1.234567e+06
etcd_debugging_mvcc_db_compaction_last 1.7e+09
etcd_network_peer_round_trip_time_seconds_bucket{To="b",le="0.0001"} 1
etcd_network_peer_round_trip_time_seconds_bucket{To="b",le="0.0512"} 5
etcd_network_peer_round_trip_time_seconds_bucket{To="b",le="3.2768"} 7
etcd_network_peer_round_trip_time_seconds_bucket{To="b",le="+Inf"} 8
etcd_network_peer_round_trip_time_seconds_bucket{To="c",le="+Inf"} 2
etcd_network_peer_round_trip_time_seconds_sum{To="b"} 3
etcd_network_peer_round_trip_time_seconds_sum{To="c"} 1
etcd_network_peer_round_trip_time_seconds_count{To="b"} 8
etcd_network_peer_round_trip_time_seconds_count{To="c"} 2
etcd_server_apply_duration_seconds_sum{op="Put",success="true",version="v3"} 1.5
etcd_server_apply_duration_seconds_sum{op="Range",success="true",version="v3"} 0.5
etcd_server_apply_duration_seconds_count{op="Put",success="true",version="v3"} 30
etcd_server_apply_duration_seconds_count{op="Range",success="true",version="v3"} 10
etcd_server_leader_changes_seen_total 4
etcd_server_leader_changes_seen_total_of_another NaN
process_start_time_seconds 1.7e+09
grpc_server_started_total{grpc_method="Snapshot",grpc_service="etcdserverpb.Maintenance",grpc_type="server_stream"} 5
grpc_server_started_total{grpc_method="Put",grpc_service="etcdserverpb.KV",grpc_type="unary"} 500
grpc_server_handled_total{grpc_code="OK",grpc_method="Snapshot",grpc_service="etcdserverpb.Maintenance",grpc_type="server_stream"} 4
`
	got := figures{}
	if err := got.scan(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	want := figures{
		compacted: 1234567, compacts: true, flushes: durations{0.25, 100}, trips: durations{4, 10}, applies: durations{2, 40}, elections: 4,
		copies: 7, copying: 2, // one snapshot and one defragmentation
		started: 1.7e9,
		probes: []probed{
			{0xb, anomaly.Probes{Sum: 3, Took: anomaly.Buckets{0: 1, 9: 5, 15: 7, 16: 8}}}, {0xc, anomaly.Probes{Sum: 1, Took: anomaly.Buckets{16: 2}}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestFiguresThatAreNone are not believed: whatever answers at a member's address may serve any numbers.
func TestFiguresThatAreNone(t *testing.T) {
	t.Parallel()
	got := figures{}
	err := got.scan(strings.NewReader(`etcd_disk_wal_fsync_duration_seconds_sum NaN
etcd_disk_wal_fsync_duration_seconds_count -1
etcd_disk_wal_fsync_duration_seconds_count
etcd_network_peer_round_trip_time_seconds_bucket{To="b",le="0"} 3
etcd_network_peer_round_trip_time_seconds_bucket{To="b",le="1000"} 3
etcd_network_peer_round_trip_time_seconds_bucket{To="b",le="+Inf"} 1e300
etcd_network_peer_round_trip_time_seconds_bucket{ 3
etcd_network_peer_round_trip_time_seconds_bucket{To="b 3
etcd_network_peer_round_trip_time_seconds_bucket{To="b"} 3
etcd_network_peer_round_trip_time_seconds_sum{To="b"} NaN
etcd_network_peer_round_trip_time_seconds_sum{To="b"
etcd_server_apply_duration_seconds_sum{op="Put"} +Inf
`))
	if err != nil || !reflect.DeepEqual(got, figures{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestFiguresAreFew: whoever answers at a member's address cannot have the operator remember as much as it likes.
func TestFiguresAreFew(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 1000 {
		_, _ = fmt.Fprintf(&text, "etcd_network_peer_round_trip_time_seconds_sum{To=\"%x\"} 1\n", i)
	}
	got := figures{}
	if err := got.scan(strings.NewReader(text.String())); err != nil || len(got.probes) != others {
		t.Errorf("probes of %d members, %v", len(got.probes), err)
	}
}
