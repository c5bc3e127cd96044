package alerts

import (
	"fmt"
	"maps"
)

// asleep are the series of a cluster that was in trouble for some minutes, hibernates from minute 20 on, and runs again, in the same trouble, from
// minute 80 on: the operator has no series of what it cannot know meanwhile (TestAsleepIsQuiet), and a pod that is gone has none.
func asleep() map[string]string {
	interrupted := func(value string) string { return fmt.Sprintf("%[1]sx19 stale _x59 %[1]sx29", value) }
	all := map[string]string{
		cluster("quorum_margin", ""):                                      "1x9 0x9 stale _x59 1x29",
		cluster("spec_size", ""):                                          "3x109",
		cluster("alarms", `alarm="nospace"`):                              interrupted("0"),
		cluster("database_in_use_ratio", ""):                              interrupted("0.9"),
		cluster("seconds_until_quota", ""):                                interrupted("40000"),
		cluster("autopilot_held", `feature="q"`):                          interrupted("1"),
		cluster("condition", `type="Degraded"`):                           "0x9 1x9 0x89",
		cluster("condition", `type="Progressing"`):                        "1x24 0x54 1x4 0x24",
		cluster("condition", `type="Anomaly"`):                            "0x17 1x1 stale _x88",
		cluster("members", `state="ready"`):                               "3x19 0x59 3x29",
		cluster("reason_since_timestamp_seconds", `reason="SpecReached"`): "60x19 stale _x89",
		cluster("reason_since_timestamp_seconds", `reason="Hibernated"`):  "_x20 1200x59 stale _x30",
	}
	for _, node := range []string{"c-0", "c-1", "c-2"} {
		maps.Copy(all, map[string]string{
			member("up", node, ""):                                    interrupted("1"),
			member("etcd_server_has_leader", node, ""):                "1x19 0x0 stale _x58 1x29",
			member("etcd_server_leader_changes_seen_total", node, ""): interrupted("1"),
		})
	}
	slow, requests := "0+120x19 stale _x59 0+120x29", `grpc_service="etcdserverpb.KV", grpc_method="Put", grpc_code=`
	for name, labels := range map[string]string{"etcd_disk_wal_fsync_duration_seconds": "", "etcd_network_peer_round_trip_time_seconds": `, To="b"`} {
		maps.Copy(all, map[string]string{
			member(name+"_bucket", "c-0", `le="0.01"`+labels): "0+120x14 1680x4 stale _x59 0+120x29",
			member(name+"_bucket", "c-0", `le="0.2"`+labels):  slow,
			member(name+"_bucket", "c-0", `le="+Inf"`+labels): slow,
			member(name+"_count", "c-0", labelsAlone(labels)): slow,
		})
	}
	all[member("grpc_server_handled_total", "c-0", requests+`"OK"`)] = slow
	all[member("grpc_server_handled_total", "c-0", requests+`"Unavailable"`)] = "0x14 0+60x4 stale _x59 0x29"
	return all
}

// asleepCases have the alerts rest while a cluster hibernates, but those about what is not well all the same.
func asleepCases() []scenario {
	var all []scenario
	for _, alert := range []string{
		"EtcdQuorumLost", "EtcdWritesRefused", "EtcdNoMargin", "EtcdBlocked", "EtcdStuck", "EtcdSpaceLow", "EtcdAutopilotHeld", "EtcdAnomaly",
		"EtcdLeaderFlaps", "EtcdDiskSlow", "EtcdPeerSlow", "EtcdRequestsFail", "EtcdNotScraped",
	} {
		all = append(all, silent(alert, "hibernates", 109, asleep()))
	}
	but := func(series, values string) map[string]string {
		some := asleep()
		some[series] = values
		return some
	}
	const stale, minutes = "EtcdBackupStale", 400 // it hibernates for five hours of them, and a backup is taken right after that
	backup := map[string]string{
		`etcd_operator_backup_created_timestamp_seconds{namespace="ns", etcd_backup="b"}`:      "0x400",
		`etcd_operator_backup_last_success_timestamp_seconds{namespace="ns", etcd_backup="b"}`: "60x329 19800x70",
		`etcd_operator_backup_interval_seconds{namespace="ns", etcd_backup="b"}`:               "3600x19 stale _x299 3600x80",
	}
	return append(all,
		fires("EtcdBlocked", "a write is refused while it hibernates", but(cluster("condition", `type="Degraded"`), "0x29 1x29 0x49"), 45, 60),
		fires("EtcdCertificateExpiring", "not renewed while it hibernates", but(cluster("condition", `type="CertificatesValid"`), "1x29 0x29 1x49"), 45, 60),
		silent(stale, "hibernates", minutes, backup),
	)
}
