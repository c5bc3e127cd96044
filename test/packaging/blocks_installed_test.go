package packaging

import (
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// installs applies the policies of OLM's installation, renders the chart, and lists images.
func (r *reader) installs() {
	const policies = "kubectl get validatingadmissionpolicy,validatingadmissionpolicybinding -o name | grep -c /etcdcluster-access || true"
	r.types(r.commands("install.md", "With OLM", "apply --server-side -k config/admission"))
	r.prints(policies, "2")
	r.types(r.commands("install.md", "Move to another namespace", "delete -k config/admission"))
	r.prints(policies, "0")

	r.renders()
	var c csv
	if err := yaml.Unmarshal(read(r.t, csvFile), &c); err != nil {
		r.t.Fatal(err)
	}
	var want []string
	for _, image := range c.Spec.RelatedImages {
		want = append(want, image.Image)
	}
	if len(want) == 0 {
		r.t.Error("the bundle lists no images")
	}
	r.prints(r.commands("install.md", "Without the Internet", "relatedImages"), strings.Join(want, "\n"))
}

// renders has Helm render the chart's file.
func (r *reader) renders() {
	r.t.Helper()
	if output, err := inRoot(r.t, "chart", "VERSION="+releaseVersion(r.t), "IMG=registry.example.com/etcd-operator:any", "DIST="+filepath.Join(r.folder, "dist")); err != nil {
		r.t.Fatalf("make chart: %v\n%s", err, output)
	}
	if out := r.types(r.commands("install.md", "Helm", "helm template")); !strings.Contains(out, "name: etcd-operator-controller-manager") {
		r.t.Errorf("Helm renders %s", out)
	}
}

// removes takes rights away.
func (r *reader) removes() {
	_, file, err := makeNamespaced(r.t, "shop,billing", "IMG=registry.example.com/etcd-operator:any")
	if err != nil {
		r.t.Fatal(err)
	}
	r.types("kubectl apply --server-side --force-conflicts -f " + file)
	const rights = "kubectl get role,rolebinding -A -o name | grep -c /etcd-operator-manager || true"
	r.prints(rights, "4")
	if out := r.types(r.commands("install.md", "YAML", "delete role,rolebinding")); strings.Count(out, "deleted") != 2 {
		r.t.Errorf("it takes away %s", out)
	}
	r.prints(rights, "2")
	r.types(r.commands("install.md", "YAML", "clusterrole/etcd-operator-manager-role"))
	r.prints("kubectl get clusterrole,clusterrolebinding -o name | grep -c /etcd-operator-manager || true", "0")
}
