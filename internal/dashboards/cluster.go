package dashboards

const (
	// of selects the series of the chosen cluster.
	of       = `namespace="$namespace", etcd_cluster="$cluster"`
	perNode  = "{{etcd_node}}"
	requests = `grpc_service=~"etcdserverpb.(KV|Lease)"`
	// failures are gRPC's codes of what is not the client's own fault, as in EtcdRequestsFail.
	failures = `grpc_code=~"Unavailable|DeadlineExceeded|ResourceExhausted|Internal|DataLoss|Unknown"`
)

// cluster is the dashboard of one cluster.
func cluster() Dashboard {
	return Dashboard{
		Name: "cluster", UID: ClusterUID, Title: "etcd: one cluster",
		Variables: []Variable{
			{Name: "namespace", Label: "Namespace", Values: `label_values(` + seriesOf + `}, namespace)`},
			{Name: "cluster", Label: "Cluster", Values: `label_values(` + seriesOf + `, namespace="$namespace"}, etcd_cluster)`},
		},
		Rows: []Row{
			{"State", clusterState()},
			{"Clients", clusterClients()},
			{"Consensus", clusterConsensus()},
			{"Disks", clusterDisks()},
			{"Database", clusterDatabase()},
			{"Processes", clusterProcesses()},
			{"Backups of the namespace", clusterBackups()},
		},
	}
}

func clusterState() []Panel {
	return []Panel{
		{
			Title: "Version", Kind: Stat, Unit: None, Named: true, Description: "That all members run at least.",
			Queries: by("{{version}}", `max by (version) (etcd_operator_cluster_info{`+of+`})`),
		},
		{
			Title: "Ready members", Kind: Stat, Unit: None, Description: "Voters that answer and whose pods are ready.",
			Queries: one(`max(etcd_operator_cluster_members{` + of + `, state="ready"})`),
		},
		{
			Title: "Margin", Kind: Stat, Unit: None, Bad: new(float64(0)), Below: true,
			Description: "Voters that may still fail; -1: the quorum is lost.",
			Queries:     one(`min(etcd_operator_cluster_quorum_margin{` + of + `})`),
		},
		{
			Title: "Alarms", Kind: Stat, Unit: None, Bad: new(float64(1)), Description: "Members with an alarm: etcd refuses writes.",
			Queries: by("{{alarm}}", `max by (alarm) (etcd_operator_cluster_alarms{`+of+`})`),
		},
		{
			Title: "Does the same since", Kind: Stat, Unit: Seconds, Description: "How long the condition Progressing has had its reason.",
			Queries: by("{{reason}}", `time() - max by (reason) (etcd_operator_cluster_reason_since_timestamp_seconds{`+of+`})`),
		},
		{
			Title: "Members scraped", Kind: Stat, Unit: None, Description: "That Prometheus reaches.",
			Queries: one(`count(up{` + of + `} == 1)`),
		},
		{
			Title: "Conditions", Kind: Graph, Unit: None, Description: "1 if true, 0 if not.",
			Queries: by("{{type}}", `max by (type) (etcd_operator_cluster_condition{`+of+`})`),
		},
		{
			Title: "Held by Auto Pilot", Kind: Graph, Unit: None, Description: "1: not safe, or only advised; 0: it waits for its time.",
			Queries: quiet("Auto Pilot holds nothing", "{{feature}}", `max by (feature) (etcd_operator_cluster_autopilot_held{`+of+`})`),
		},
		{
			Title: "Members", Kind: Graph, Unit: None, Description: "Voters that are ready or not, and learners.",
			Queries: by("{{state}}", `max by (state) (etcd_operator_cluster_members{`+of+`})`),
		},
	}
}

func clusterClients() []Panel {
	return []Panel{
		{
			Title: "Requests", Kind: Graph, Unit: RequestsASec, Description: "By method, of all members.",
			Queries: by("{{grpc_method}}", `sum by (grpc_method) (rate(grpc_server_handled_total{`+of+`, `+requests+`}[$__rate_interval]))`),
		},
		{
			Title: "Failed requests", Kind: Graph, Unit: Ratio, Bad: new(0.05),
			Description: "For a reason that is not the client's own. EtcdRequestsFail tells of more than 5 %.",
			Queries: one(`(sum(rate(grpc_server_handled_total{` + of + `, ` + requests + `, ` + failures + `}[$__rate_interval])) or vector(0)) / (sum(rate(grpc_server_handled_total{` + of +
				`, ` + requests + `}[$__rate_interval])) > 0 or vector(1))`),
		},
		{
			Title: "Traffic of clients", Kind: Graph, Unit: BytesASecond, Description: "As members receive and send it.",
			Queries: []Query{
				{Expr: `sum by (etcd_node) (rate(etcd_network_client_grpc_received_bytes_total{` + of + `}[$__rate_interval]))`, Legend: perNode + " received"},
				{Expr: `sum by (etcd_node) (rate(etcd_network_client_grpc_sent_bytes_total{` + of + `}[$__rate_interval]))`, Legend: perNode + " sent"},
			},
		},
		{
			Title: "Reads and writes", Kind: Graph, Unit: EventsASecond, Description: "That members have applied, so each of them counts all writes.",
			Queries: []Query{
				{Expr: `max(rate(etcd_mvcc_put_total{` + of + `}[$__rate_interval]))`, Legend: "puts"},
				{Expr: `max(rate(etcd_mvcc_delete_total{` + of + `}[$__rate_interval]))`, Legend: "deletions"},
				{Expr: `max(rate(etcd_mvcc_txn_total{` + of + `}[$__rate_interval]))`, Legend: "transactions"},
				{Expr: `sum(rate(etcd_mvcc_range_total{` + of + `}[$__rate_interval]))`, Legend: "reads"},
			},
		},
	}
}

