package alerts

import "maps"

const of = `namespace="ns", etcd_cluster="c"`

// cluster names a series of the operator's about a cluster, with more labels.
func cluster(name, labels string) string {
	if labels != "" {
		labels = ", " + labels
	}
	return "etcd_operator_cluster_" + name + "{" + of + labels + "}"
}

// member names a series of a member's own.
func member(name, node, labels string) string {
	if labels != "" {
		labels = ", " + labels
	}
	return name + "{" + of + `, etcd_node="` + node + `"` + labels + "}"
}

// fires is a fault that is seen from minute 5 on, and told of after that.
func fires(alert, name string, series map[string]string, after, over int) scenario {
	return scenario{alert, name, series, []int{after - 1, after + 1, over - 1, over + 6}, []bool{false, true, true, false}}
}

// silent is what the alert is not for.
func silent(alert, name string, minutes int, series map[string]string) scenario {
	c := scenario{alert: alert, name: name, series: series}
	for minute := 1; minute <= minutes; minute += 5 {
		c.steps, c.firing = append(c.steps, minute), append(c.firing, false)
	}
	return c
}

func cases() []scenario {
	var all []scenario
	for _, some := range [][]scenario{quorumCases(), stateCases(), spaceCases(), networkCases(), requestCases(), backupCases(), operatorCases(), asleepCases()} {
		all = append(all, some...)
	}
	return all
}

func quorumCases() []scenario {
	const lost, refused, margin = "EtcdQuorumLost", "EtcdWritesRefused", "EtcdNoMargin"
	leader := func(values ...string) map[string]string {
		all := map[string]string{}
		for i, v := range values {
			all[member("etcd_server_has_leader", string(rune('0'+i)), "")] = v
		}
		return all
	}
	return []scenario{
		fires(lost, "by the operator", map[string]string{cluster("quorum_margin", ""): "1x4 -1x9 0x20"}, 6, 15),
		fires(lost, "by the members", leader("1x4 0x9 1x20", "1x4 0x9 1x20", "1x4 0x9 1x20"), 6, 15),
		silent(lost, "one member is cut off", 30, leader("1x30", "0x30", "1x30")),
		silent(lost, "as few as can be", 30, map[string]string{cluster("quorum_margin", ""): "0x30"}),
		fires(refused, "no space", map[string]string{cluster("alarms", `alarm="nospace"`): "0x4 1x9 0x20"}, 8, 15),
		fires(refused, "corrupt", map[string]string{cluster("alarms", `alarm="corrupt"`): "0x4 2x9 0x20"}, 8, 15),
		silent(refused, "disarmed at once", 30, map[string]string{cluster("alarms", `alarm="nospace"`): "0x4 1x2 0x20"}),
		fires(margin, "one of three lost", map[string]string{
			cluster("quorum_margin", ""): "1x4 0x29 1x20", cluster("spec_size", ""): "3x60",
		}, 20, 35),
		silent(margin, "a single member", 60, map[string]string{cluster("quorum_margin", ""): "0x60", cluster("spec_size", ""): "1x60"}),
		silent(margin, "a member is restarted", 60, map[string]string{
			cluster("quorum_margin", ""): "1x4 0x9 1x4 0x9 1x40", cluster("spec_size", ""): "3x60",
		}),
	}
}

