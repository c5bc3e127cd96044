package etcdcluster_test

import (
	"fmt"
	"testing"

	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// namespaced is a cluster-wide installation whose operator is configured with the namespaces to watch.
type namespaced struct {
	client.Client
	config *rest.Config
}

// TestNamespaces is about an operator that watches some namespaces, as an OperatorGroup asks for.
func TestNamespaces(t *testing.T) {
	ctrl.SetLogger(testr.NewWithOptions(t, testr.Options{Verbosity: 1}))
	config := testenv.Start(t)
	n := &namespaced{testenv.Client(t, config), config}
	controllertest.InstallRoles(t, n.Client)
	t.Run("one of them does not exist", n.missing)
	t.Run("with rights in nothing else", n.narrow)
}

// missing watches a namespace that comes later.
func (n *namespaced) missing(t *testing.T) {
	n.namespace(t, "shop")
	n.namespace(t, "elsewhere")
	n.cluster(t, "elsewhere")
	n.cluster(t, "shop")
	startOperator(t, n.config, "shop", "later")
	n.served(t, "shop")
	n.namespace(t, "later")
	n.cluster(t, "later")
	n.served(t, "later")
	n.leftAlone(t, "elsewhere")
}

// narrow has the operator's role in the namespaces that it watches, and in no other: nothing that it reads is of the whole
// Kubernetes cluster.
func (n *namespaced) narrow(t *testing.T) {
	everywhere := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "etcd-operator-manager-rolebinding"}}
	must(t, n.Get(t.Context(), client.ObjectKeyFromObject(everywhere), everywhere))
	must(t, n.Delete(t.Context(), everywhere))
	for _, name := range []string{"billing", "stock"} {
		n.namespace(t, name)
		must(t, n.Create(t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "operator"}, RoleRef: everywhere.RoleRef, Subjects: everywhere.Subjects,
		}))
		n.cluster(t, name)
	}
	startOperator(t, n.config, "billing", "stock")
	n.served(t, "billing")
	n.served(t, "stock")
	n.leftAlone(t, "elsewhere")
}

func (n *namespaced) namespace(t *testing.T, name string) {
	t.Helper()
	must(t, n.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
}

func (n *namespaced) cluster(t *testing.T, namespace string) {
	t.Helper()
	must(t, n.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"}, Spec: v1beta2.EtcdClusterSpec{Size: 3},
	}))
}

func (n *namespaced) pods(t *testing.T, namespace string) int {
	t.Helper()
	pods := &corev1.PodList{}
	must(t, n.List(t.Context(), pods, client.InNamespace(namespace)))
	return len(pods.Items)
}

func (n *namespaced) served(t *testing.T, namespace string) {
	t.Helper()
	await(t, "the cluster in "+namespace, func() error {
		if pods := n.pods(t, namespace); pods != 3 {
			return fmt.Errorf("%d pods", pods)
		}
		return nil
	})
}

// leftAlone is asked for when clusters that came later were served.
func (n *namespaced) leftAlone(t *testing.T, namespace string) {
	t.Helper()
	c := &v1beta2.EtcdCluster{}
	must(t, n.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "c"}, c))
	if len(c.Status.Conditions) > 0 || n.pods(t, namespace) > 0 {
		t.Errorf("the cluster in %s was touched: %+v", namespace, c.Status)
	}
}