func clusterConsensus() []Panel {
	return []Panel{
		{
			Title: "Leader", Kind: Graph, Unit: None, Description: "1 for the member that leads.",
			Queries: by(perNode, `max by (etcd_node) (etcd_server_is_leader{`+of+`})`),
		},
		{
			Title: "Leader changes", Kind: Graph, Unit: None, Bad: new(float64(4)), Description: "In a quarter of an hour, as each member has seen them.",
			Queries: by(perNode, `max by (etcd_node) (increase(etcd_server_leader_changes_seen_total{`+of+`}[15m]))`),
		},
		{
			Title: "Proposals that wait", Kind: Graph, Unit: None, Description: "Writes that are not committed yet.",
			Queries: by(perNode, `max by (etcd_node) (etcd_server_proposals_pending{`+of+`})`),
		},
		{
			Title: "Behind in applying", Kind: Graph, Unit: None, Description: "Entries that a member knows to be committed and has not applied yet.",
			Queries: by(perNode, `max by (etcd_node) (etcd_server_proposals_committed_total{`+of+`}) - max by (etcd_node) (etcd_server_proposals_applied_total{`+of+`})`),
		},
		{
			Title: "Failed proposals", Kind: Graph, Unit: EventsASecond, Description: "While there is no leader, or the quorum is slow.",
			Queries: by(perNode, `max by (etcd_node) (rate(etcd_server_proposals_failed_total{`+of+`}[$__rate_interval]))`),
		},
		{
			Title: "Round trips between members", Kind: Graph, Unit: Seconds, Bad: new(0.1), Description: "99 of 100 are quicker.",
			Queries: by(perNode+" to {{To}}", `histogram_quantile(0.99, sum by (etcd_node, To, le) (rate(etcd_network_peer_round_trip_time_seconds_bucket{`+of+`}[$__rate_interval])))`),
		},
	}
}

func clusterDisks() []Panel {
	p99 := func(metric string) []Query {
		return by(perNode, `histogram_quantile(0.99, sum by (etcd_node, le) (rate(`+metric+`_bucket{`+of+`}[$__rate_interval])))`)
	}
	return []Panel{
		{
			Title: "Flushes of the log", Kind: Graph, Unit: Seconds, Bad: new(0.1), Description: "99 of 100 are quicker. Every write waits for one.",
			Queries: p99("etcd_disk_wal_fsync_duration_seconds"),
		},
		{
			Title: "Commits of the database", Kind: Graph, Unit: Seconds, Bad: new(0.25), Description: "99 of 100 are quicker.",
			Queries: p99("etcd_disk_backend_commit_duration_seconds"),
		},
		{
			Title: "Slow applies", Kind: Graph, Unit: EventsASecond, Description: "Requests that took longer than 100 ms to apply.",
			Queries: by(perNode, `max by (etcd_node) (rate(etcd_server_slow_apply_total{`+of+`}[$__rate_interval]))`),
		},
	}
}

func clusterDatabase() []Panel {
	return []Panel{
		{
			Title: "Database", Kind: Graph, Unit: Bytes, Description: "What is in use, the file, and the quota.",
			Queries: []Query{
				{Expr: `max by (etcd_node) (etcd_mvcc_db_total_size_in_use_in_bytes{` + of + `})`, Legend: perNode + " in use"},
				{Expr: `max by (etcd_node) (etcd_mvcc_db_total_size_in_bytes{` + of + `})`, Legend: perNode + " file"},
				{Expr: `min(etcd_server_quota_backend_bytes{` + of + `})`, Legend: "quota"},
			},
		},
		{
			Title: "Quota in use", Kind: Graph, Unit: Ratio, Bad: new(0.8), Description: "Of the fullest member.",
			Queries: one(`max(etcd_operator_cluster_database_in_use_ratio{` + of + `})`),
		},
		{
			Title: "Free pages", Kind: Graph, Unit: Ratio, Description: "Of the file of the member with the most: they are used again.",
			Queries: one(`max(etcd_operator_cluster_database_free_ratio{` + of + `})`),
		},
	}
}

func clusterProcesses() []Panel {
	return []Panel{
		{
			Title: "Memory", Kind: Graph, Unit: Bytes, Description: "Resident memory.",
			Queries: by(perNode, `max by (etcd_node) (process_resident_memory_bytes{`+of+`})`),
		},
		{
			Title: "Processor", Kind: Graph, Unit: None, Description: "How many processors are kept busy.",
			Queries: by(perNode, `max by (etcd_node) (rate(process_cpu_seconds_total{`+of+`}[$__rate_interval]))`),
		},
		{
			Title: "Open files", Kind: Graph, Unit: None, Description: "Connections among them.",
			Queries: by(perNode, `max by (etcd_node) (process_open_fds{`+of+`})`),
		},
	}
}

func clusterBackups() []Panel {
	const none, where = "there is no EtcdBackup", `namespace="$namespace"`
	return []Panel{
		{
			Title: "Age of the last good backup", Kind: Graph, Unit: Seconds, Description: "Since the EtcdBackup was created if there is none.",
			Queries: quiet(none, "{{etcd_backup}}",
				`time() - max by (etcd_backup) (etcd_operator_backup_last_success_timestamp_seconds{`+where+`} > 0 or etcd_operator_backup_created_timestamp_seconds{`+where+`})`),
		},
		{
			Title: "Size of the last good backup", Kind: Graph, Unit: Bytes, Description: "In the storage.",
			Queries: quiet(none, "{{etcd_backup}}", `max by (etcd_backup) (etcd_operator_backup_last_size_bytes{`+where+`})`),
		},
	}
}
