package main

import (
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

// TestMetricsPage lists every metric once, under the objects that it is about.
func TestMetricsPage(t *testing.T) {
	t.Parallel()
	text := page(metrics.Families())
	for _, f := range metrics.Families() {
		if n := strings.Count(text, "| `"+f.Name+"` |"); n != 1 {
			t.Errorf("%s is listed %d times", f.Name, n)
		}
	}
	for _, row := range []string{
		"| `etcd_operator_backup_last_size_bytes` | gauge | bytes | `namespace`, `etcd_backup` | The size",
		"| `etcd_operator_cluster_members` | gauge |  | `namespace`, `etcd_cluster`, `state` | Members of etcd",
		"| `etcd_operator_cluster_seconds_until_quota` | gauge | seconds | ",
		"| `etcd_operator_cluster_reason_since_timestamp_seconds` | gauge | seconds since 1970 | ",
		"| `etcd_operator_observe_duration_seconds` | histogram | seconds |  | ",
	} {
		if !strings.Contains(text, "\n"+row) {
			t.Errorf("no row begins with %s", row)
		}
	}
	clusters, backups := strings.Index(text, "## Of each EtcdCluster"), strings.Index(text, "## Of each EtcdBackup")
	if at := strings.Index(text, "etcd_operator_cluster_info"); at < clusters || at > backups {
		t.Error("a metric of EtcdClusters is listed elsewhere")
	}
}
