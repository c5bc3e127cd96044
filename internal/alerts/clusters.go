package alerts

import (
	"slices"
	"time"
)

// stuckAfter is how long a reason may last before it is odd: volumes of terabytes take that long.
const stuckAfter = time.Hour

const theCluster = "EtcdCluster {{ $labels.namespace }}/{{ $labels.etcd_cluster }}"

// clusterAlerts need the operator's metrics alone, except that the loss of the quorum is told by the members, too, while nobody hears the
// operator.
func clusterAlerts() []alert { return slices.Concat(healthAlerts(), upkeepAlerts()) }

// healthAlerts are about clusters that do not serve, or not as the spec says.
func healthAlerts() []alert {
	return []alert{
		{
			name: "EtcdQuorumLost", severity: Critical, after: time.Minute,
			expr: `max by (namespace, etcd_cluster) (etcd_server_has_leader{$own, etcd_cluster!=""}) == 0
or
min by (namespace, etcd_cluster) (etcd_operator_cluster_quorum_margin{$own}) < 0`,
			summary:     theCluster + " has no quorum",
			description: "Clients can neither write nor read consistently. " + theCluster + " is up again once a majority of its voters is.",
		},
		{
			name: "EtcdWritesRefused", severity: Critical, after: 3 * time.Minute,
			expr:    `max by (namespace, etcd_cluster, alarm) (etcd_operator_cluster_alarms{$own}) > 0`,
			summary: theCluster + " refuses writes: alarm {{ $labels.alarm }}",
			description: "{{ $value }} of its members have the alarm. With nospace, a database has reached its quota, and only deletions are accepted. " +
				"With corrupt, the data of members differs: no writes are accepted, and what is read may be wrong.",
		},
		{
			name: "EtcdNoMargin", severity: Warning, after: 15 * time.Minute,
			expr: `min by (namespace, etcd_cluster) (etcd_operator_cluster_quorum_margin{$own}) == 0
and
max by (namespace, etcd_cluster) (etcd_operator_cluster_spec_size{$own}) > 2`,
			summary:     theCluster + " survives no further loss",
			description: "As many voters as a quorum needs are ready, and no more: if one of them fails, clients are without etcd.",
		},
		{
			name: "EtcdBlocked", severity: Warning, after: 15 * time.Minute,
			expr:        `max by (namespace, etcd_cluster) (etcd_operator_cluster_condition{$own, type="Degraded"}) == 1`,
			summary:     theCluster + " is degraded",
			description: "A member is not healthy, or the operator cannot carry out the spec. The condition Degraded says which, and what to do.",
		},
		{
			name: "EtcdStuck", severity: Warning, after: 5 * time.Minute,
			expr: `time() - max by (namespace, etcd_cluster, reason) (etcd_operator_cluster_reason_since_timestamp_seconds{$own}) > $stuck
and on (namespace, etcd_cluster)
max by (namespace, etcd_cluster) (etcd_operator_cluster_condition{$own, type="Progressing"}) == 1`,
			summary:     theCluster + " does not get on: {{ $labels.reason }}",
			description: "The operator has been doing, or waiting for, the same thing for {{ $value | humanizeDuration }}. The condition Progressing says what.",
		},
	}
}

// upkeepAlerts are about what will hurt unless somebody acts.
func upkeepAlerts() []alert {
	return []alert{
		{
			name: "EtcdSpaceLow", severity: Warning, after: 30 * time.Minute,
			expr: `max by (namespace, etcd_cluster) (etcd_operator_cluster_database_in_use_ratio{$own}) > 0.8
or
(
  max by (namespace, etcd_cluster) (etcd_operator_cluster_database_in_use_ratio{$own}) > 0.5
  and
  min by (namespace, etcd_cluster) (etcd_operator_cluster_seconds_until_quota{$own}) < 86400
)`,
			summary: theCluster + " is running out of space",
			description: "{{ $value | humanizePercentage }} of the quota of a member's database are in use, and it is nearly full, or will be within a day " +
				"if it grows on like this. Then etcd refuses all writes but deletions.",
		},
		{
			name: "EtcdAutopilotHeld", severity: Warning, after: time.Hour,
			expr:    `max by (namespace, etcd_cluster, feature) (etcd_operator_cluster_autopilot_held{$own}) > 0`,
			summary: "Auto Pilot does not do what " + theCluster + " needs: {{ $labels.feature }}",
			description: "Something has been due for an hour and is held. status.autopilot.held says what, and what has to change before it is done. " +
				"This alert does not fire while it only waits for a maintenance window that is set, for its turn, or for the end of a trial.",
		},
		{
			name: "EtcdAnomaly", severity: Warning, after: 5 * time.Minute,
			expr:    `max by (namespace, etcd_cluster) (etcd_operator_cluster_condition{$own, type="Anomaly"}) == 1`,
			summary: theCluster + " is not as it was in the day before",
			description: "A member has been slower, grown faster, or seen more leader changes than in the day before, for a quarter of an hour. The condition " +
				"Anomaly says which member, and in what respect. Nothing is done about it.",
		},
		{
			name: "EtcdCertificateExpiring", severity: Warning, after: 15 * time.Minute,
			expr:        `min by (namespace, etcd_cluster) (etcd_operator_cluster_condition{$own, type="CertificatesValid"}) == 0`,
			summary:     theCluster + " has a certificate that expires soon, or cannot be used",
			description: "Whoever should renew it has not. The condition CertificatesValid says which certificate it is, and what is wrong.",
		},
	}
}
