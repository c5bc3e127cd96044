package etcdbackup

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
	"github.com/etcdpilot/etcd-operator/internal/plan/backup"
)

// exported is what the metrics show of an EtcdBackup: its status, so that they are the same after a restart of the operator.
func exported(b *v1beta2.EtcdBackup, interval time.Duration) metrics.Backup {
	last := attempted(b)
	seen := metrics.Backup{
		Created: b.CreationTimestamp.Time, Interval: interval,
		Attempted: last != nil, Succeeded: last != nil && last.Status == metav1.ConditionTrue, Snapshots: b.Status.SnapshotCount,
	}
	if t := b.Status.LastSuccessDate; t != nil {
		seen.LastSuccess = t.Time
	}
	for i, s := range b.Status.Snapshots {
		seen.Stale = seen.Stale || i == 0 && s.Stale
		if !seen.LastSuccess.IsZero() && s.CreationTime.Time.Equal(seen.LastSuccess) {
			seen.Size = s.StoredSizeBytes
		}
		if t := s.VerificationTime; t != nil && t.After(seen.LastVerified) {
			seen.LastVerified = t.Time
		}
	}
	return seen
}

// interval is the time between two backups that are to be taken, 0 if none are: while the cluster hibernates there is nothing to ask.
func (p *backupPass) interval() time.Duration {
	if p.observed.Asleep != "" {
		return 0
	}
	return backup.IntervalOf(p.object, p.observed.Now)
}

// answered is the reason of what was decided, for the metrics.
func answered(p *backupPass) string {
	switch a := p.action.(type) {
	case backup.Idle:
		return a.Reason
	case backup.Wait:
		return a.Reason
	case backup.Blocked:
		return a.Reason
	default:
		return p.Deed().Reason
	}
}
