package controllers_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestInstall has an API server take what is installed: it knows every field, every expression of the policies compiles, and nothing is lost.
func TestInstall(t *testing.T) {
	c := testenv.Client(t, testenv.Start(t))
	for _, folder := range []string{"config/default", "config/network-policy"} {
		for _, manifest := range testenv.Build(t, folder).Resources() {
			if namespace := manifest.GetNamespace(); namespace != "" {
				object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
				must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), object)))
			}
			object := &unstructured.Unstructured{}
			text, err := manifest.MarshalJSON()
			must(t, err)
			must(t, object.UnmarshalJSON(text))
			// kustomize gives a namespace to kinds that it does not know to have none.
			if namespaced, err := c.IsObjectNamespaced(object); err == nil && !namespaced {
				object.SetNamespace("")
			}
			testenv.Applied(t, c, object)
		}
	}
}
