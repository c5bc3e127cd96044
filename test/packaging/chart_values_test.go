package packaging

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

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
logLevel: debug
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
		"arguments":                 {manager["args"], []string{"--metrics-bind-address=:8443", "--leader-elect", "--health-probe-bind-address=:8081", "--zap-log-level=debug"}},
		"note":                      {metadata["annotations"].(map[string]any)["note"], "here"},
		"affinity":                  {affine, true}, // Helm merges maps: only null takes a default away
	} {
		if asJSON(pair[0]) != asJSON(pair[1]) {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
}

// testNull takes each value away. Helm names it, or the operator is installed without it, and with all that makes it run.
func (h helm) testNull(t *testing.T) {
	var values map[string]any
	if err := yaml.Unmarshal(read(t, "config/chart/values.yaml"), &values); err != nil {
		t.Fatal(err)
	}
	names := slices.Collect(maps.Keys(values))
	for _, of := range []string{"image", "networkPolicy", "crds"} {
		for name := range values[of].(map[string]any) {
			names = append(names, of+"."+name)
		}
	}
	needed := []string{"image", "image.pullPolicy", "replicas", "monitoring", "networkPolicy", "networkPolicy.enabled", "crds", "crds.enabled"}
	for _, name := range names {
		text, err := h.template(t, "--set", name+"=null")
		if slices.Contains(needed, name) {
			if parts := strings.Split(name, "."); err == nil || !strings.Contains(text, parts[len(parts)-1]+" is required") &&
				!strings.Contains(text, "missing property '"+parts[len(parts)-1]+"'") {
				t.Errorf("%s is null: %v\n%.300s", name, err, text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s is null: %v\n%.300s", name, err, text)
			continue
		}
		manager := deploymentOf(t, parsed(t, []byte(text)))["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
		if manager["image"] != controller || len(manager["env"].([]any)) < 3 {
			t.Errorf("%s is null: the operator is %v", name, manager)
		}
	}
}

// TestChartImage renders the chart of a release whose image has a tag, a digest, or both, with values that say otherwise.
func TestChartImage(t *testing.T) {
	const digest, other = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "sha256:" +
		"fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
	const repository = "registry.example.com:5000/a/etcd-operator"
	for released, wanted := range map[string]map[string]string{
		repository + ":v1": {
			"replicas=1": repository + ":v1", "image.tag=v2": repository + ":v2", "image.digest=" + other: repository + "@" + other,
			"image.repository=mirror:5000/b": "mirror:5000/b:v1",
		},
		repository + "@" + digest: {
			"replicas=1": repository + "@" + digest, "image.tag=v2": repository + ":v2", "image.digest=" + other: repository + "@" + other,
			"image.repository=mirror:5000/b": "mirror:5000/b@" + digest,
		},
		repository + ":v1@" + digest: {
			"replicas=1": repository + ":v1@" + digest, "image.tag=v2": repository + ":v2", "image.digest=" + other: repository + "@" + other,
			"image.repository=mirror:5000/b": "mirror:5000/b:v1@" + digest, "image.tag=v2,image.digest=" + other: repository + "@" + other,
		},
	} {
		h := newHelm(t, "IMG="+released)
		for set, want := range wanted {
			pod := deploymentOf(t, h.rendered(t, "--set", set))["template"].(map[string]any)["spec"].(map[string]any)
			if got := pod["containers"].([]any)[0].(map[string]any)["image"]; got != want {
				t.Errorf("%s with %s: %s, want %s", released, set, got, want)
			}
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
