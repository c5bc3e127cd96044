package packaging

import (
	"os"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// restricts types what docs/install.md says of how to restrict an operator that was installed for all namespaces, and what it warns of.
func (r *reader) restricts() {
	r.builtInstaller()
	applies := r.commands("install.md", "YAML", "dist/install.yaml", "make ", "kubectl -n ")
	patches := r.commands("install.md", "YAML", `"olm.targetNamespaces":"shop,billing"`)
	r.types(applies)
	r.watches("")
	r.types(patches)
	r.types(applies)
	r.watches("shop,billing")
	r.types(strings.Replace(patches, `"shop,billing"`, "null", 1))
	r.types(applies)
	r.watches("")

	const set = "kubectl -n etcd-operator-system set env deployment/etcd-operator-controller-manager "
	r.types(set + "WATCH_NAMESPACE=shop")
	out, err := r.try(applies)
	for _, says := range []string{"valueFrom: ", "may not be specified when value is not empty"} {
		if err == nil || !strings.Contains(strings.ReplaceAll(out, "`", ""), says) {
			r.t.Errorf("the next apply: %v, want %q\n%s", err, says, out)
		}
	}
	r.types(set + "WATCH_NAMESPACE-")
	r.types(applies)
	r.watches("")
}

// builtInstaller writes the operator's Deployment to dist/install.yaml, as make build-installer does.
func (r *reader) builtInstaller() {
	r.t.Helper()
	var text strings.Builder
	for _, object := range build(r.t, "config/default") {
		if kind := object.GetKind(); kind != "Namespace" && kind != "Deployment" {
			continue
		}
		document, err := yaml.Marshal(object)
		if err != nil {
			r.t.Fatal(err)
		}
		text.WriteString("---\n" + string(document))
	}
	dist := filepath.Join(r.folder, "dist")
	if err := os.MkdirAll(dist, 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dist, "install.yaml"), []byte(text.String()), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// watches wants the operator to be given namespaces by an annotation of its pods, which has this value, or is not there.
func (r *reader) watches(namespaces string) {
	r.t.Helper()
	d := &appsv1.Deployment{}
	if err := r.Get(r.t.Context(), client.ObjectKey{Namespace: operator.Namespace, Name: "etcd-operator-controller-manager"}, d); err != nil {
		r.t.Fatal(err)
	}
	const name = "olm.targetNamespaces"
	value, found := d.Spec.Template.Annotations[name]
	if value != namespaces || found != (namespaces != "") {
		r.t.Errorf("the annotation is %q (%t), want %q", value, found, namespaces)
	}
	for _, v := range d.Spec.Template.Spec.Containers[0].Env {
		if v.Name == "WATCH_NAMESPACE" && (v.Value != "" || v.ValueFrom == nil || !strings.Contains(v.ValueFrom.FieldRef.FieldPath, name)) {
			r.t.Errorf("the operator has %+v, want a reference to the annotation", v)
		}
	}
}

// probes has the pod from which docs/operations.md probes a NetworkPolicy admitted where pods have to be restricted.
func (r *reader) probes() {
	namespace := &corev1.Namespace{}
	namespace.Name, namespace.Labels = "restricted", map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	if err := r.Create(r.t.Context(), namespace); err != nil {
		r.t.Fatal(err)
	}
	probe := r.block("operations.md", "Who reaches the members", "kubectl run probe")
	_, runs, _ := strings.Cut(probe.Text, "kubectl run ")
	runs = "kubectl -n restricted run " + runs
	// What is only tried cannot be talked to.
	for old, other := range map[string]string{"--rm -i": "--dry-run=server", "IMAGE": "registry.example.com/nc", "$IP": "192.0.2.1"} {
		if !strings.Contains(runs, old) {
			r.t.Fatalf("there is no %q in %s", old, runs)
		}
		runs = strings.Replace(runs, old, other, 1)
	}
	r.types(runs)
	bare := strings.Replace(runs, `"runAsNonRoot": true, `, "", 1)
	if out, err := r.try(bare); err == nil || !strings.Contains(out, "runAsNonRoot") {
		r.t.Errorf("a pod that may run as root: %v\n%s", err, out)
	}
}
