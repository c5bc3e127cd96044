package etcdbackup

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
	"github.com/etcdpilot/etcd-operator/internal/plan/backup"
	"github.com/etcdpilot/etcd-operator/internal/status"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

func (r *Reconciler) finish(ctx context.Context, p *backupPass, err error) (ctrl.Result, error) {
	if _, gone := p.action.(backup.RemoveFinalizer); gone && p.observed.Deleting && err == nil {
		p.deed.Count(nil)
		r.recordDeletion(p)
		return ctrl.Result{}, nil
	}
	if reconcile.Terminating(err) {
		p.action, err = backup.Wait{
			Reason: v1beta2.ReasonTerminating, Message: reconcile.NamespaceEnds, After: reconcile.Heartbeat,
		}, nil
	}
	defer func() { metrics.SetBackup(p.object.Namespace, p.object.Name, exported(p.object, p.interval())) }()
	return reconcile.Finish(ctx, reconcile.Ending{
		WriteStatus:  func(ctx context.Context, err error) error { return r.writeBackupStatus(ctx, p, err) },
		Left:         r.fence(p).Bounds(p),
		RecordEvents: func(ctx context.Context, err error) { r.recordEvents(ctx, p, err) },
		Again:        func() ctrl.Result { return ctrl.Result{RequeueAfter: untilBackup(p)} },
		Deed:         p.deed,
	}, err)
}

// recordDeletion records an event if the backups of an EtcdBackup that is being deleted remain in the storage.
func (r *Reconciler) recordDeletion(p *backupPass) {
	if p.observed.Clean && p.observed.Written && p.Result == nil {
		r.event(p, corev1.EventTypeWarning, v1beta2.ReasonTerminating, "RemoveFinalizer",
			"the namespace is being deleted, so no pod can be created to delete the backups: they stay in the storage")
	}
	metrics.ForgetBackup(p.object.Namespace, p.object.Name)
}

// untilBackup is the time until the next pass. The clock may be set, so that even a long wait is checked now and then.
func untilBackup(p *backupPass) time.Duration {
	switch a := p.action.(type) {
	case backup.Wait:
		return a.After
	case backup.Idle:
		if a.Next.IsZero() {
			return 0
		}
		return max(min(a.Next.Sub(p.observed.Now), reconcile.Heartbeat), reconcile.Soon)
	case backup.Blocked:
		return reconcile.Heartbeat
	default:
		return reconcile.Soon
	}
}

func (r *Reconciler) writeBackupStatus(ctx context.Context, p *backupPass, err error) error {
	b := p.object
	b.Status = status.Backup(status.BackupInput{
		Backup: b, Observed: p.observed, Action: p.action, Result: p.Result, Progress: progressOf(p),
		Interval: p.interval(), Err: err,
	})
	if equality.Semantic.DeepEqual(p.before, &b.Status) {
		return nil
	}
	return r.Client.Status().Update(ctx, b)
}

// progressOf is the pod's progress, nil if it is not working.
func progressOf(p *backupPass) *task.Progress {
	wait, ok := p.action.(backup.Wait)
	if !ok || wait.Reason != v1beta2.ReasonBackingUp && wait.Reason != v1beta2.ReasonCleaning {
		return nil
	}
	return p.Progress()
}

