package dashboards

import "github.com/etcdpilot/etcd-operator/internal/alerts"

// FleetUID and ClusterUID are the dashboards' names in Grafana.
const (
	FleetUID   = "etcd-operator-fleet"
	ClusterUID = "etcd-operator-cluster"
)

const (
	perCluster = "{{namespace}}/{{etcd_cluster}}"
	perBackup  = "{{namespace}}/{{etcd_backup}}"
	// in selects the series of the chosen namespaces, own those of the operator itself.
	in  = `namespace=~"$namespace"`
	own = `job="` + alerts.Job + `"`
	// ours are the operator's controllers, as the alerts have them.
	ours = own + `, controller=~"etcd(cluster|backup|restore|user|role)"`
)

// fleet is the dashboard of all clusters.
func fleet() Dashboard {
	return Dashboard{
		Name: "fleet", UID: FleetUID, Title: "etcd: all clusters",
		Variables: []Variable{{
			Name: "namespace", Label: "Namespace", Values: `label_values(` + seriesOf + `}, namespace)`, Several: true,
		}},
		Rows: []Row{
			{"Clusters", fleetStats()},
			{"Which", fleetTable()},
			{"Room, certificates and backups", fleetTrends()},
			{"Clients", fleetClients()},
			{"The operator", fleetOperator()},
		},
	}
}

func fleetStats() []Panel {
	stat := func(title, description, expr string) Panel {
		return Panel{Title: title, Description: description, Kind: Stat, Unit: None, Queries: one(expr), Bad: new(float64(1))}
	}
	all := stat("Clusters", "EtcdClusters that the operator looks after.", `count(max by (namespace, etcd_cluster) (etcd_operator_cluster_info{`+in+`}))`)
	all.Bad = nil
	return []Panel{
		all,
		stat("Without quorum", "Clients can neither write nor read consistently: EtcdQuorumLost.",
			`count(min by (namespace, etcd_cluster) (etcd_operator_cluster_quorum_margin{`+in+`}) < 0) or vector(0)`),
		stat("Writes refused", "etcd has raised an alarm: EtcdWritesRefused.",
			`count(max by (namespace, etcd_cluster) (etcd_operator_cluster_alarms{`+in+`}) > 0) or vector(0)`),
		stat("No margin", "One more failure is an outage: EtcdNoMargin.",
			`count(min by (namespace, etcd_cluster) (etcd_operator_cluster_quorum_margin{`+in+`}) == 0 and max by (namespace, etcd_cluster) (etcd_operator_cluster_spec_size{`+in+`}) > 2) or vector(0)`),
		stat("Degraded", "A member is not healthy, or the spec cannot be carried out: EtcdBlocked.",
			`sum(max by (namespace, etcd_cluster) (etcd_operator_cluster_condition{`+in+`, type="Degraded"}))`),
		stat("Stale backups", "No good backup in twice the time between two: EtcdBackupStale.",
			`count(time() - max by (namespace, etcd_backup) (etcd_operator_backup_last_success_timestamp_seconds{`+in+`} > 0 or etcd_operator_backup_created_timestamp_seconds{`+in+`}) > 2 * max by (namespace, etcd_backup) (etcd_operator_backup_interval_seconds{`+in+`})) or vector(0)`),
	}
}

func fleetTable() []Panel {
	return []Panel{{
		Title: "Clusters", Kind: Table, Unit: None,
		Description: "Ready members, how many voters may still fail (-1: the quorum is lost), and how much of its quota the fullest member uses.",
		Queries: []Query{
			{Expr: `max by (namespace, etcd_cluster, version) (etcd_operator_cluster_info{` + in + `})`, Legend: "Known"},
			{Expr: `max by (namespace, etcd_cluster) (etcd_operator_cluster_spec_size{` + in + `})`, Legend: "Size"},
			{Expr: `max by (namespace, etcd_cluster) (etcd_operator_cluster_members{` + in + `, state="ready"})`, Legend: "Ready"},
			{Expr: `min by (namespace, etcd_cluster) (etcd_operator_cluster_quorum_margin{` + in + `})`, Legend: "Margin"},
			{Expr: `max by (namespace, etcd_cluster) (etcd_operator_cluster_condition{` + in + `, type="Degraded"})`, Legend: "Degraded"},
			{Expr: `max by (namespace, etcd_cluster) (etcd_operator_cluster_database_in_use_ratio{` + in + `})`, Legend: "Quota in use"},
		},
	}}
}

