// Package restores holds what the controllers of EtcdCluster and EtcdRestore must agree on about a restore.
package restores

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/status"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// defaultTimeout applies if the spec sets none.
const defaultTimeout = time.Hour

// Looked reports whether the cluster's present data is what the EtcdRestore has decided to replace.
func Looked(c *v1beta2.EtcdClusterStatus, restore *v1beta2.EtcdRestoreStatus) bool {
	return restore.ClusterID == c.ClusterID || c.Former != nil && restore.ClusterID == c.Former.ClusterID
}

// Later reports whether an EtcdRestore of the same cluster was created after another one; of those of the same second one is.
func Later(a, b *v1beta2.EtcdRestore) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		strings.Compare(a.Name, b.Name), strings.Compare(string(a.UID), string(b.UID))) > 0
}

// Timeout is how long an attempt at a restore may take.
func Timeout(spec *v1beta2.EtcdRestoreSpec) time.Duration {
	if spec.TimeoutSeconds == 0 {
		return defaultTimeout
	}
	return time.Duration(spec.TimeoutSeconds) * time.Second
}

// ReadFrom has a task read a snapshot from where it is, and names the Secret with the key that it needs for that, empty for none.
func ReadFrom(t *task.Task, from *v1beta2.RestoredFrom) (keySecret string) {
	t.Storage, t.Encrypted, t.Identity = from.Storage, from.EncryptionSecretRef.Name != "", from.IdentitySecretRef.Name != ""
	return cmp.Or(from.IdentitySecretRef.Name, from.EncryptionSecretRef.Name)
}

// Failure is why the pod's last attempt to restore its data from a snapshot failed, nil if it did not.
func Failure(pod *corev1.Pod) *failure.Problem {
	for _, s := range pod.Status.InitContainerStatuses {
		if result, ok := resources.InitResult(s); ok && s.Name == resources.RestoreContainerName && result.Failure != nil {
			return &failure.Problem{
				Reason: status.Reason(result.Failure.Reason), Message: result.Failure.Message, Terminal: result.Failure.Terminal,
			}
		}
	}
	return nil
}
