package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
	"github.com/etcdpilot/etcd-operator/internal/plan/backup"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// versions compares the members' with the lowest that are supported.
func versions(f *Facts) []Finding {
	var found []Finding
	running := map[string]bool{}
	for _, m := range f.Cluster.Status.MemberStatuses {
		v := m.Version
		if a, asked := f.Answers[m.Name]; asked && spoke(a) {
			v = a.Version
		}
		if v == "" || running[v] {
			continue
		}
		running[v] = true
		if err := version.Supported(v); err != nil {
			one := doubtful("%s runs what this version of kubectl etcd knows no support for: %v", m.Name, err)
			one.ByHand = "set spec.version, one minor version at a time"
			found = append(found, one)
		}
	}
	target := f.Cluster.Status.TargetVersion
	switch {
	case len(running) == 0:
		return nil
	case len(running) > 1 && target == "":
		one := doubtful("members run %d versions of etcd, and no update is under way", len(running))
		one.Next = f.under()
		found = append(found, one)
	case target != "":
		return orGood(found, "etcd %s, to be updated to %s", f.Cluster.Status.CurrentVersion, target)
	}
	return orGood(found, "etcd %s", f.Cluster.Status.CurrentVersion)
}

// notice is how long before a certificate expires that is no longer renewed in time. The condition CertificatesValid says it as early.
const notice = 14 * 24 * time.Hour

// certificates tells which expire.
func certificates(f *Facts) []Finding {
	tls := f.Cluster.Status.TLS
	if tls == nil || len(tls.Certificates) == 0 {
		static, _ := f.Cluster.Spec.StaticTLS() // under its former name, too
		if f.Cluster.Spec.ManagedTLS() == nil && static == nil {
			return good("none: the cluster talks in plain text")
		}
		return nil
	}
	all := slices.SortedFunc(slices.Values(tls.Certificates), func(a, b v1beta2.CertificateStatus) int {
		return cmp.Or(a.NotAfter.Compare(b.NotAfter.Time), cmp.Compare(a.Secret, b.Secret))
	})
	var found []Finding
	for _, c := range all {
		left := c.NotAfter.Sub(f.Now)
		overdue := c.RenewTime == nil || f.Now.Sub(c.RenewTime.Time) > time.Hour
		if left > notice || left > 0 && !overdue {
			continue
		}
		one := doubtful("%s.crt in the Secret %s expires in %s", c.Use, c.Secret, duration.HumanDuration(left))
		if left <= 0 {
			one = wrong("%s.crt in the Secret %s has expired %s ago", c.Use, c.Secret, duration.HumanDuration(-left))
		}
		one.ByHand, one.Runbook = "renew it, or see what keeps its issuer from it", runbook("EtcdCertificateExpiring")
		if c.RenewTime != nil {
			one.Next = "the operator renews it, and is late"
		}
		found = append(found, one)
	}
	if said := meta.FindStatusCondition(f.Cluster.Status.Conditions, v1beta2.ConditionCertificatesValid); len(found) == 0 && said != nil &&
		said.Status != metav1.ConditionTrue {
		one := doubtful("%s: %s", said.Reason, said.Message)
		one.ByHand, one.Why = reasons.Of(said.Reason).Todo, reasons.Link(said.Reason)
		return []Finding{one}
	}
	return orGood(found, "the first to expire is %s.crt in the Secret %s, in %s", all[0].Use, all[0].Secret, duration.HumanDuration(all[0].NotAfter.Sub(f.Now)))
}

// backups tells which are late, failed or no good.
func backups(f *Facts) []Finding {
	if f.Unread[Backups] != "" {
		return f.unread(Backups, "whether it is backed up")
	}
	if len(f.Backups) == 0 {
		one := doubtful("no EtcdBackup backs it up")
		one.ByHand = "create one with a schedule: docs/backup-and-restore.md"
		return []Finding{one}
	}
	var found []Finding
	newest := time.Time{}
	for _, b := range f.Backups {
		if len(b.Status.Snapshots) > 0 && b.Status.Snapshots[0].CreationTime.After(newest) {
			newest = b.Status.Snapshots[0].CreationTime.Time
		}
		if one, ok := f.backup(b); ok {
			found = append(found, one)
		}
	}
	return orGood(found, "the newest is %s old, of %s", duration.HumanDuration(f.Now.Sub(newest)), number(len(f.Backups), "EtcdBackup"))
}

// backup judges one EtcdBackup, false if it is good.
func (f *Facts) backup(b v1beta2.EtcdBackup) (one Finding, bad bool) {
	last, interval := b.CreationTimestamp.Time, backup.IntervalOf(&b, f.Now)
	if b.Status.LastSuccessDate != nil {
		last = b.Status.LastSuccessDate.Time
	}
	late := interval > 0 && !f.hibernates() && f.Now.Sub(last) > 2*interval // as in the alert EtcdBackupStale
	said := meta.FindStatusCondition(b.Status.Conditions, v1beta2.ConditionBackedUp)
	failed := said != nil && said.Status == metav1.ConditionFalse
	switch {
	case failed && (late || b.Status.LastSuccessDate == nil):
		one = wrong("%s fails, and %s: %s: %s", b.Name, ago(f.Now, b.Status.LastSuccessDate), said.Reason, said.Message)
	case late:
		one = wrong("%s is late: %s, and one is due every %s", b.Name, ago(f.Now, b.Status.LastSuccessDate), duration.HumanDuration(interval))
	case failed:
		one = doubtful("the last one of %s failed: %s: %s", b.Name, said.Reason, said.Message)
	case len(b.Status.Snapshots) > 0 && b.Status.Snapshots[0].Stale:
		one = doubtful("the newest of %s was taken without a quorum: later writes may lack in it", b.Name)
	case b.Spec.Suspend:
		one = doubtful("%s is suspended", b.Name)
	case len(b.Status.Snapshots) == 0:
		one = doubtful("%s has taken none yet", b.Name)
	default:
		return one, false
	}
	if failed {
		one.Next = "the operator tries again by itself"
		one.ByHand, one.Why = reasons.Of(said.Reason).Todo, reasons.Link(said.Reason)
	}
	if one.Verdict == Wrong {
		one.Runbook = runbook("EtcdBackupStale")
	}
	return one, true
}

func ago(now time.Time, at *metav1.Time) string {
	if at == nil {
		return "there is no good one"
	}
	return fmt.Sprintf("the last good one is %s old", duration.HumanDuration(now.Sub(at.Time)))
}
