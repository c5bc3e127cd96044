package packaging

import (
	"fmt"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestLegacyCRDsReplaced types the command of docs/migrate.md that puts this operator's CRDs in the place of those of coreos/etcd-operator. Without it
// they cannot be applied, and with it the objects are still there, and the next upgrade takes --force-conflicts.
func TestLegacyCRDsReplaced(t *testing.T) {
	r := newcomer(t)
	r.types("kubectl delete -k config/crd")
	for plural, kind := range map[string]string{"etcdclusters": "EtcdCluster", "etcdbackups": "EtcdBackup", "etcdrestores": "EtcdRestore"} {
		r.types("kubectl create -f - <<EOF\n" + legacyCRD(plural, kind) + "EOF\nkubectl wait --for=condition=Established crd/" + plural + "." + v1beta2.GroupVersion.Group)
	}
	r.types(`kubectl create -f - <<EOF
{apiVersion: etcd.database.coreos.com/v1beta2, kind: EtcdCluster, metadata: {name: old}, spec: {size: 3, version: 3.2.13}, status: {phase: Running}}
EOF`)
	r.conflicts("kubectl apply --server-side --dry-run=server -k config/crd")

	if out, err := r.try(r.commands("migrate.md", "From coreos/etcd-operator", "kubectl replace")); err == nil || strings.Count(out, "(NotFound)") != 2 {
		t.Errorf("the document says that two CRDs are not found: %v\n%s", err, out)
	}
	r.types("kubectl apply --server-side -k config/default")
	const next = "kubectl kustomize config/crd | sed 's/maximum: 9$/maximum: 7/' | kubectl apply --server-side -f -"
	r.conflicts(next)
	r.types(next + " --force-conflicts")
	r.prints("kubectl get etcdcluster old -o jsonpath='{.spec.size} {.spec.version} {.status.phase}'", "3 3.2.13 Running")
	if out, err := r.try("kubectl scale etcd old --replicas=9"); err == nil || !strings.Contains(out, "spec.size") {
		t.Errorf("the new schema does not count: %v, %s", err, out)
	}
}

// conflicts wants a command to be refused because other managers own fields.
func (r *reader) conflicts(command string) {
	r.t.Helper()
	if out, err := r.try(command); err == nil || !strings.Contains(out, "conflict") || !strings.Contains(out, ".spec.versions") {
		r.t.Errorf("%s was to be refused with conflicts: %v\n%s", command, err, out)
	}
}

// legacyCRD is a CRD as that operator makes it, if it can: its schema takes anything.
func legacyCRD(plural, kind string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[3]s}
spec:
  group: %[3]s
  scope: Namespaced
  names: {plural: %[1]s, singular: %[4]s, kind: %[2]s, listKind: %[2]sList}
  versions:
  - {name: %[5]s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, plural, kind, v1beta2.GroupVersion.Group, strings.ToLower(kind), v1beta2.GroupVersion.Version)
}