func fleetTrends() []Panel {
	return []Panel{
		{
			Title: "Quota in use, the ten fullest", Kind: Graph, Unit: Ratio, Bad: new(0.8),
			Description: "Of the fullest member. etcd refuses writes at 100 %.",
			Queries:     by(perCluster, `topk(10, max by (namespace, etcd_cluster) (etcd_operator_cluster_database_in_use_ratio{`+in+`}))`),
		},
		{
			Title: "Time until the quota, the ten shortest", Kind: Graph, Unit: Seconds, Bad: new(float64(86400)), Below: true,
			Description: "If the data grows on as in the last two hours; clusters that do not grow are not shown.",
			Queries: quiet("no cluster grows", perCluster,
				`bottomk(10, min by (namespace, etcd_cluster) (etcd_operator_cluster_seconds_until_quota{`+in+`}) < +Inf)`),
		},
		{
			Title: "Certificates, the ten that expire first", Kind: Graph, Unit: Seconds, Bad: new(float64(0)), Below: true,
			Description: "Of clusters with TLS: the time that is left.",
			Queries: quiet("no cluster has TLS", perCluster+" {{use}}",
				`bottomk(10, min by (namespace, etcd_cluster, use) (etcd_operator_cluster_certificate_expiry_timestamp_seconds{`+in+`}) - time())`),
		},
		{
			Title: "Age of the last good backup", Kind: Graph, Unit: Seconds,
			Description: "Since the EtcdBackup was created if there is none.",
			Queries: quiet("there is no EtcdBackup", perBackup,
				`time() - max by (namespace, etcd_backup) (etcd_operator_backup_last_success_timestamp_seconds{`+in+`} > 0 or etcd_operator_backup_created_timestamp_seconds{`+in+`})`),
		},
	}
}

func fleetClients() []Panel {
	return []Panel{
		{
			Title: "Requests, the ten busiest", Kind: Graph, Unit: RequestsASec,
			Description: "For keys and leases. The members' metrics have to be collected.",
			Queries: by(perCluster,
				`topk(10, sum by (namespace, etcd_cluster) (rate(grpc_server_handled_total{`+in+`, etcd_cluster!="", grpc_service=~"etcdserverpb.(KV|Lease)"}[$__rate_interval])))`),
		},
		{
			Title: "Leader changes", Kind: Graph, Unit: None, Bad: new(float64(4)),
			Description: "In a quarter of an hour, as a member has seen them.",
			Queries: by(perCluster,
				`topk(10, max by (namespace, etcd_cluster) (increase(etcd_server_leader_changes_seen_total{`+in+`, etcd_cluster!=""}[15m])))`),
		},
	}
}

func fleetOperator() []Panel {
	const noneYet = "nothing of it has happened since the operator started"
	return []Panel{
		{
			Title: "Actions", Kind: Graph, Unit: EventsASecond, Description: "What the operator has carried out, or tried to.",
			Queries: quiet(noneYet, "{{action}} {{outcome}}", `sum by (action, outcome) (rate(etcd_operator_actions_total[$__rate_interval]))`),
		},
		{
			Title: "Actions of Auto Pilot", Kind: Graph, Unit: EventsASecond, Description: "Those among them that are its own.",
			Queries: quiet(noneYet, "{{feature}} {{outcome}}", `sum by (feature, outcome) (rate(etcd_operator_autopilot_actions_total[$__rate_interval]))`),
		},
		{
			Title: "Writes refused", Kind: Graph, Unit: EventsASecond, Description: "By the API server, or not answered in time.",
			Queries: quiet(noneYet, "{{action}}", `sum by (action) (rate(etcd_operator_writes_refused_total[$__rate_interval]))`),
		},
		{
			Title: "Failed passes", Kind: Graph, Unit: EventsASecond, Description: "EtcdOperatorErrors tells of more than ten in a quarter of an hour.",
			Queries: by("{{controller}}", `sum by (controller) (rate(controller_runtime_reconcile_errors_total{`+ours+`}[$__rate_interval]))`),
		},
		{
			Title: "Calls to etcd that fail", Kind: Graph, Unit: EventsASecond, Description: "By method and gRPC's code.",
			Queries: quiet("every member answers", "{{method}} {{outcome}}",
				`sum by (method, outcome) (rate(etcd_operator_etcd_calls_total{outcome!="OK"}[$__rate_interval]))`),
		},
		{
			Title: "Duration of a look at a cluster", Kind: Graph, Unit: Seconds, Description: "99 of 100 are quicker.",
			Queries: by("p99", `histogram_quantile(0.99, sum by (le) (rate(etcd_operator_observe_duration_seconds_bucket[$__rate_interval])))`),
		},
		{
			Title: "Duration of actions", Kind: Graph, Unit: Seconds, Description: "99 of 100 are quicker, while there are any.",
			Queries: quiet(noneYet, "{{action}}",
				`histogram_quantile(0.99, sum by (action, le) (rate(etcd_operator_action_duration_seconds_bucket[$__rate_interval])))`),
		},
		{
			Title: "Memory of the operator", Kind: Graph, Unit: Bytes, Description: "Resident memory of each of its pods.",
			Queries: by("{{pod}}", `max by (pod) (process_resident_memory_bytes{`+own+`})`),
		},
		{
			Title: "Processor of the operator", Kind: Graph, Unit: None, Description: "How many processors each of its pods keeps busy.",
			Queries: by("{{pod}}", `max by (pod) (rate(process_cpu_seconds_total{`+own+`}[$__rate_interval]))`),
		},
	}
}
