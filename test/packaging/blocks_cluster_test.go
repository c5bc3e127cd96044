package packaging

import (
	"strings"
	"testing"

	olmv1 "github.com/operator-framework/api/pkg/operators/v1"
	olmv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// cluster is a Kubernetes of an API server only, in which objects of this API are there to be changed.
type cluster struct {
	client client.Client
	scheme *runtime.Scheme
	// kinds are what kubectl makes of the name of a resource, and schemas those of this API.
	kinds   map[string]schema.GroupVersionKind
	schemas map[string]*apiextensionsv1.JSONSchemaProps
	// names are those of the objects that are installed.
	names map[string]bool
}

// elsewhere are resources that an API server alone does not have, by the names that kubectl takes.
var elsewhere = map[string]schema.GroupVersionKind{
	"catalogsource": olmv1alpha1.SchemeGroupVersion.WithKind("CatalogSource"), "csv": olmv1alpha1.SchemeGroupVersion.WithKind("ClusterServiceVersion"),
	"installplan": olmv1alpha1.SchemeGroupVersion.WithKind("InstallPlan"), "subscription": olmv1alpha1.SchemeGroupVersion.WithKind("Subscription"),
	"podmonitor": monitors("PodMonitor"), "prometheusrule": monitors("PrometheusRule"), "servicemonitor": monitors("ServiceMonitor"),
}

func monitors(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: kind}
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	config := testenv.Start(t)
	c := &cluster{
		client: client.WithFieldValidation(testenv.Client(t, config), "Strict"), scheme: testenv.Scheme(t),
		kinds: map[string]schema.GroupVersionKind{}, schemas: map[string]*apiextensionsv1.JSONSchemaProps{}, names: map[string]bool{},
	}
	for _, add := range []func(*runtime.Scheme) error{olmv1alpha1.AddToScheme, olmv1.AddToScheme} {
		if err := add(c.scheme); err != nil {
			t.Fatal(err)
		}
	}
	for _, crd := range testenv.CRDs(t) {
		c.schemas[crd.Spec.Names.Kind] = crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	}
	_, served, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range elsewhere {
		c.kinds[name], c.kinds[name+"s"] = kind, kind
	}
	for _, list := range served {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			for _, name := range append(resource.ShortNames, resource.Name, resource.SingularName) {
				if _, found := c.kinds[name]; !found && !strings.Contains(name, "/") {
					c.kinds[name] = version.WithKind(resource.Kind)
				}
			}
		}
	}
	for _, all := range []manifests{build(t, "config/default"), build(t, "config/admission"), with("components", "../prometheus/cert-manager")(t)} {
		for _, object := range all {
			c.names[object.GetName()] = true
		}
	}
	return c
}

// smallest are specs of this API's kinds, from which fields in the documents differ.
var smallest = map[string]map[string]any{
	"EtcdCluster": {
		"size": int64(3), "version": "3.6.16", "networkPolicy": map[string]any{"mode": "Strict"}, "restoreFrom": map[string]any{"backup": map[string]any{"name": "backup"}},
		"pod": map[string]any{"persistentVolumeClaimSpec": map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}},
	},
	"EtcdBackup":  {"etcdCluster": map[string]any{"name": "name"}, "storage": map[string]any{"url": "s3://bucket/folder"}},
	"EtcdRestore": {"etcdCluster": map[string]any{"name": "name"}, "backup": map[string]any{"name": "backup"}},
	"EtcdUser":    {"etcdCluster": map[string]any{"name": "name"}, "passwordSecretRef": map[string]any{"name": "name"}},
	"EtcdRole":    {"etcdCluster": map[string]any{"name": "name"}},
}

// of gives an object of this API, which an API server takes, with some fields of its spec.
func of(kind string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(kind))
	object.SetNamespace("default")
	object.SetGenerateName("block-")
	return object
}

// ours reports whether a kind is of this API.
func ours(kind schema.GroupVersionKind) bool { return kind.Group == v1beta2.GroupVersion.Group }
