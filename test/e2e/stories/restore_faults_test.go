package stories

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestSnapshotsThatAreNoGood restores what cannot be restored. Nothing is done to the cluster, and each says why.
func TestSnapshotsThatAreNoGood(t *testing.T) {
	t.Parallel()
	s := begin(t, "no-good", v1beta2.EtcdClusterSpec{Size: 1, Version: "3.6.16"})
	s.settled()
	s.puts("key", 10)
	storage := s.volume()
	s.secret(keySecret, map[string]string{"passphrase": "correct horse battery staple"})
	s.secret("other-key", map[string]string{"passphrase": "incorrect horse battery staple"})
	taken := map[string]string{}
	for _, name := range []string{"short", "flipped", "sealed"} {
		s.backup(name, storage, func(spec *v1beta2.EtcdBackupSpec) {
			if spec.Compression = v1beta2.CompressionNone; name == "sealed" {
				spec.EncryptionSecretRef.Name = keySecret
			}
		})
		taken[name] = s.backedUp(name).Status.Snapshots[0].Name
	}
	s.inStore(fmt.Sprintf("truncate -s 16384 %s; printf x | dd of=%s bs=1 seek=9000 conv=notrunc; echo hello > not-a-snapshot",
		taken["short"], taken["flipped"]))
	before := s.identities()
	for _, c := range []struct {
		name, reason string
		source       v1beta2.RestoreSource
	}{
		{"truncated", v1beta2.ReasonSnapshotDamaged, v1beta2.RestoreSource{Snapshot: taken["short"]}},
		{"bit-flipped", v1beta2.ReasonSnapshotDamaged, v1beta2.RestoreSource{Snapshot: taken["flipped"]}},
		{"no-snapshot", v1beta2.ReasonSnapshotDamaged, v1beta2.RestoreSource{Snapshot: "not-a-snapshot"}},
		{"missing", v1beta2.ReasonNoSuchObject, v1beta2.RestoreSource{Snapshot: "nothing"}},
		{"other-key", v1beta2.ReasonEncryptionKeyRefused, v1beta2.RestoreSource{Snapshot: taken["sealed"], EncryptionSecretRef: v1beta2.SecretRef{Name: "other-key"}}},
		{"no-key", v1beta2.ReasonEncryptionKeyRefused, v1beta2.RestoreSource{Snapshot: taken["sealed"]}},
	} {
		t.Run(c.name, func(t *testing.T) {
			told := s.within(t)
			c.source.Storage = storage
			told.restore(c.name, c.source)
			object := &v1beta2.EtcdRestore{}
			told.saysWhy(c.name, object, func() []metav1.Condition { return object.Status.Conditions },
				v1beta2.ConditionRestored, c.reason)
		})
	}
	after := s.identities()
	if len(after) != len(before) || after["no-good-0"] != before["no-good-0"] {
		t.Errorf("the members were %v and are %v", before, after)
	}
	s.has("key", 10)
}

// identities are the members' IDs by name.
func (s *story) identities() map[string]string {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	ids := map[string]string{}
	for _, m := range object.Status.MemberStatuses {
		ids[m.Name] = m.ID
	}
	return ids
}

// inStore runs a shell script in the folder of the story's volume for backups.
func (s *story) inStore(script string) {
	s.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, GenerateName: "hand-"},
		Spec: harness.Restricted(corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "hand", Image: "busybox", ImagePullPolicy: corev1.PullIfNotPresent,
				Command:      []string{"sh", "-ec", "mkdir -p /store/etcd; cd /store/etcd; " + script},
				VolumeMounts: []corev1.VolumeMount{{Name: "store", MountPath: "/store"}},
			}},
			Volumes: []corev1.Volume{{Name: "store", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "backups"},
			}}},
		}),
	}
	must(s.t, env.Create(s.t.Context(), pod))
	must(s.t, harness.Await(s.t.Context(), "the script has run", limit, func(ctx context.Context) (string, bool) {
		err := env.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		return fmt.Sprintf("%s, %v", pod.Status.Phase, err), err == nil && pod.Status.Phase == corev1.PodSucceeded
	}))
}
