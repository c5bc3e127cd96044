package packaging

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// helm runs Helm with the chart that make chart writes.
type helm struct{ program, chart string }

// newHelm makes the chart, with more variables of make.
func newHelm(t *testing.T, variables ...string) helm {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"chart", "VERSION=9.8.7", "IMG=" + controller, "BIN=" + dir + "/bin", "DIST=" + dir}, variables...)
	if output, err := inRoot(t, args...); err != nil {
		t.Fatalf("make chart: %v\n%s", err, output)
	}
	return helm{asset(t, "TEST_ASSET_HELM"), filepath.Join(dir, "etcd-operator-9.8.7.tgz")}
}

// controller is the image in config, so that what kustomize renders needs no other.
const controller = "controller:latest"

// template renders the chart with arguments.
func (h helm) template(t *testing.T, args ...string) (string, error) {
	t.Helper()
	args = append([]string{"template", "any", h.chart, "--kube-version", "1.33.0", "--namespace", operator.Namespace}, args...)
	text, err := exec.CommandContext(t.Context(), h.program, args...).CombinedOutput()
	return string(text), err
}

// rendered is what the chart creates with these values.
func (h helm) rendered(t *testing.T, args ...string) manifests {
	t.Helper()
	text, err := h.template(t, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return parsed(t, []byte(text))
}

// TestChart wants Helm to install what the manifests do, object by object.
func TestChart(t *testing.T) {
	h := newHelm(t)
	lint, err := exec.CommandContext(t.Context(), h.program, "lint", "--strict", h.chart).CombinedOutput()
	if err != nil || strings.Contains(string(lint), "[WARNING]") || strings.Contains(string(lint), "[INFO]") {
		t.Errorf("helm lint: %v\n%s", err, lint)
	}
	for name, test := range map[string]struct {
		args []string
		want func(*testing.T) manifests
	}{
		"all":           {[]string{"--set", "allNamespaces=true"}, func(t *testing.T) manifests { return build(t, "config/default") }},
		"default":       {nil, func(t *testing.T) manifests { return build(t, "config/default") }},
		"namespaces":    {[]string{"--set", "watchNamespaces={shop,billing}"}, func(t *testing.T) manifests { return namespacedInstall(t, "shop,billing", "IMG="+controller) }},
		"cert-manager":  {[]string{"--set", "monitoring=cert-manager"}, with("components", "../prometheus/cert-manager")},
		"openshift":     {[]string{"--set", "monitoring=openshift"}, with("components", "../prometheus/openshift")},
		"certificate":   {[]string{"--set", "monitoring=certificate"}, with("components", "../prometheus/certificate")},
		"networkPolicy": {[]string{"--set", "networkPolicy.enabled=true"}, with("resources", "../network-policy")},
	} {
		t.Run(name, func(t *testing.T) { wantObjects(t, h.rendered(t, test.args...), test.want(t)) })
	}
	t.Run("values", h.testValues)
	t.Run("null", h.testNull)
	t.Run("refused", h.testRefused)
	t.Run("namespace", h.testNamespace)
}

// with renders config/default with one more folder of config.
func with(field, added string) func(*testing.T) manifests {
	return changed(func(kustomization map[string]any) {
		listed, _ := kustomization[field].([]any)
		kustomization[field] = append(listed, added)
	})
}

// changed renders config/default after its kustomization was changed.
func changed(change func(kustomization map[string]any)) func(*testing.T) manifests {
	return func(t *testing.T) manifests {
		t.Helper()
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "config"))); err != nil {
			t.Fatal(err)
		}
		var kustomization map[string]any
		file := filepath.Join(dir, "default", "kustomization.yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, &kustomization); err != nil {
			t.Fatal(err)
		}
		change(kustomization)
		if text, err = yaml.Marshal(kustomization); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		folder, err := filepath.Rel(testenv.Root(), filepath.Join(dir, "default"))
		if err != nil {
			t.Fatal(err)
		}
		return build(t, folder)
	}
}

