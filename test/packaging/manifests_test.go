package packaging

import (
	"bytes"
	"errors"
	"io"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// manifests are what is applied, in the order of the file.
type manifests []*unstructured.Unstructured

// parsed reads the documents of a YAML file.
func parsed(t *testing.T, text []byte) (all manifests) {
	t.Helper()
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
}

// build renders a folder of config.
func build(t *testing.T, folder string) manifests {
	t.Helper()
	text, err := testenv.Build(t, folder).AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, text)
}

// every gives the objects of a kind.
func every[T any](t *testing.T, m manifests, kind string) (all []T) {
	t.Helper()
	for _, object := range m {
		if object.GetKind() != kind {
			continue
		}
		var typed T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true); err != nil {
			t.Fatal(err)
		}
		all = append(all, typed)
	}
	return all
}

// rules gives those of a Role, or of a ClusterRole, whose namespace is empty.
func (m manifests) rules(t *testing.T, kind, namespace, name string) []rbacv1.PolicyRule {
	t.Helper()
	for _, role := range every[rbacv1.Role](t, m, kind) {
		if role.Namespace == namespace && role.Name == name {
			return role.Rules
		}
	}
	t.Errorf("there is no %s %s/%s", kind, namespace, name)
	return nil
}

// environment gives the variables of the operator.
func (m manifests) environment(t *testing.T) map[string]corev1.EnvVar {
	t.Helper()
	found := map[string]corev1.EnvVar{}
	for _, d := range every[appsv1.Deployment](t, m, "Deployment") {
		for _, v := range d.Spec.Template.Spec.Containers[0].Env {
			found[v.Name] = v
		}
	}
	return found
}

// rulesIn gives those of a role in the source tree.
func rulesIn(t *testing.T, file string) []rbacv1.PolicyRule {
	t.Helper()
	role := rbacv1.Role{}
	if err := yaml.UnmarshalStrict(read(t, file), &role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}
