package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Backup is what the metrics show of the status of an EtcdBackup. Those of a time that is zero are 0, for never.
type Backup struct {
	// Created is when the EtcdBackup was.
	Created time.Time
	// LastSuccess is when the last good backup was taken, and LastVerified when any of its backups last was.
	LastSuccess, LastVerified time.Time
	// Interval is the time between two backups that are to be taken, 0 if no more are: of a single one, or while they are suspended.
	Interval time.Duration
	// Attempted is true if any attempt has finished, Succeeded if the last one succeeded.
	Attempted, Succeeded bool
	// Stale is true if the newest snapshot is, for whatever reason.
	Stale bool
	// Size is that of the last good backup in the storage, in bytes. Snapshots is how many there are, including stale and unverified
	// ones.
	Size      int64
	Snapshots int32
}

// backupRecord is an EtcdBackup with what this process alone has seen of it.
type backupRecord struct {
	Backup
	took     time.Duration
	attempts int
	failures map[string]int
}

// backups are the metrics of EtcdBackups, by namespace and name.
type backups struct {
	mu  sync.Mutex
	all map[types.NamespacedName]*backupRecord

	created, lastSuccess, lastVerified, interval, lastAttempt, lastDuration, lastSize, snapshots, stale, attempts, failures column
}

// ofBackup are the labels that say which EtcdBackup.
var ofBackup = []string{"namespace", "etcd_backup"}

func backupColumn(kind Type, name, help string, labels ...string) column {
	return columnOf(kind, "backup_"+name, help, append(ofBackup[:len(ofBackup):len(ofBackup)], labels...)...)
}

var allBackups = &backups{
	all:     map[types.NamespacedName]*backupRecord{},
	created: backupColumn(Gauge, "created_timestamp_seconds", "When the EtcdBackup was created."),
	lastSuccess: backupColumn(Gauge, "last_success_timestamp_seconds",
		"When the last good backup was taken; 0 if none ever was."),
	lastVerified: backupColumn(Gauge, "last_verified_timestamp_seconds",
		"When a backup was last verified as spec.verify says, of the latest ones that status lists; 0 if none ever was."),
	interval: backupColumn(Gauge, "interval_seconds",
		"The time between two scheduled backups, the longer one of those before and after now; no series if no more backups are due: of a "+
			"single one, and while they are suspended."),
	lastAttempt: backupColumn(Gauge, "last_attempt_successful",
		"1 if the last attempt to take a backup succeeded, 0 if it failed; no series before the first one has ended."),
	lastDuration: backupColumn(Gauge, "last_duration_seconds",
		"How long the last good backup took, including its verification and the start of its pod; no series if it ended before the operator started."),
	lastSize: backupColumn(Gauge, "last_size_bytes", "The size of the last good backup in the storage; no series before the first one."),
	snapshots: backupColumn(Gauge, "snapshots",
		"Backups of this EtcdBackup in the storage when the last good one was taken, including stale and unverified ones."),
	stale: backupColumn(Gauge, "stale",
		"1 if the newest snapshot may be stale: no member that answered had quorum, or etcd had a lower revision than before. 0 otherwise."),
	attempts: backupColumn(Counter, "attempts_total", "Attempts that have ended, good or not."),
	failures: backupColumn(Counter, "failures_total", "Attempts that have failed, by reason; no series before the first one.", "reason"),
}

func init() { metrics.Registry.MustRegister(allBackups) }

// Describe is part of prometheus.Collector.
func (b *backups) Describe(to chan<- *prometheus.Desc) {
	for _, c := range []column{
		b.created, b.lastSuccess, b.lastVerified, b.interval, b.lastAttempt, b.lastDuration, b.lastSize, b.snapshots, b.stale, b.attempts, b.failures,
	} {
		to <- c.desc
	}
}

// Collect is part of prometheus.Collector.
func (b *backups) Collect(to chan<- prometheus.Metric) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, r := range b.all {
		s := series{to: to, namespace: key.Namespace, name: key.Name}
		s.add(b.created, unix(r.Created))
		s.add(b.lastSuccess, unix(r.LastSuccess))
		s.add(b.lastVerified, unix(r.LastVerified))
		s.add(b.snapshots, float64(r.Snapshots))
		s.add(b.stale, number(r.Stale))
		s.add(b.attempts, float64(r.attempts))
		if r.Interval > 0 {
			s.add(b.interval, r.Interval.Seconds())
		}
		if r.Attempted {
			s.add(b.lastAttempt, number(r.Succeeded))
		}
		if r.took > 0 {
			s.add(b.lastDuration, r.took.Seconds())
		}
		if !r.LastSuccess.IsZero() {
			s.add(b.lastSize, float64(r.Size))
		}
		for reason, n := range r.failures {
			s.add(b.failures, float64(n), reason)
		}
	}
}

// unix is a time as Prometheus has it, 0 for none.
func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// change changes what is known of an EtcdBackup.
func (b *backups) change(namespace, name string, how func(*backupRecord)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if b.all[key] == nil {
		b.all[key] = &backupRecord{failures: map[string]int{}}
	}
	how(b.all[key])
}

// SetBackup exports the metrics of an EtcdBackup.
func SetBackup(namespace, name string, seen Backup) {
	allBackups.change(namespace, name, func(r *backupRecord) { r.Backup = seen })
}

// BackupSucceeded counts an attempt that has succeeded, and records how long it took.
func BackupSucceeded(namespace, name string, took time.Duration) {
	allBackups.change(namespace, name, func(r *backupRecord) {
		r.attempts++
		r.took = took
	})
}

// BackupFailed counts an attempt that has failed.
func BackupFailed(namespace, name, reason string) {
	allBackups.change(namespace, name, func(r *backupRecord) {
		r.attempts++
		r.failures[reason]++
	})
}

// ForgetBackup removes the metrics of an EtcdBackup.
func ForgetBackup(namespace, name string) {
	allBackups.mu.Lock()
	defer allBackups.mu.Unlock()
	delete(allBackups.all, types.NamespacedName{Namespace: namespace, Name: name})
}
