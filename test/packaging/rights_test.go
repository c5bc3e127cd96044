package packaging

import (
	"reflect"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/etcdpilot/etcd-operator/controllers/reservations"
)

// TestBundleGrantsInNamespaces wants OLM to grant the operator's role in the namespaces of the OperatorGroup, and in the whole
// Kubernetes cluster only what is in no namespace: to ask who wants the metrics, and whether they may.
func TestBundleGrantsInNamespaces(t *testing.T) {
	unscoped := []string{"tokenreviews", "subjectaccessreviews"}
	install := readCSV(t).Spec.Install.Spec
	namespaced, clusterWide := rules(install.Permissions), rules(install.ClusterPermissions)
	var reviewed []string
	for _, r := range clusterWide {
		for _, resource := range r.Resources {
			reviewed = append(reviewed, resource)
			if !slices.Contains(unscoped, resource) {
				t.Errorf("the bundle grants %v on %s everywhere", r.Verbs, resource)
			}
		}
	}
	if len(reviewed) != len(unscoped) {
		t.Errorf("everywhere it grants rights on %v, want %v", reviewed, unscoped)
	}
	want := append(rulesOf(t, "config/rbac/role.yaml"), rulesOf(t, "config/rbac/leader_election_role.yaml")...)
	for _, r := range want {
		if !slices.ContainsFunc(namespaced, func(got rule) bool { return reflect.DeepEqual(got, r) }) {
			t.Errorf("in namespaces it does not grant %+v", r)
		}
	}
	if len(namespaced) != len(want) {
		t.Errorf("in namespaces it grants %d rules, want %d", len(namespaced), len(want))
	}
}

// TestOwnLeaseOnly wants the operator to read and write no Lease but its own: in its namespace there may be other people's.
func TestOwnLeaseOnly(t *testing.T) {
	named := 0
	for _, r := range append(rulesOf(t, "config/rbac/leader_election_role.yaml"), rulesOf(t, "config/rbac/role.yaml")...) {
		if !slices.Contains(r.Resources, "leases") || slices.Equal(r.Verbs, []string{"create"}) { // what is created has no name yet
			continue
		}
		if named++; !slices.Equal(r.ResourceNames, []string{reservations.LeaseName}) {
			t.Errorf("it may %v Leases %v, want %s only", r.Verbs, r.ResourceNames, reservations.LeaseName)
		}
	}
	if named != 2 {
		t.Errorf("there are %d rules about named Leases, want that of leader election, and that of other operators", named)
	}
}

func rules(granted []permission) (all []rule) {
	for _, p := range granted {
		all = append(all, p.Rules...)
	}
	return all
}

func rulesOf(t *testing.T, file string) []rule {
	t.Helper()
	var role permission
	if err := yaml.UnmarshalStrict(read(t, file), &struct {
		APIVersion any     `json:"apiVersion"`
		Kind       any     `json:"kind"`
		Metadata   any     `json:"metadata"`
		Rules      *[]rule `json:"rules"`
	}{Rules: &role.Rules}); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}
