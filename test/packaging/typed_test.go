package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/internal/testenv"
	"github.com/etcdpilot/etcd-operator/test/documents"
)

// prompt is where somebody types commands for kubectl, who may do everything on an API server that runs nothing.
type prompt struct {
	*testing.T
	kubectl, kubeconfig, folder string
	client                      client.Client
}

// newPrompt has the operator's Deployment in dist/install.yaml, as make build-installer writes it. The CRDs are there already.
func newPrompt(t *testing.T) *prompt {
	t.Helper()
	config := testenv.Start(t)
	p := &prompt{t, asset(t, "TEST_ASSET_KUBECTL"), kubeconfigOf(t, config), t.TempDir(), testenv.Client(t, config)}
	var text strings.Builder
	for _, object := range build(t, "config/default") {
		if kind := object.GetKind(); kind != "Namespace" && kind != "Deployment" {
			continue
		}
		document, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n" + string(document))
	}
	if err := os.Mkdir(filepath.Join(p.folder, "dist"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.folder, "dist", "install.yaml"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// block is the only block of commands in a document that has a text.
func (p *prompt) block(document, having string) (text string) {
	p.Helper()
	found := 0
	for _, block := range documents.Blocks(document, texts(p.T)[document]) {
		if block.Language == "sh" && strings.Contains(block.Text, having) {
			text = block.Text
			found++
		}
	}
	if found != 1 {
		p.Fatalf("%s has %d blocks of commands with %q", document, found, having)
	}
	return text
}

// try runs commands, and returns what they print.
func (p *prompt) try(commands string) (string, error) {
	cmd := exec.CommandContext(p.Context(), "sh", "-ec", commands)
	cmd.Dir = p.folder
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig, "PATH="+filepath.Dir(p.kubectl)+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// types wants commands to work.
func (p *prompt) types(commands string) {
	p.Helper()
	if out, err := p.try(commands); err != nil {
		p.Fatalf("%v\n%s\n%s", err, commands, out)
	}
}

// watches wants the operator to be given namespaces by an annotation of its pods, which has this value, or is not there.
func (p *prompt) watches(namespaces string) {
	p.Helper()
	d := &appsv1.Deployment{}
	if err := p.client.Get(p.Context(), client.ObjectKey{Namespace: operator.Namespace, Name: "etcd-operator-controller-manager"}, d); err != nil {
		p.Fatal(err)
	}
	const name = "olm.targetNamespaces"
	value, found := d.Spec.Template.Annotations[name]
	if value != namespaces || found != (namespaces != "") {
		p.Errorf("the annotation is %q (%t), want %q", value, found, namespaces)
	}
	for _, v := range d.Spec.Template.Spec.Containers[0].Env {
		if v.Name == "WATCH_NAMESPACE" && (v.Value != "" || v.ValueFrom == nil || !strings.Contains(v.ValueFrom.FieldRef.FieldPath, name)) {
			p.Errorf("the operator has %+v, want a reference to the annotation", v)
		}
	}
}

// TestRestrictedByAnnotation types what docs/install.md says of how to restrict an operator that was installed for all namespaces, and what it warns of.
func TestRestrictedByAnnotation(t *testing.T) {
	const document = "docs/install.md"
	p := newPrompt(t)
	_, applies, _ := strings.Cut(p.block(document, "dist/install.yaml"), "\n") // make has been run
	applies, _, _ = strings.Cut(applies, "\n")
	patches := p.block(document, `"olm.targetNamespaces":"shop,billing"`)
	p.types(applies)
	p.watches("")
	p.types(patches)
	p.types(applies)
	p.watches("shop,billing")
	p.types(strings.Replace(patches, `"shop,billing"`, "null", 1))
	p.types(applies)
	p.watches("")

	const set = "kubectl -n etcd-operator-system set env deployment/etcd-operator-controller-manager "
	p.types(set + "WATCH_NAMESPACE=shop")
	out, err := p.try(applies)
	for _, says := range []string{"valueFrom: ", "may not be specified when value is not empty"} {
		if err == nil || !strings.Contains(strings.ReplaceAll(out, "`", ""), says) {
			t.Errorf("the next apply: %v, want %q\n%s", err, says, out)
		}
	}
	p.types(set + "WATCH_NAMESPACE-")
	p.types(applies)
	p.watches("")
}

// TestProbeIsRestricted has the pod from which docs/operations.md probes a NetworkPolicy admitted where pods have to be restricted.
func TestProbeIsRestricted(t *testing.T) {
	p := newPrompt(t)
	namespace := &corev1.Namespace{}
	namespace.Name, namespace.Labels = "restricted", map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	if err := p.client.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	_, runs, _ := strings.Cut(p.block("docs/operations.md", "kubectl run probe"), "kubectl run ")
	runs = "kubectl -n restricted run " + runs
	// What is only tried cannot be talked to.
	for old, other := range map[string]string{"--rm -i": "--dry-run=server", "IMAGE": "registry.example.com/nc", "$IP": "192.0.2.1"} {
		if !strings.Contains(runs, old) {
			t.Fatalf("there is no %q in %s", old, runs)
		}
		runs = strings.Replace(runs, old, other, 1)
	}
	p.types(runs)
	bare := strings.Replace(runs, `"runAsNonRoot": true, `, "", 1)
	if out, err := p.try(bare); err == nil || !strings.Contains(out, "runAsNonRoot") {
		t.Errorf("a pod that may run as root: %v\n%s", err, out)
	}
}
