package controllers_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdbackup"
	"github.com/etcdpilot/etcd-operator/controllers/etcdrestore"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestUnseenKinds has an operator that lacks the right to one kind of objects in a namespace: it begins nothing there with an
// EtcdBackup or an EtcdRestore, and serves another namespace meanwhile.
func TestUnseenKinds(t *testing.T) {
	ctrl.SetLogger(testr.NewWithOptions(t, testr.Options{Verbosity: 1}))
	config := testenv.Start(t)
	admin := testenv.Client(t, config)
	controllertest.InstallRoles(t, admin)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "etcd-operator-manager-role"}}
	must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(role), role))
	everywhere := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "etcd-operator-manager-rolebinding"}}
	must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(everywhere), everywhere))
	must(t, admin.Delete(t.Context(), everywhere))
	lacking := map[string]string{"podless": "pods", "claimless": "persistentvolumeclaims", "open": ""}
	roles := map[string]*rbacv1.Role{}
	for name, resource := range lacking {
		must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
		roles[name] = grantWithout(t, admin, name, resource, role.Rules, everywhere.Subjects)
		toBeSaved(t, admin, name)
	}
	startWorkers(t, controllertest.NewManager(t, config, "podless", "claimless", "open"))
	await(t, "the namespace with all rights", func() error { return marked(t, admin, "open", 2) })
	for name, resource := range lacking {
		if resource != "" && marked(t, admin, name, 0) != nil {
			t.Errorf("something is done in %s, where no %s are seen", name, resource)
		}
	}
	for name, resource := range lacking {
		roles[name].Rules = role.Rules
		must(t, admin.Update(t.Context(), roles[name]))
		await(t, "the right to see "+resource, func() error { return marked(t, admin, name, 2) })
	}
}

// grantWithout binds all rights of the operator but those to one kind of objects.
func grantWithout(
	t *testing.T, admin client.Client, namespace, resource string, rules []rbacv1.PolicyRule, to []rbacv1.Subject,
) *rbacv1.Role {
	t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "operator"}}
	for _, r := range rules {
		r.Resources = slices.DeleteFunc(slices.Clone(r.Resources), func(name string) bool { return name == resource })
		if len(r.Resources) > 0 {
			role.Rules = append(role.Rules, r)
		}
	}
	must(t, admin.Create(t.Context(), role))
	must(t, admin.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "operator"}, Subjects: to,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "operator"},
	}))
	return role
}

// startWorkers starts the controllers of EtcdBackup and EtcdRestore, and no other that could have seen what they have not.
func startWorkers(t *testing.T, mgr ctrl.Manager) {
	t.Helper()
	keeper := controllertest.KeeperOf(mgr)
	must(t, (&etcdbackup.Reconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("test"), Reservations: keeper,
		Clock: clock.RealClock{}, OperatorImage: "operator:test",
	}).SetupWithManager(mgr))
	must(t, (&etcdrestore.Reconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("test"), Reservations: keeper,
		Clock: clock.RealClock{}, OperatorImage: "operator:test",
	}).SetupWithManager(mgr))
	controllertest.Start(t, mgr)
}

// toBeSaved makes a cluster that was never started, an EtcdBackup and an EtcdRestore of it.
func toBeSaved(t *testing.T, admin client.Client, namespace string) {
	t.Helper()
	named := metav1.ObjectMeta{Namespace: namespace, Name: "c"}
	must(t, admin.Create(t.Context(), &v1beta2.EtcdCluster{ObjectMeta: named, Spec: v1beta2.EtcdClusterSpec{Size: 3}}))
	must(t, admin.Create(t.Context(), &v1beta2.EtcdBackup{ObjectMeta: named, Spec: v1beta2.EtcdBackupSpec{
		EtcdCluster: &v1beta2.EtcdClusterRef{Name: "c"}, Storage: &v1beta2.Storage{URL: "s3://bucket/folder"},
	}}))
	must(t, admin.Create(t.Context(), &v1beta2.EtcdRestore{ObjectMeta: named, Spec: v1beta2.EtcdRestoreSpec{
		EtcdCluster:   v1beta2.EtcdClusterRef{Name: "c"},
		RestoreSource: v1beta2.RestoreSource{Storage: &v1beta2.Storage{URL: "s3://bucket/folder"}},
	}}))
}

// marked is nil if so many of the objects in the namespace have the mark of an operator.
func marked(t *testing.T, admin client.Client, namespace string, want int) error {
	t.Helper()
	key := client.ObjectKey{Namespace: namespace, Name: "c"}
	saved, restored := &v1beta2.EtcdBackup{}, &v1beta2.EtcdRestore{}
	must(t, admin.Get(t.Context(), key, saved))
	must(t, admin.Get(t.Context(), key, restored))
	got := 0
	for _, mark := range []*v1beta2.OperatorReference{saved.Status.Operator, restored.Status.Operator} {
		if mark != nil {
			got++
		}
	}
	if got != want {
		return fmt.Errorf("%d objects in %s are marked, want %d", got, namespace, want)
	}
	return nil
}
