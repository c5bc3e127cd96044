package etcdrestore

import (
	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/restores"
	"github.com/etcdpilot/etcd-operator/internal/plan/restore"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/task"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// agentPod is the pod of the run under way.
func (r *Reconciler) agentPod(p *restorePass) (*corev1.Pod, error) {
	o := p.object
	pod := agentpod.Base(o, task.KindRestore, resources.LabelRestore)
	pod.Name, pod.Policy, pod.Image, pod.OpenShift = o.Status.Run.Pod, o.Spec.Pod, r.OperatorImage, r.OpenShift
	pod.Env = r.AgentEnv
	if restore.Saves(o) {
		pod.ClientTLSSecret = agentpod.TLSSecret(p.cluster)
	}
	pod.Task, pod.KeySecret = restoreTask(p, pod.Task)
	return pod.Pod()
}

// restoreTask completes the task of the phase, and names the Secret with its key, empty for none.
func restoreTask(p *restorePass, t task.Task) (task.Task, string) {
	o, source := p.object, p.object.Status.Source
	t.Timeout = p.observed.Timeout
	key := restores.ReadFrom(&t, source)
	if restore.Saves(o) {
		t.Backup = &task.Backup{
			Endpoints: p.asked, TLS: agentpod.TLSSecret(p.cluster) != "", Cluster: agentpod.SnapshotCluster(p.cluster),
			Compress: true, Verify: v1beta2.VerifyChecksum,
			Shared: true, // it is saved next to the snapshot that is restored, whichever cluster that is from
			// The data that is about to be replaced is saved as it is, and each attempt saves it again: clients may have written
			// since the last one. A stale snapshot causes a warning, and no volume is deleted because of it.
			AcceptStale: true, Revision: p.cluster.Status.Revision,
		}
		if len(source.Recipients) > 0 { // then it needs no Secret, because it is not decrypted
			t.Encrypted, t.Identity, t.Recipients, key = false, false, source.Recipients, ""
		}
		return t, key
	}
	choice := task.Choice{Object: source.Object, ClusterID: o.Spec.ClusterID}
	if source.WriterUID != "" && o.Spec.Backup != nil {
		choice.Writer = task.Writer{
			Kind: task.KindBackup, Namespace: o.Namespace, Name: o.Spec.Backup.Name, UID: source.WriterUID,
		}
	}
	if o.Spec.Before != nil {
		choice.Before = o.Spec.Before.Time
	}
	t.Verify = &task.Verify{Choice: choice, EtcdVersion: version.Normalize(specFor(p).Version), Trial: true}
	return t, key
}
