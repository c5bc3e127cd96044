package main

import (
	"strings"
	"testing"
)

// TestExposition has what counts go on with each read, and leaves everything else as a real server has served it.
func TestExposition(t *testing.T) {
	t.Parallel()
	const text = `# HELP etcd_server_proposals_total How many there were.
# TYPE etcd_server_proposals_total counter
etcd_server_proposals_total 3
# TYPE etcd_disk_wal_fsync_duration_seconds histogram
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.001"} 0
etcd_disk_wal_fsync_duration_seconds_bucket{le="+Inf"} 4
etcd_disk_wal_fsync_duration_seconds_sum 0.25
etcd_disk_wal_fsync_duration_seconds_count 4
# TYPE etcd_server_leader_changes_seen_total counter
etcd_server_leader_changes_seen_total 1
# TYPE etcd_debugging_mvcc_compact_revision gauge
etcd_debugging_mvcc_compact_revision 0
# TYPE etcd_server_has_leader gauge
etcd_server_has_leader 1
# TYPE go_gc_duration_seconds summary
go_gc_duration_seconds{quantile="0"} 0.1
go_gc_duration_seconds_count 7
`
	e := newExposition(text)
	for n, want := range map[int64]string{
		1: strings.ReplaceAll(text, "compact_revision 0", "compact_revision 1000"),
		2: strings.NewReplacer("proposals_total 3", "proposals_total 6", `Inf"} 4`, `Inf"} 8`, "seconds_sum 0.25", "seconds_sum 0.5",
			"fsync_duration_seconds_count 4", "fsync_duration_seconds_count 8", "compact_revision 0", "compact_revision 2000").Replace(text),
	} {
		var got strings.Builder
		if err := e.write(&got, n); err != nil || got.String() != want {
			t.Errorf("read %d: %v\n%s\nwant\n%s", n, err, got.String(), want)
		}
	}
}
