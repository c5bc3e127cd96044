package etcdcluster_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
)

// TestUnwritableUserHoldsUpNobody has a finalizer hold the Secret of an EtcdUser. The condition names it, and all the same its cluster starts,
// switches authentication on, and takes up a restore.
func TestUnwritableUserHoldsUpNobody(t *testing.T) {
	w := newAuthWorld(t)
	w.unwritableUser()
	until := func(what string, done func(*v1beta2.EtcdCluster) bool) {
		t.Helper()
		const passes = 60
		for range passes {
			if w.pass(); done(w.read()) {
				return
			}
		}
		t.Fatalf("%s: not after %d passes: %+v", what, passes, w.read().Status.Conditions)
	}
	until("the cluster is up", func(c *v1beta2.EtcdCluster) bool {
		return meta.IsStatusConditionTrue(c.Status.Conditions, v1beta2.ConditionAvailable)
	})
	if c := meta.FindStatusCondition(w.read().Status.Conditions, v1beta2.ConditionCertificatesValid); c == nil ||
		c.Reason != v1beta2.ReasonWriteRefused || !strings.Contains(c.Message, "Secret app-tls") {
		t.Errorf("CertificatesValid is %+v", c)
	}

	c := w.read()
	c.Spec.Auth = &v1beta2.AuthPolicy{Enabled: true}
	c.Generation++
	must(t, w.api.Update(t.Context(), c))
	until("authentication is on", func(c *v1beta2.EtcdCluster) bool { return c.Status.Auth != nil && c.Status.Auth.Enabled })

	restore := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "to-monday"},
		Spec:       v1beta2.EtcdRestoreSpec{EtcdCluster: v1beta2.EtcdClusterRef{Name: "idle"}, RestoreSource: v1beta2.RestoreSource{Storage: bucket.DeepCopy()}},
	}
	restore.Status.Phase, restore.Status.ClusterUID, restore.Status.ClusterID = v1beta2.RestoreReplacing, string(c.UID), w.read().Status.ClusterID
	restore.Status.Source = &v1beta2.RestoredFrom{Storage: bucket, Object: "snapshot", SHA256: "abc"}
	restore.Status.Snapshot, restore.Status.SafetySnapshot = controllertest.SnapshotOf("snapshot"), controllertest.SnapshotOf("safe")
	must(t, w.api.Create(t.Context(), restore))
	until("the restore begins", func(c *v1beta2.EtcdCluster) bool { return len(c.Status.Restores) == 1 })
}

// unwritableUser makes an EtcdUser whose Secret is being deleted, and stays.
func (w *authWorld) unwritableUser() {
	w.Helper()
	user := &v1beta2.EtcdUser{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "app"}}
	user.Spec.EtcdCluster.Name, user.Spec.ClientCertificate = "idle", &v1beta2.UserCertificate{SecretName: "app-tls"}
	must(w.T, w.api.Create(w.Context(), user))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "app-tls", Finalizers: []string{"example.com/hold"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(user, v1beta2.GroupVersion.WithKind("EtcdUser"))},
	}}
	must(w.T, w.api.Create(w.Context(), secret))
	must(w.T, w.api.Delete(w.Context(), secret))
}
