package alerts

import "time"

// failures are gRPC's codes of what is not the client's own fault.
const failures = "Unavailable|DeadlineExceeded|ResourceExhausted|Internal|DataLoss|Unknown"

// roundTripsEvery is how often a member observes the time that round trips to another one take (rafthttp/probing_status.go,
// statusMonitoringInterval).
const roundTripsEvery = 30 * time.Second

// memberAlerts need the members' own metrics, with the labels etcd_cluster and etcd_node: without them they are silent.
func memberAlerts() []alert {
	const theMember = "Member {{ $labels.etcd_node }} of " + theCluster
	return []alert{
		{
			name: "EtcdLeaderFlaps", severity: Warning, window: 15 * time.Minute, after: 5 * time.Minute,
			expr:        `max by (namespace, etcd_cluster) (increase(etcd_server_leader_changes_seen_total{$own, etcd_cluster!=""}[$window])) >= 4`,
			summary:     theCluster + " changes its leader again and again",
			description: "A member has seen {{ $value | humanize }} changes in a quarter of an hour. Clients wait, and some of their writes fail, at each of them.",
		},
		{
			name: "EtcdDiskSlow", severity: Warning, window: 5 * time.Minute, after: 10 * time.Minute,
			expr: `histogram_quantile(0.99, sum by (namespace, etcd_cluster, etcd_node, le) (rate(etcd_disk_wal_fsync_duration_seconds_bucket{$own, etcd_cluster!=""}[$window]))) > 0.1
and
sum by (namespace, etcd_cluster, etcd_node) (rate(etcd_disk_wal_fsync_duration_seconds_count{$own, etcd_cluster!=""}[$window])) > 1`,
			summary:     theMember + " has a slow disk",
			description: "One of 100 flushes of its log takes {{ $value | humanizeDuration }} or more. A leader has to answer its followers every 100 ms.",
		},
		{
			name: "EtcdPeerSlow", severity: Warning, window: 5 * time.Minute, after: 10 * time.Minute, shortest: 2 * roundTripsEvery,
			expr:        `histogram_quantile(0.99, sum by (namespace, etcd_cluster, etcd_node, To, le) (rate(etcd_network_peer_round_trip_time_seconds_bucket{$own, etcd_cluster!=""}[$window]))) > 0.15`,
			summary:     theMember + " is slow to reach {{ $labels.To }}",
			description: "One of 100 probes takes {{ $value | humanizeDuration }} or more, each of up to three round trips. Every write waits for a round trip.",
		},
		{
			name: "EtcdRequestsFail", severity: Warning, window: 5 * time.Minute, after: 10 * time.Minute,
			expr: `sum by (namespace, etcd_cluster) (rate(grpc_server_handled_total{$own, etcd_cluster!="", grpc_service=~"etcdserverpb.(KV|Lease)", grpc_code=~"` + failures + `"}[$window]))
/
(sum by (namespace, etcd_cluster) (rate(grpc_server_handled_total{$own, etcd_cluster!="", grpc_service=~"etcdserverpb.(KV|Lease)"}[$window])) > 1)
> 0.05`,
			summary:     theCluster + " fails its clients' requests",
			description: "{{ $value | humanizePercentage }} of the requests for keys and leases fail for a reason that is not the client's.",
		},
		{
			name: "EtcdNotScraped", severity: Warning, after: 15 * time.Minute,
			expr: `sum by (namespace, etcd_cluster) (max by (namespace, etcd_cluster, state) (etcd_operator_cluster_members{$own, state="ready"}))
-
(
  count by (namespace, etcd_cluster) (up{$own, etcd_cluster!=""} == 1)
  or
  0 * count by (namespace, etcd_cluster) (up{$own, etcd_cluster!=""})
)
> 0`,
			summary:     "Prometheus does not reach {{ $value }} members of " + theCluster,
			description: "The operator does, so they are well. Alerts about their disks and their network cannot fire meanwhile.",
		},
	}
}

func backupAlerts() []alert {
	return []alert{{
		name: "EtcdBackupStale", severity: Warning, after: 15 * time.Minute,
		expr: `time()
-
max by (namespace, etcd_backup) (etcd_operator_backup_last_success_timestamp_seconds > 0 or etcd_operator_backup_created_timestamp_seconds)
>
2 * max by (namespace, etcd_backup) (etcd_operator_backup_interval_seconds)`,
		summary: "EtcdBackup {{ $labels.namespace }}/{{ $labels.etcd_backup }} has taken no good backup in time",
		description: "The last good one is {{ $value | humanizeDuration }} old, or there is none in the time since the EtcdBackup was created. That is more than twice " +
			"the time between two backups.",
	}}
}

// operatorAlerts are about the operator itself: clusters go on without it, but nobody repairs them.
func operatorAlerts() []alert {
	return []alert{
		{
			name: "EtcdOperatorDown", severity: Warning, after: 5 * time.Minute,
			expr:        `absent(up{job="` + Job + `"} == 1)`,
			summary:     "No etcd-operator is running, or Prometheus does not reach it",
			description: "Clusters go on serving. Lost members are not replaced, no backups are taken, and the alerts that need the operator's metrics are silent.",
		},
		{
			name: "EtcdOperatorErrors", severity: Warning, window: 15 * time.Minute, after: 15 * time.Minute,
			expr:        `sum by (controller) (increase(controller_runtime_reconcile_errors_total{job="` + Job + `", controller=~"etcd(cluster|backup|restore|user|role)"}[$window])) > 10`,
			summary:     "etcd-operator fails again and again: controller {{ $labels.controller }}",
			description: "{{ $value | humanize }} passes have failed in a quarter of an hour. Usually the API server refuses something that the operator needs.",
		},
	}
}
