package etcdbackup

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan/backup"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// execute carries out the one action of this pass. Changes of status take effect with the status write at its end, a
// compare-and-swap on the version that was read. The linter requires every action to be in the list.
func (r *Reconciler) execute(ctx context.Context, p *backupPass) error {
	switch a := p.action.(type) {
	// These consist of the status write alone.
	case backup.Idle, backup.Wait, backup.Blocked, backup.Start, backup.ResetTimer, backup.Finish, backup.Retry, backup.GiveUp,
		backup.CancelRun:
	case backup.AddFinalizer:
		return reconcile.AddFinalizer(ctx, r.Client, p.object, v1beta2.FinalizerObjects)
	case backup.RemoveFinalizer:
		return reconcile.RemoveFinalizer(ctx, r.Client, p.object, v1beta2.FinalizerObjects)
	case backup.CreatePod:
		return r.createPod(ctx, p)
	case backup.DeletePod:
		return reconcile.DeleteExact(ctx, r.Client, &corev1.Pod{}, p.object.Namespace, a.Name, a.UID)
	}
	return nil
}

// createPod creates the pod of an attempt. If there can be no such pod, the attempt has failed.
func (r *Reconciler) createPod(ctx context.Context, p *backupPass) error {
	pod, err := r.agentPod(p).Pod()
	if err != nil {
		return fmt.Errorf("build the pod: %w", err)
	}
	problem, err := agentpod.Create(ctx, r.Client, r.Live, p.object, pod)
	switch {
	case problem != nil:
		p.action = backup.Refused(p.observed, *problem)
	case reconcile.Terminating(err) && p.observed.Deleting: // the namespace waits for the finalizer
		p.action = backup.RemoveFinalizer{}
		return reconcile.RemoveFinalizer(ctx, r.Client, p.object, v1beta2.FinalizerObjects)
	}
	return err
}

// agentPod is what the pod of the run's attempt is built from.
func (r *Reconciler) agentPod(p *backupPass) resources.AgentPod {
	b := p.object
	pod := agentpod.Base(b, task.KindBackup, resources.LabelBackup)
	pod.Name, pod.Policy, pod.Image, pod.OpenShift = b.Status.Run.Pod, b.Spec.Pod, r.OperatorImage, r.OpenShift
	pod.Env = r.AgentEnv
	pod.Task.Storage, pod.Task.Timeout = p.storage, p.observed.Timeout
	if p.observed.Run.Task == backup.TaskClean {
		pod.Task.Clean = &task.Clean{}
		return pod
	}
	pod.KeySecret, pod.ClientTLSSecret = b.Spec.EncryptionSecretRef.Name, p.source.tlsSecret
	pod.Task.Encrypted, pod.Task.Recipients = b.Spec.EncryptionSecretRef.Name != "", b.Spec.EncryptionRecipients
	pod.Task.Backup = &task.Backup{
		Endpoints: slices.Clone(p.source.endpoints), Cluster: p.source.cluster, TLS: p.source.tlsSecret != "", Login: p.source.login,
		Ancestors: p.source.ancestors, Shared: b.Spec.PrefixPolicy == v1beta2.PrefixShared,
		LegacyKey: p.key, Periodic: p.observed.Schedule != nil,
		Compress: compressed(&b.Spec), Verify: b.Spec.Verify,
		Policy: retention(policyOf(b)), Doubt: p.source.doubt,
		Run: p.observed.Run.Due.UTC().Format(time.RFC3339), Again: p.observed.Run.Attempt > 1, Revision: p.source.revision,
	}
	return pod
}

// compressed reports whether objects are compressed. With coreos/etcd-operator's manifests they are what etcd sends unless the
// spec says otherwise: other programs may read them.
func compressed(spec *v1beta2.EtcdBackupSpec) bool {
	if spec.Compression == "" {
		return spec.StorageType == ""
	}
	return spec.Compression == v1beta2.CompressionZstd
}

// retention says which backups are retained.
func retention(given v1beta2.BackupPolicy) task.Policy {
	policy := task.Policy{Last: int(given.MaxBackups)}
	if given.MaxAge != nil {
		policy.MaxAge = given.MaxAge.Duration
	}
	if keep := given.Keep; keep != nil {
		policy.Hourly, policy.Daily = int(keep.Hourly), int(keep.Daily)
		policy.Weekly, policy.Monthly = int(keep.Weekly), int(keep.Monthly)
	}
	return policy
}
