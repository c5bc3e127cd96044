package alerts

import "maps"

// quickCases are of alerts on the lab: a step is the two seconds between two scrapes there.
func quickCases() []scenario {
	const lost, flaps, disk, peer, fail, errors = "EtcdQuorumLost", "EtcdLeaderFlaps", "EtcdDiskSlow", "EtcdPeerSlow", "EtcdRequestsFail", "EtcdOperatorErrors"
	leader := member("etcd_server_has_leader", "c-0", "")
	changes := member("etcd_server_leader_changes_seen_total", "c-0", "")
	failed := member("grpc_server_handled_total", "c-0", `grpc_service="etcdserverpb.KV", grpc_method="Put", grpc_code="Unavailable"`)
	passes := `controller_runtime_reconcile_errors_total{job="etcd-operator-controller-manager-metrics-service", controller="etcduser"}`
	return []scenario{
		quick(lost, "two of three frozen", map[string]string{leader: "1x4 0x30 1x20"}, 9, 12, 34, 38),
		silent(lost, "an election", 40, map[string]string{leader: "1x4 0x3 1x40"}),
		quick(flaps, "an election every six seconds", map[string]string{
			changes: "1x9 2x2 3x2 4x2 5x2 6x2 7x2 8x2 9x2 10x2 11x2 12x2 13x2 14x60",
		}, 20, 34, 44, 75),
		silent(flaps, "an election every 18 seconds", 80, map[string]string{changes: "1x9 2x8 3x8 4x8 5x8 6x8 7x8 8x8 9x20"}),
		quick(disk, "six flushes a step", histogram("etcd_disk_wal_fsync_duration_seconds", "", "6"), 18, 24, 33, 46),
		quick(peer, "round trips are observed every 30 seconds", roundTrips(), 38, 50, 74, 97),
		quick(fail, "all", map[string]string{failed: "0x4 0+40x29 1160x30"}, 18, 25, 33, 46),
		quick(errors, "20 objects, every half minute", map[string]string{passes: "0x9 20x14 40x14 60x14 80x14 100x50"}, 30, 38, 69, 100),
	}
}

// quick is a fault after which the alert is looked at four times: before it is told of it, twice while it is, and once it is over.
func quick(alert, name string, series map[string]string, before, first, last, over int) scenario {
	return scenario{alert, name, series, []int{before, first, last, over}, []bool{false, true, true, false}}
}

// roundTrips are observed at every 15th step, and those at steps 30, 45 and 60 are slow.
func roundTrips() map[string]string {
	const name, to = "etcd_network_peer_round_trip_time_seconds_bucket", `, To="b"`
	const all = "1x14 2x14 3x14 4x14 5x14 6x14 7x14 8x14"
	series := map[string]string{member(name, "c-0", `le="0.01"`+to): "1x14 2x59 3x14 4x14 5x14"}
	for _, le := range []string{"0.2", "+Inf"} {
		maps.Copy(series, map[string]string{member(name, "c-0", `le="`+le+`"`+to): all})
	}
	return series
}
