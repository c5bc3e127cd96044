package resources

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/storage"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// agentNeeds are the volumes of an agent's pod, and their mounts. The names do not conflict with those of a member's pod.
type agentNeeds struct {
	volumes []corev1.Volume
	mounts  []corev1.VolumeMount
}

// needsOf are the Secrets and the storage of a task, and nothing that it does not need.
func needsOf(t task.Task, keySecret, clientTLSSecret string) *agentNeeds {
	n := &agentNeeds{}
	n.secret("agent-credentials", t.Storage.CredentialsSecretRef.Name, task.CredentialsDir, storage.CredentialKeys(t.Storage.URL)...)
	n.bundle("agent-ca", t.Storage.CABundleRef)
	key := task.KeyPassphrase
	if t.Identity {
		key = task.KeyIdentity
	}
	n.secret("agent-key", keySecret, task.KeyDir, key)
	n.secret("agent-tls", clientTLSSecret, task.TLSDir, task.KeyClientCertificate, task.KeyClientKey, task.KeyClientCA)
	if t.Backup != nil {
		n.login(t.Backup.Login)
	}
	if claim := t.Storage.PersistentVolumeClaim; claim != "" {
		n.add(corev1.Volume{Name: "agent-store", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}, task.StoreDir, t.Backup == nil && t.Clean == nil)
	}
	if t.Storage.CredentialsSecretRef.Name != "" {
		n.add(temporaryVolume(), "/tmp", false)
	}
	return n
}

func (n *agentNeeds) add(v corev1.Volume, path string, readOnly bool) {
	n.volumes = append(n.volumes, v)
	n.mounts = append(n.mounts, corev1.VolumeMount{Name: v.Name, MountPath: path, ReadOnly: readOnly})
}

// secretMode lets the pod's user read. It is not the owner, and a member's pod may have no group of its own for volumes.
const secretMode = 0o444

// secret adds these keys of a Secret, as far as they exist. It is optional: the agent reports what is missing, which a pod that waits
// could not.
func (n *agentNeeds) secret(volume, name, path string, keys ...string) {
	if name == "" {
		return
	}
	var items []corev1.KeyToPath
	for _, key := range keys {
		items = append(items, corev1.KeyToPath{Key: key, Path: key})
	}
	n.add(secretVolume(volume, name, items), path, true)
}

// login adds a password under the name that the agent expects, and the user if the Secret names one.
func (n *agentNeeds) login(ref *v1beta2.SecretKeyRef) {
	if ref == nil {
		return
	}
	n.add(secretVolume("agent-login", ref.Name, []corev1.KeyToPath{
		{Key: cmp.Or(ref.Key, task.KeyPassword), Path: task.KeyPassword}, {Key: task.KeyUsername, Path: task.KeyUsername},
	}), task.LoginDir, true)
}

func secretVolume(volume, name string, items []corev1.KeyToPath) corev1.Volume {
	mode, yes := int32(secretMode), true
	return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: name, Items: items, DefaultMode: &mode, Optional: &yes,
	}}}
}

// bundle adds certificates under the name that the agent expects.
func (n *agentNeeds) bundle(volume string, ref v1beta2.CABundleRef) {
	if ref.Name == "" {
		return
	}
	mode, yes := int32(secretMode), true
	items := []corev1.KeyToPath{{Key: cmp.Or(ref.Key, v1beta2.DefaultCABundleKey), Path: task.KeyCA}}
	source := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: ref.Name, Items: items, DefaultMode: &mode, Optional: &yes,
	}}
	if ref.Kind == v1beta2.CABundleConfigMap {
		source = corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Items: items, DefaultMode: &mode, Optional: &yes,
		}}
	}
	n.add(corev1.Volume{Name: volume, VolumeSource: source}, task.CADir, true)
}

// temporaryVolume is for credentials that a library needs as files of its own. They are kept in memory.
func temporaryVolume() corev1.Volume {
	size := resource.MustParse("1Mi")
	return corev1.Volume{Name: "agent-tmp", VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &size},
	}}
}

// spoolMargin is how much larger, in bytes, the volume of a spool may become than the spool: a pod that goes over the limit
// is evicted.
const spoolMargin = 16 << 20

// scratchVolume is deleted with its pod. How much a trial restore takes is known only once there is a snapshot.
func scratchVolume(claim *corev1.PersistentVolumeClaimSpec, t task.Task) corev1.Volume {
	v := corev1.Volume{Name: "agent-scratch"}
	if claim == nil {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		if !restores(t) {
			v.EmptyDir.SizeLimit = resource.NewQuantity(t.Backup.Spool+spoolMargin, resource.BinarySI)
		}
		return v
	}
	spec := claim.DeepCopy()
	if len(spec.AccessModes) == 0 {
		spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	}
	v.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: *spec}}
	return v
}
