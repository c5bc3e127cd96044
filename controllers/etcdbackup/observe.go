package etcdbackup

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/backup"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
	"github.com/etcdpilot/etcd-operator/internal/recipient"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// backupPass is what one reconciliation has read and decided.
type backupPass struct {
	object *v1beta2.EtcdBackup
	// before is the status as it was read.
	before *v1beta2.EtcdBackupStatus
	// begun is when the pass began to read.
	begun time.Time
	// declined is why this operator does not act on the EtcdBackup; nil if it does. Otherwise nothing but the object is known.
	declined claim.Decision
	// deed is what the pass has tried to change, nil for nothing.
	deed     *reconcile.Deed
	observed backup.Observed
	action   backup.Action
	// storage is the destination, and key the prefix of the names there in the form of coreos/etcd-operator.
	storage v1beta2.Storage
	key     string
	source  source
	agentpod.Pods
}

// observe reads everything a decision may depend on, except other EtcdBackups on the same storage.
func (r *Reconciler) observe(ctx context.Context, reader client.Reader, b *v1beta2.EtcdBackup) (
	*backupPass, error,
) {
	p := &backupPass{object: b, before: b.Status.DeepCopy()}
	p.observed = backup.Observed{
		Now: r.Clock.Now(), Created: b.CreationTimestamp.Time, Deleting: !b.DeletionTimestamp.IsZero(),
		Suspended: b.Spec.Suspend, Timeout: timeoutOf(b),
		Clean:        b.Spec.DeletionPolicy == v1beta2.DeletionDelete,
		HasFinalizer: controllerutil.ContainsFinalizer(b, v1beta2.FinalizerObjects),
		Written:      b.Status.Run != nil || attempted(b) != nil,
		Done:         once(b) && done(b), Run: backupRunOf(b),
	}
	if b.Status.LastScheduleTime != nil {
		p.observed.LastDue = b.Status.LastScheduleTime.Time
	}
	if err := r.observeSpec(ctx, reader, p); err != nil {
		return nil, err
	}
	return p, observeBackupPods(ctx, reader, p)
}

// observeSpec validates the spec and resolves what it refers to.
func (r *Reconciler) observeSpec(ctx context.Context, reader client.Reader, p *backupPass) error {
	o := &p.observed
	var err error
	p.storage, p.key, err = resources.StorageOf(p.object.Spec.Storage, p.object.Spec.StorageType, p.object.Spec.BackupStorage)
	if err != nil {
		o.Problem = &failure.Problem{
			Reason: v1beta2.ReasonStorageMisconfigured, Message: fmt.Sprintf("%s: %v", storageField(p.object), err),
		}
	}
	if text := p.object.Spec.Renamed(); text != "" {
		o.Problem = &failure.Problem{
			Reason: v1beta2.ReasonStorageMisconfigured, Message: text + ": give it that name. No backup is taken before",
		}
	}
	if o.Problem == nil {
		o.Problem = agentpod.Reserved(p.object.Spec.Pod)
	}
	if o.Deleting || o.Problem != nil {
		return nil
	}
	if o.Problem = unusable(p.object.Spec.EncryptionRecipients); o.Problem != nil {
		return nil
	}
	o.Schedule, o.Problem = backup.ParseSchedule(p.object.Spec.Schedule, p.object.Spec.TimeZone, backup.PolicyInterval(p.object), o.Now)
	if o.Problem != nil {
		return nil
	}
	p.source, o.Problem, err = sourceOf(ctx, reader, p.object)
	o.Asleep = p.source.asleep
	return err
}

// unusable says which recipient is no public key, nil if all are.
func unusable(recipients []string) *failure.Problem {
	if _, err := recipient.Parse(recipients); err != nil {
		return &failure.Problem{Reason: v1beta2.ReasonEncryptionKeyRefused, Message: err.Error()}
	}
	return nil
}

// storageField is the name of the field with the destination.
func storageField(b *v1beta2.EtcdBackup) string {
	if b.Spec.Storage != nil {
		return "spec.storage"
	}
	return "spec.storageType and its settings"
}

func policyOf(b *v1beta2.EtcdBackup) v1beta2.BackupPolicy {
	if b.Spec.BackupPolicy == nil {
		return v1beta2.BackupPolicy{}
	}
	return *b.Spec.BackupPolicy
}