func stateCases() []scenario {
	const blocked, stuck, certificate, held, unusual = "EtcdBlocked", "EtcdStuck", "EtcdCertificateExpiring", "EtcdAutopilotHeld", "EtcdAnomaly"
	feature := cluster("autopilot_held", `feature="noSpace"`)
	degraded, progressing := cluster("condition", `type="Degraded"`), cluster("condition", `type="Progressing"`)
	since := cluster("reason_since_timestamp_seconds", `reason="WaitingForPods"`)
	return []scenario{
		fires(blocked, "degraded", map[string]string{degraded: "0x4 1x29 0x20"}, 20, 35),
		silent(blocked, "busy for hours", 60, map[string]string{degraded: "0x60", progressing: "1x60"}),
		silent(blocked, "a member comes back", 60, map[string]string{degraded: "0x4 1x9 0x4 1x9 0x40"}),
		{stuck, "waits in vain", map[string]string{since: "0x99 6000x30", progressing: "1x130"}, []int{64, 67, 99, 105}, []bool{false, true, true, false}},
		silent(stuck, "at rest for hours", 180, map[string]string{since: "0x180", progressing: "0x180"}),
		silent(stuck, "step by step", 180, map[string]string{since: "0x49 3000x49 6000x49 9000x40", progressing: "1x190"}),
		fires(held, "not safe for long", map[string]string{feature: "_x5 1x89 stale _x20"}, 65, 95),
		silent(held, "waits for the window", 180, map[string]string{feature: "0x180"}),
		silent(held, "not safe for a while", 120, map[string]string{feature: "_x5 1x49 stale _x80"}),
		fires(unusual, "a member deviates", map[string]string{cluster("condition", `type="Anomaly"`): "0x4 1x29 0x20"}, 10, 35),
		silent(unusual, "as usual", 60, map[string]string{cluster("condition", `type="Anomaly"`): "0x60"}),
		silent(unusual, "nobody is known for a day", 60, map[string]string{cluster("condition", `type="Anomaly"`): "_x60"}),
		fires(certificate, "not renewed", map[string]string{cluster("condition", `type="CertificatesValid"`): "1x4 0x29 1x20"}, 20, 35),
		silent(certificate, "renewed in time", 60, map[string]string{cluster("condition", `type="CertificatesValid"`): "1x4 0x9 1x60"}),
	}
}

func spaceCases() []scenario {
	const low = "EtcdSpaceLow"
	used, left := cluster("database_in_use_ratio", ""), cluster("seconds_until_quota", "")
	return []scenario{
		fires(low, "nearly full", map[string]string{used: "0.7x4 0.9x49 0.2x20", left: "1e9x90"}, 35, 55),
		fires(low, "full within a day", map[string]string{used: "0.6x90", left: "1e9x4 40000x49 1e9x20"}, 35, 55),
		silent(low, "large and steady", 90, map[string]string{used: "0.75x90", left: "1e9x90"}),
		silent(low, "small, and filled for the first time", 90, map[string]string{used: "0.1+0.004x90", left: "5000x90"}),
	}
}

// histogram are the buckets of a histogram of which that many observations a minute are below 10 ms until minute 5, below 200 ms until
// minute 35, and below 10 ms again.
func histogram(name, labels string, perMinute string) map[string]string {
	slow, all := "0+"+perMinute+"x4 0x29 0+"+perMinute+"x30", "0+"+perMinute+"x70"
	return map[string]string{
		member(name+"_bucket", "c-0", `le="0.01"`+labels): slow,
		member(name+"_bucket", "c-0", `le="0.2"`+labels):  all,
		member(name+"_bucket", "c-0", `le="+Inf"`+labels): all,
		member(name+"_count", "c-0", labelsAlone(labels)): all,
	}
}

func labelsAlone(labels string) string {
	if labels == "" {
		return ""
	}
	return labels[2:]
}

func networkCases() []scenario {
	const disk, peer, flaps = "EtcdDiskSlow", "EtcdPeerSlow", "EtcdLeaderFlaps"
	const flushes, trips = "etcd_disk_wal_fsync_duration_seconds", "etcd_network_peer_round_trip_time_seconds"
	changes := member("etcd_server_leader_changes_seen_total", "c-0", "")
	quick := func(name, labels string) map[string]string {
		return map[string]string{
			member(name+"_bucket", "c-0", `le="0.01"`+labels): "0+120x60", member(name+"_bucket", "c-0", `le="+Inf"`+labels): "0+120x60",
			member(name+"_count", "c-0", labelsAlone(labels)): "0+120x60",
		}
	}
	return []scenario{
		fires(disk, "slow", histogram(flushes, "", "120"), 15, 35),
		silent(disk, "slow and idle", 70, histogram(flushes, "", "30")),
		silent(disk, "quick", 60, quick(flushes, "")),
		fires(peer, "slow", histogram(trips, `, To="b"`, "60"), 15, 35),
		silent(peer, "quick", 60, quick(trips, `, To="b"`)),
		{flaps, "an election every minute", map[string]string{changes: "1x9 2+1x19 21x40"}, []int{12, 24, 29, 50}, []bool{false, true, true, false}},
		silent(flaps, "one update of all members", 60, map[string]string{changes: "7x9 0x1 1x4 2x50"}),
		silent(flaps, "an election every ten minutes", 60, map[string]string{changes: "1x9 2x9 3x9 4x9 5x9 6x20"}),
	}
}

