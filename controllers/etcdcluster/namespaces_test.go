package etcdcluster_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// namespaced is a cluster-wide installation whose operator is configured with the namespaces to watch.
type namespaced struct {
	client.Client
	config *rest.Config
	// everywhere is the binding of the operator's role in all namespaces, once it is deleted.
	everywhere *rbacv1.ClusterRoleBinding
}

// TestNamespaces is about an operator that watches some namespaces, as an OperatorGroup asks for.
func TestNamespaces(t *testing.T) {
	ctrl.SetLogger(testr.NewWithOptions(t, testr.Options{Verbosity: 1}))
	config := testenv.Start(t)
	n := &namespaced{Client: testenv.Client(t, config), config: config}
	controllertest.InstallRoles(t, n.Client)
	t.Run("one of them does not exist", n.missing)
	t.Run("with rights in nothing else", n.narrow)
	t.Run("with rights in one of them that come later", n.later)
}

// missing watches a namespace that comes later.
func (n *namespaced) missing(t *testing.T) {
	n.namespace(t, "shop")
	n.namespace(t, "elsewhere")
	n.cluster(t, "elsewhere", "c")
	n.cluster(t, "shop", "c")
	startOperator(t, n.config, "shop", "later")
	n.served(t, "shop", "c")
	n.namespace(t, "later")
	n.cluster(t, "later", "c")
	n.served(t, "later", "c")
	n.leftAlone(t, "elsewhere")
}

// narrow has the operator's role in the namespaces that it watches, and in no other: nothing that it reads is of the whole
// Kubernetes cluster.
func (n *namespaced) narrow(t *testing.T) {
	everywhere := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "etcd-operator-manager-rolebinding"}}
	must(t, n.Get(t.Context(), client.ObjectKeyFromObject(everywhere), everywhere))
	must(t, n.Delete(t.Context(), everywhere))
	n.everywhere = everywhere
	for _, name := range []string{"billing", "stock"} {
		n.namespace(t, name)
		n.grant(t, name)
		n.cluster(t, name, "c")
	}
	startOperator(t, n.config, "billing", "stock")
	n.served(t, "billing", "c")
	n.served(t, "stock", "c")
	n.leftAlone(t, "elsewhere")
}

// later may do nothing in one of its namespaces, which does not exist at first. The other is served all the same, and this one once
// all rights are there: with the right to see EtcdClusters alone it would take members for lost that it cannot see.
func (n *namespaced) later(t *testing.T) {
	n.namespace(t, "open")
	n.grant(t, "open")
	n.cluster(t, "open", "c")
	listed := make(chan struct{})
	startOperator(t, answered(n.config, "/namespaces/shut/etcdclusters", listed), "open", "shut")
	n.served(t, "open", "c")
	n.namespace(t, "shut")
	n.cluster(t, "shut", "c")
	seen := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shut", Name: "sees"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch", "update"},
		}, {
			APIGroups: []string{"", "policy"}, Resources: []string{"*"}, Verbs: []string{"create"},
		}},
	}
	must(t, n.Create(t.Context(), seen))
	must(t, n.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shut", Name: "sees"}, Subjects: n.everywhere.Subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "sees"},
	}))
	select {
	case <-listed:
	case <-time.After(time.Minute):
		t.Fatal("the operator does not list EtcdClusters where it may")
	}
	n.cluster(t, "open", "second")
	n.served(t, "open", "second")
	n.leftAlone(t, "shut")
	n.grant(t, "shut")
	n.served(t, "shut", "c")
}

// answered closes a channel when a request for the path has succeeded.
func answered(config *rest.Config, path string, closed chan struct{}) *rest.Config {
	watched, once := rest.CopyConfig(config), sync.Once{}
	watched.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := inner.RoundTrip(r)
			if err == nil && response.StatusCode == http.StatusOK && strings.HasSuffix(r.URL.Path, path) {
				once.Do(func() { close(closed) })
			}
			return response, err
		})
	})
	return watched
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// grant gives the operator its role in a namespace, as make build-namespaced does.
func (n *namespaced) grant(t *testing.T, namespace string) {
	t.Helper()
	for _, manifest := range testenv.Build(t, "config/namespaced/rights").Resources() {
		object := &unstructured.Unstructured{}
		must(t, yaml.Unmarshal([]byte(manifest.MustYaml()), object))
		object.SetNamespace(namespace)
		must(t, n.Create(t.Context(), object))
	}
}

func (n *namespaced) namespace(t *testing.T, name string) {
	t.Helper()
	must(t, n.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
}

func (n *namespaced) cluster(t *testing.T, namespace, name string) {
	t.Helper()
	must(t, n.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1beta2.EtcdClusterSpec{Size: 3},
	}))
}

func (n *namespaced) pods(t *testing.T, namespace, cluster string) int {
	t.Helper()
	pods := &corev1.PodList{}
	must(t, n.List(t.Context(), pods, client.InNamespace(namespace), client.MatchingLabels{resources.LabelCluster: cluster}))
	return len(pods.Items)
}

func (n *namespaced) served(t *testing.T, namespace, cluster string) {
	t.Helper()
	await(t, "cluster "+cluster+" in "+namespace, func() error {
		if pods := n.pods(t, namespace, cluster); pods != 3 {
			return fmt.Errorf("%d pods", pods)
		}
		return nil
	})
}

// leftAlone wants not even the mark of an operator. It is asked for when clusters that came later were served.
func (n *namespaced) leftAlone(t *testing.T, namespace string) {
	t.Helper()
	c := &v1beta2.EtcdCluster{}
	must(t, n.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "c"}, c))
	if !reflect.DeepEqual(c.Status, v1beta2.EtcdClusterStatus{}) || n.pods(t, namespace, "c") > 0 {
		t.Errorf("the cluster in %s was touched: %+v", namespace, c.Status)
	}
}