// wantObjects compares what Helm would create with what kubectl would. Only these differ: the release's namespace is Helm's to create,
// it says that Helm manages the objects and is to keep the CRDs, and kustomize has a namespace of kinds that belong to none.
func wantObjects(t *testing.T, got, want manifests) {
	t.Helper()
	found := indexed(t, got)
	for key, object := range indexed(t, want) {
		other, ok := found[key]
		switch delete(found, key); {
		case !ok:
			t.Errorf("the chart lacks %s", key)
		case !reflect.DeepEqual(other, object):
			one, _ := yaml.Marshal(other)
			two, _ := yaml.Marshal(object)
			t.Errorf("%s of the chart is\n%s\nwant\n%s", key, one, two)
		}
	}
	for key := range found {
		t.Errorf("only the chart has %s", key)
	}
}

func indexed(t *testing.T, all manifests) map[string]any {
	t.Helper()
	found := map[string]any{}
	for _, object := range all {
		switch object.GetKind() {
		case "", "Namespace":
			continue
		case "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
			object.SetNamespace("")
		}
		if labels := object.GetLabels(); labels["app.kubernetes.io/managed-by"] != "" {
			labels["app.kubernetes.io/managed-by"] = "any"
			object.SetLabels(labels)
		}
		annotations := object.GetAnnotations()
		delete(annotations, "helm.sh/resource-policy")
		object.SetAnnotations(annotations)
		if object.GetKind() == "Deployment" {
			sortEnvironment(object)
		}
		key := object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
		if found[key] != nil {
			t.Errorf("%s is there twice", key)
		}
		// Through JSON, so that a number is the same however it was read.
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var plain any
		if err := json.Unmarshal(text, &plain); err != nil {
			t.Fatal(err)
		}
		found[key] = plain
	}
	return found
}

// sortEnvironment gives the variables of the operator an order: a patch of kustomize moves those that it changes to the top.
func sortEnvironment(object *unstructured.Unstructured) {
	spec := object.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	environment := spec["containers"].([]any)[0].(map[string]any)["env"].([]any)
	slices.SortFunc(environment, func(a, b any) int {
		return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
	})
}

// testRefused wants Helm to name a wrong value rather than to install something else.
func (h helm) testRefused(t *testing.T) {
	for set, want := range map[string]string{
		"replica=1":                                 "replica",
		"watchNamespaces={Shop}":                    "watchNamespaces",
		"watchNamespaces={a,a}":                     "watchNamespaces",
		"watchNamespaces={}":                        "watchNamespaces", // one name, which is empty
		"watchNamespaces={shop},allNamespaces=true": "set one of them",
		"allNamespaces=yes":                         "allNamespaces",
		"image.digest=latest":                       "digest",
		"monitoring=prometheus":                     "monitoring",
		"logLevel=warn":                             "logLevel",
		"env[0].name=OPERATOR_IMAGE":                "env",
		"env[0].name=WATCH_NAMESPACE,env[0].value=": "env",
	} {
		if output, err := h.template(t, "--set", set); err == nil || !strings.Contains(output, want) {
			t.Errorf("--set %s: %v\n%.300s", set, err, output)
		}
	}
}

// testNamespace installs elsewhere, where nothing is to be left of the usual namespace, and the CRDs are to be kept.
func (h helm) testNamespace(t *testing.T) {
	text, err := h.template(t, "--namespace", "elsewhere")
	if err != nil || strings.Contains(text, operator.Namespace) {
		t.Errorf("in namespace elsewhere: %v, want nothing in %s", err, operator.Namespace)
	}
	kept := 0
	for _, object := range parsed(t, []byte(text)) {
		if object.GetKind() == "CustomResourceDefinition" && object.GetAnnotations()["helm.sh/resource-policy"] == "keep" {
			kept++
		}
	}
	if all := len(build(t, "config/crd")); kept != all {
		t.Errorf("helm uninstall keeps %d CRDs of %d", kept, all)
	}
	if without := h.rendered(t, "--set", "crds.enabled=false"); slices.ContainsFunc(without, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "CustomResourceDefinition"
	}) {
		t.Error("there are CRDs with crds.enabled=false")
	}
}
