package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Metrics of each EtcdBackup. They are removed with it.
var (
	backupLabels = []string{"namespace", "name"}

	backupLastSuccess = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_backup_last_success_timestamp_seconds",
		Help: "When the last good backup was taken, in seconds since 1970.",
	}, backupLabels)
	backupAttempt = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_backup_last_attempt_successful",
		Help: "1 if the last attempt to take a backup succeeded, 0 if it failed.",
	}, backupLabels)
	backupDuration = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_backup_duration_seconds",
		Help: "How long the last good backup took, including its verification and the start of its pod.",
	}, backupLabels)
	backupSize = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_backup_size_bytes",
		Help: "The size of the last good backup in the storage.",
	}, backupLabels)
	backupSnapshots = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_backup_snapshots",
		Help: "Backups of this EtcdBackup in the storage when the last good one was taken, including stale and unverified ones.",
	}, backupLabels)
	backupStale = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_backup_stale",
		Help: "1 if the newest snapshot may be stale: no member that answered had quorum, or etcd had a lower revision than before. 0 otherwise.",
	}, backupLabels)
	backupFailures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcd_operator_backup_failures_total",
		Help: "Failed attempts, by reason.",
	}, append(backupLabels, "reason"))
)

func init() {
	metrics.Registry.MustRegister(
		backupLastSuccess, backupAttempt, backupDuration, backupSize, backupSnapshots, backupStale, backupFailures)
}

// BackupSeen is what the metrics show of the status of an EtcdBackup.
type BackupSeen struct {
	// LastSuccess is when the last good backup was taken, nil for never.
	LastSuccess *time.Time
	// Attempted is true if any attempt has finished, Succeeded if the last one succeeded.
	Attempted, Succeeded bool
	// Stale is true if the newest snapshot is, for whatever reason.
	Stale bool
	// Size is that of the last good backup in the storage, in bytes. Snapshots is how many there are, including stale and unverified
	// ones.
	Size      int64
	Snapshots int32
}

// SetBackup exports the metrics of an EtcdBackup.
func SetBackup(namespace, name string, seen BackupSeen) {
	if seen.Attempted {
		backupAttempt.WithLabelValues(namespace, name).Set(number(seen.Succeeded))
		backupStale.WithLabelValues(namespace, name).Set(number(seen.Stale))
	}
	if seen.LastSuccess == nil {
		return
	}
	backupLastSuccess.WithLabelValues(namespace, name).Set(float64(seen.LastSuccess.Unix()))
	backupSize.WithLabelValues(namespace, name).Set(float64(seen.Size))
	backupSnapshots.WithLabelValues(namespace, name).Set(float64(seen.Snapshots))
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// BackupTook records how long a good backup took.
func BackupTook(namespace, name string, took time.Duration) {
	backupDuration.WithLabelValues(namespace, name).Set(took.Seconds())
}

// BackupFailed counts a failed attempt.
func BackupFailed(namespace, name, reason string) {
	backupFailures.WithLabelValues(namespace, name, reason).Inc()
}

// ForgetBackup removes the metrics of an EtcdBackup.
func ForgetBackup(namespace, name string) {
	labels := prometheus.Labels{"namespace": namespace, "name": name}
	for _, gauge := range []*prometheus.GaugeVec{
		backupLastSuccess, backupAttempt, backupDuration, backupSize, backupSnapshots, backupStale,
	} {
		gauge.Delete(labels)
	}
	backupFailures.DeletePartialMatch(labels)
}
