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

func newHelm(t *testing.T) helm {
	t.Helper()
	dir := t.TempDir()
	if output, err := inRoot(t, "chart", "VERSION=9.8.7", "IMG="+controller, "BIN="+dir+"/bin", "DIST="+dir); err != nil {
		t.Fatalf("make chart: %v\n%s", err, output)
	}
	return helm{asset(t, "TEST_ASSET_HELM"), filepath.Join(dir, "etcd-operator-9.8.7.tgz")}
}

// controller is the image in config, so that what kustomize renders needs no other.
const controller = "controller:latest"

// template renders the chart with arguments.
func (h helm) template(t *testing.T, args ...string) (string, error) {
	t.Helper()
	args = append([]string{"template", "any", h.chart, "--kube-version", "1.30.0", "--namespace", operator.Namespace}, args...)
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
	t.Run("refused", h.testRefused)
	t.Run("namespace", h.testNamespace)
}

// with renders config/default with one more folder of config.
func with(field, added string) func(*testing.T) manifests {
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
		listed, _ := kustomization[field].([]any)
		kustomization[field] = append(listed, added)
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

// testValues sets all values that change the operator's pod.
func (h helm) testValues(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	values := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(values, []byte(`
image: {repository: "mirror.example.com:5000/etcd-operator", tag: v1, digest: "`+digest+`", pullPolicy: Always}
imagePullSecrets: [{name: mirror}]
replicas: 2
resources: {requests: {cpu: 2}}
nodeSelector: {disk: fast}
affinity: {}
tolerations: [{key: k, operator: Exists}]
priorityClassName: ""
podLabels: {team: storage, control-plane: mine}
podAnnotations: {note: here}
env: [{name: ETCD_REPOSITORY, value: mirror.example.com/etcd}, {name: RELATED_IMAGE_ETCD_3_6_16, value: "x@`+digest+`"}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	d := deploymentOf(t, h.rendered(t, "--values", values))
	pod := d["template"].(map[string]any)["spec"].(map[string]any)
	const image = "mirror.example.com:5000/etcd-operator@" + digest
	manager := pod["containers"].([]any)[0].(map[string]any)
	environment := map[string]any{}
	for _, v := range manager["env"].([]any) {
		v := v.(map[string]any)
		if name := v["name"].(string); environment[name] == nil {
			environment[name] = v["value"]
		} else {
			t.Errorf("%s is there twice", name)
		}
	}
	metadata := d["template"].(map[string]any)["metadata"].(map[string]any)
	_, affine := pod["affinity"]
	_, important := pod["priorityClassName"]
	for what, pair := range map[string][2]any{
		"image": {manager["image"], image}, "OPERATOR_IMAGE": {environment["OPERATOR_IMAGE"], image},
		"pull policy": {manager["imagePullPolicy"], "Always"}, "ETCD_REPOSITORY": {environment["ETCD_REPOSITORY"], "mirror.example.com/etcd"},
		"RELATED_IMAGE_ETCD_3_6_16": {environment["RELATED_IMAGE_ETCD_3_6_16"], "x@" + digest},
		"pull Secrets":              {pod["imagePullSecrets"], []any{map[string]any{"name": "mirror"}}},
		"replicas":                  {d["replicas"], int64(2)},
		"resources":                 {manager["resources"], map[string]any{"requests": map[string]any{"cpu": 2, "memory": "128Mi"}, "limits": map[string]any{"memory": "512Mi"}}},
		"node selector":             {pod["nodeSelector"], map[string]any{"disk": "fast"}},
		"tolerations":               {pod["tolerations"], []any{map[string]any{"key": "k", "operator": "Exists"}}},
		"priority class":            {important, false},
		"labels":                    {metadata["labels"], map[string]any{"team": "storage", "control-plane": "controller-manager", "app.kubernetes.io/name": "etcd-operator"}},
		"note":                      {metadata["annotations"].(map[string]any)["note"], "here"},
		"affinity":                  {affine, true}, // Helm merges maps: only null takes a default away
	} {
		if asJSON(pair[0]) != asJSON(pair[1]) {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
}

// asJSON makes values comparable.
func asJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func deploymentOf(t *testing.T, all manifests) map[string]any {
	t.Helper()
	i := slices.IndexFunc(all, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Deployment" })
	if i < 0 {
		t.Fatal("there is no Deployment")
	}
	return all[i].Object["spec"].(map[string]any)
}

// testRefused wants Helm to name a wrong value rather than to install something else.
func (h helm) testRefused(t *testing.T) {
	for set, want := range map[string]string{
		"replica=1":                                 "replica",
		"watchNamespaces={Shop}":                    "watchNamespaces",
		"watchNamespaces={a,a}":                     "watchNamespaces",
		"watchNamespaces={}":                        "watchNamespaces", // one name, which is empty
		"image.digest=latest":                       "digest",
		"monitoring=prometheus":                     "monitoring",
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

// TestChartValues wants docs/install.md to have a row for each value, with its default and the comment in values.yaml.
func TestChartValues(t *testing.T) {
	var rows []string
	section := ""
	comment := ""
	for line := range strings.Lines(string(read(t, "config/chart/values.yaml"))) {
		if line = strings.TrimRight(line, "\n"); line == "" {
			comment = ""
		}
		name, value, found := strings.Cut(strings.TrimSpace(line), ":")
		switch nested := strings.HasPrefix(line, "  "); {
		case strings.HasPrefix(strings.TrimSpace(line), "# "):
			comment = strings.TrimPrefix(strings.TrimSpace(line), "# ")
			continue
		case !found || comment == "" && nested || strings.HasPrefix(line, "- "):
			continue
		case comment == "":
			section = name + "."
			continue
		case nested:
			name = section + name
		}
		rows = append(rows, "| `"+name+"` | "+shown(value)+" | "+comment+" |")
		comment = ""
	}
	if len(rows) < 15 {
		t.Fatalf("this test finds only %d values", len(rows))
	}
	text := string(read(t, "docs/install.md"))
	for _, row := range rows {
		if !strings.Contains(text, row+"\n") {
			t.Errorf("docs/install.md lacks the row\n%s", row)
		}
	}
}

// shown is how the table has a default: what takes several lines is in values.yaml.
func shown(value string) string {
	switch value = strings.Trim(strings.TrimSpace(value), `"`); value {
	case "":
		return ""
	default:
		return "`" + value + "`"
	}
}