// recordEvents records the events of what has taken effect, and counts it in the metrics.
func (r *Reconciler) recordEvents(ctx context.Context, p *backupPass, err error) {
	metrics.Answered(p.Deed().Action, answered(p))
	if err != nil {
		r.event(p, corev1.EventTypeWarning, v1beta2.ReasonActionFailed, "Act", "%v", err)
		return
	}
	b := p.object
	r.recordOverdue(p)
	switch a := p.action.(type) {
	case backup.Start:
		r.event(p, corev1.EventTypeNormal, reasonOf(a.Run.Task), "Start",
			"attempt %d, due at %s, starts in pod %s", a.Run.Attempt, a.Run.Due.UTC().Format(time.RFC3339), b.Status.Run.Pod)
	case backup.Finish:
		r.recordSuccess(p)
	case backup.Retry:
		metrics.BackupFailed(b.Namespace, b.Name, a.Failure.Reason)
		r.event(p, corev1.EventTypeWarning, a.Failure.Reason, "Retry", "attempt %d failed, retrying in %s: %s",
			p.observed.Run.Attempt, a.After.Sub(p.observed.Now), a.Failure.Message)
	case backup.GiveUp:
		metrics.BackupFailed(b.Namespace, b.Name, a.Failure.Reason)
		r.event(p, corev1.EventTypeWarning, a.Failure.Reason, "GiveUp", "giving up after attempt %d: %s",
			p.observed.Run.Attempt, a.Failure.Message)
	case backup.Blocked:
		if isNew(p, a.Reason) {
			r.event(p, corev1.EventTypeWarning, a.Reason, "Wait", "%s", a.Message)
		}
	case backup.Wait:
		if status.Late(p.observed, a) && attempted(b).Reason != reasonIn(p.before.Conditions, v1beta2.ConditionBackedUp) {
			r.event(p, corev1.EventTypeWarning, a.Reason, "Wait", "the scheduled backup was not taken: %s", a.Message)
		}
		if isNew(p, a.Reason) && a.Reason != v1beta2.ReasonWaitingForRetry {
			r.event(p, corev1.EventTypeNormal, a.Reason, "Wait", "%s", a.Message)
		}
	default:
	}
	if backup.Mutates(p.action) {
		log.FromContext(ctx).Info("acted", "action", fmt.Sprintf("%T", p.action))
	}
}

// recordOverdue warns once when the last good backup has become too old. The next one has an event of its own.
func (r *Reconciler) recordOverdue(p *backupPass) {
	now := meta.FindStatusCondition(p.object.Status.Conditions, v1beta2.ConditionUpToDate)
	if now != nil && now.Reason == v1beta2.ReasonBackupOverdue && reasonIn(p.before.Conditions, v1beta2.ConditionUpToDate) != now.Reason {
		r.event(p, corev1.EventTypeWarning, now.Reason, "Observe", "%s", now.Message)
	}
}

func reasonOf(asked backup.Task) string {
	if asked == backup.TaskClean {
		return v1beta2.ReasonCleaning
	}
	return v1beta2.ReasonBackingUp
}

func (r *Reconciler) recordSuccess(p *backupPass) {
	b, result := p.object, p.Result
	metrics.BackupSucceeded(b.Namespace, b.Name, p.observed.Now.Sub(p.observed.Run.Started))
	done := meta.FindStatusCondition(b.Status.Conditions, v1beta2.ConditionBackedUp)
	r.event(p, corev1.EventTypeNormal, v1beta2.ReasonBackedUp, "Finish", "%s", done.Message)
	if len(result.Deleted) > 0 {
		r.event(p, corev1.EventTypeNormal, v1beta2.ReasonPruned, "Finish",
			"deleted the backups that backupPolicy no longer keeps: %s", strings.Join(result.Deleted, ", "))
	}
	reconcile.Warn(r.Recorder, b, v1beta2.ReasonCompletedWithWarnings, result.Warnings)
}

// isNew reports whether the reason differs from the one in the status that was read.
func isNew(p *backupPass, reason string) bool {
	return reasonIn(p.before.Conditions, v1beta2.ConditionProgressing) != reason
}

// reasonIn is a condition's reason, empty if it is not there.
func reasonIn(conditions []metav1.Condition, kind string) string {
	if c := meta.FindStatusCondition(conditions, kind); c != nil {
		return c.Reason
	}
	return ""
}

func (r *Reconciler) event(p *backupPass, kind, reason, action, format string, args ...any) {
	reconcile.Emit(r.Recorder, p.object, kind, reason, action, fmt.Sprintf(format, args...))
}