// cleanTimeout is how long one attempt to delete all objects may take. A later one continues where it stopped.
const cleanTimeout = time.Hour

// timeoutOf is how long an attempt may take: by default as long as with coreos/etcd-operator, if the spec is in its form.
func timeoutOf(b *v1beta2.EtcdBackup) time.Duration {
	policy := policyOf(b)
	given := time.Duration(cmp.Or(policy.TimeoutSeconds, policy.LegacyTimeout)) * time.Second
	switch {
	case b.Status.Run != nil && b.Status.Run.Task == v1beta2.BackupTaskClean:
		return cleanTimeout
	case b.Spec.Storage == nil:
		return cmp.Or(given, time.Minute)
	}
	return cmp.Or(given, time.Hour)
}

// once reports whether the spec asks for a single backup.
func once(b *v1beta2.EtcdBackup) bool { return b.Spec.Schedule == "" && backup.PolicyInterval(b) == 0 }

// done reports whether a backup was taken, or given up with the present spec.
func done(b *v1beta2.EtcdBackup) bool {
	last := attempted(b)
	return b.Status.Run == nil &&
		(b.Status.Succeeded || last != nil && b.Status.LastScheduleTime != nil && last.ObservedGeneration == b.Generation)
}

// attempted is the result of the last attempt, nil if none has finished.
func attempted(b *v1beta2.EtcdBackup) *metav1.Condition {
	c := meta.FindStatusCondition(b.Status.Conditions, v1beta2.ConditionBackedUp)
	if c == nil || c.Status == metav1.ConditionUnknown {
		return nil
	}
	return c
}

func backupRunOf(b *v1beta2.EtcdBackup) *backup.Run {
	run := b.Status.Run
	if run == nil {
		return nil
	}
	seen := &backup.Run{
		Task: backup.Task(run.Task), Due: run.ScheduleTime.Time, Attempt: int(run.Attempt), Started: run.AttemptStartTime.Time,
		Made: run.Step != "",
	}
	if run.RetryTime != nil {
		seen.RetryAfter = run.RetryTime.Time
	}
	if run.StartTime != nil {
		seen.Began = run.StartTime.Time
	}
	return seen
}

// observeBackupPods reads the pods. If the spec has changed since one was created, its failure is not terminal.
func observeBackupPods(ctx context.Context, reader client.Reader, p *backupPass) (err error) {
	var task *v1beta2.AgentRun
	run := p.object.Status.Run
	if run != nil {
		task = &run.AgentRun
	}
	p.Pods, err = agentpod.Observe(ctx, reader, p.object, resources.LabelBackup, task)
	p.observed.Pod, p.observed.OrphanedPods = p.Seen, p.Orphaned
	if p.Seen != nil && p.Seen.Result != nil && p.Seen.Result.Failure != nil && run.Generation != p.object.Generation {
		p.Seen.Result.Failure.Terminal = false
	}
	return err
}

// ahead names an EtcdBackup of the namespace that is using the place that this one would write to; empty if none is.
func (r *Reconciler) ahead(ctx context.Context, reader client.Reader, p *backupPass) (string, error) {
	own := backup.PlaceOf(p.storage, p.key)
	if !own.Shared() {
		return "", nil
	}
	all := &v1beta2.EtcdBackupList{}
	if err := r.Client.List(ctx, all, client.InNamespace(p.object.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return "", err
	}
	for i := range all.Items {
		other := &all.Items[i]
		storage, key, err := resources.StorageOf(other.Spec.Storage, other.Spec.StorageType, other.Spec.BackupStorage)
		if err != nil || other.UID == p.object.UID || !own.Overlaps(backup.PlaceOf(storage, key)) {
			continue
		}
		fresh := &v1beta2.EtcdBackup{}
		if err := reader.Get(ctx, client.ObjectKeyFromObject(other), fresh); err != nil {
			if client.IgnoreNotFound(err) == nil {
				continue
			}
			return "", err
		}
		if backupRunOf(fresh).Holds(p.observed.Now) {
			return fresh.Name, nil
		}
	}
	return "", nil
}