func requestCases() []scenario {
	const fail, unscraped = "EtcdRequestsFail", "EtcdNotScraped"
	handled := func(code string) string {
		return member("grpc_server_handled_total", "c-0", `grpc_service="etcdserverpb.KV", grpc_method="Put", grpc_code="`+code+`"`)
	}
	ready := map[string]string{cluster("members", `state="ready"`): "3x60", cluster("members", `state="learner"`): "1x60"}
	scraped := func(a, b, c string) map[string]string {
		all := maps.Clone(ready)
		all[member("up", "c-0", "")], all[member("up", "c-1", "")], all[member("up", "c-2", "")] = a, b, c
		return all
	}
	return []scenario{
		fires(fail, "one of six", map[string]string{handled("OK"): "0+500x90", handled("Unavailable"): "0x4 0+100x29 2900x30"}, 16, 35),
		silent(fail, "one of twenty, and hardly any", 60, map[string]string{handled("OK"): "0+19x60", handled("Unavailable"): "0+5x60"}),
		silent(fail, "one of 100", 60, map[string]string{handled("OK"): "0+990x60", handled("Unavailable"): "0+10x60"}),
		silent(fail, "the clients' own fault", 60, map[string]string{handled("OK"): "0+500x60", handled("InvalidArgument"): "0+500x60"}),
		fires(unscraped, "one of three", scraped("1x60", "1x4 0x29 1x30", "1x60"), 20, 35),
		fires(unscraped, "none", scraped("1x4 0x29 1x30", "1x4 0x29 1x30", "1x4 0x29 1x30"), 20, 35),
		silent(unscraped, "nobody asks for it", 60, ready),
		silent(unscraped, "all", 60, scraped("1x60", "1x60", "1x60")),
	}
}

func backupCases() []scenario {
	const stale = "EtcdBackupStale"
	series := func(created, success, interval string) map[string]string {
		all := map[string]string{}
		for name, values := range map[string]string{
			"created_timestamp_seconds": created, "last_success_timestamp_seconds": success, "interval_seconds": interval,
		} {
			if values != "" {
				all["etcd_operator_backup_"+name+`{namespace="ns", etcd_backup="b"}`] = values
			}
		}
		return all
	}
	return []scenario{
		{stale, "none for two hours, hourly", series("0x200", "60x159 9600x40", "3600x200"), []int{135, 138, 159, 165}, []bool{false, true, true, false}},
		{stale, "never any", series("0x200", "0x200", "3600x200"), []int{60, 134, 137}, []bool{false, false, true}},
		silent(stale, "one missed", 180, series("0x180", "60x109 6600x80", "3600x180")),
		silent(stale, "suspended", 300, series("0x300", "60x300", "")),
		silent(stale, "created just now", 30, series("0x30", "0x30", "3600x30")),
	}
}

func operatorCases() []scenario {
	const down, errors = "EtcdOperatorDown", "EtcdOperatorErrors"
	up := func(pod string) string {
		return `up{job="etcd-operator-controller-manager-metrics-service", pod="` + pod + `"}`
	}
	failed := func(controller string) string {
		return `controller_runtime_reconcile_errors_total{job="etcd-operator-controller-manager-metrics-service", controller="` + controller + `"}`
	}
	return []scenario{
		fires(down, "not reached", map[string]string{up("a"): "1x4 0x19 1x20"}, 10, 25),
		fires(down, "gone", map[string]string{up("a"): "1x4 stale _x19 1x20"}, 10, 24),
		silent(down, "one of two", 60, map[string]string{up("a"): "0x60", up("b"): "1x60"}),
		silent(down, "replaced", 30, map[string]string{up("a"): "1x4 0x30", up("b"): "_x7 1x30"}),
		{errors, "every half minute", map[string]string{failed("etcdcluster"): "0x4 0+2x59 118x40"}, []int{15, 30, 60, 90}, []bool{false, true, true, false}},
		silent(errors, "an outage of five minutes", 60, map[string]string{failed("etcdcluster"): "0x4 0+2x4 8x60"}),
		silent(errors, "somebody else's controller", 60, map[string]string{failed("etcd-of-another"): "0+10x60"}),
	}
}
