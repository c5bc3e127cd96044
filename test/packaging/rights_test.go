package packaging

import (
	"reflect"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
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
