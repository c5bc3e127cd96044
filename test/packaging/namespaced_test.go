package packaging

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// operator is the ServiceAccount that the manifests create.
var operator = rbacv1.Subject{Kind: "ServiceAccount", Name: "etcd-operator-controller-manager", Namespace: "etcd-operator-system"}

// TestNamespacedInstall wants the operator's role in each of the namespaces, and nowhere else.
func TestNamespacedInstall(t *testing.T) {
	for _, list := range []string{"shop", "shop,billing", "etcd-operator-system,shop"} {
		t.Run(list, func(t *testing.T) {
			all, namespaces := namespacedInstall(t, list), strings.Split(list, ",")
			if got := all.environment(t)["WATCH_NAMESPACE"]; !reflect.DeepEqual(got, corev1.EnvVar{Name: "WATCH_NAMESPACE", Value: list}) {
				t.Errorf("the operator has %+v, want %s", got, list)
			}
			all.grantsInCluster(t)
			all.grantsIn(t, namespaces)
			all.exempts(t)
		})
	}
}

// grantsInCluster wants what is bound to the operator everywhere to be what belongs to no namespace.
func (m manifests) grantsInCluster(t *testing.T) {
	t.Helper()
	var granted []rbacv1.PolicyRule
	for _, binding := range every[rbacv1.ClusterRoleBinding](t, m, "ClusterRoleBinding") {
		if !slices.Equal(binding.Subjects, []rbacv1.Subject{operator}) {
			t.Errorf("%s binds %v", binding.Name, binding.Subjects)
		}
		granted = append(granted, m.rules(t, "ClusterRole", "", binding.RoleRef.Name)...)
	}
	want := rulesIn(t, "config/rbac/metrics_auth_role.yaml")
	if !reflect.DeepEqual(granted, want) {
		t.Errorf("it may everywhere %+v, want %+v", granted, want)
	}
	// The other ClusterRoles are for people, who have them only where somebody binds them.
	for _, role := range every[rbacv1.ClusterRole](t, m, "ClusterRole") {
		for _, r := range role.Rules {
			if !slices.ContainsFunc(want, func(w rbacv1.PolicyRule) bool { return reflect.DeepEqual(w, r) }) &&
				!slices.Equal(r.APIGroups, []string{"etcd.database.coreos.com"}) && !slices.Equal(r.NonResourceURLs, []string{"/metrics"}) {
				t.Errorf("ClusterRole %s has %+v", role.Name, r)
			}
		}
	}
}

// grantsIn wants the operator's role in the namespaces, and in its own the Lease of its leader election.
func (m manifests) grantsIn(t *testing.T, namespaces []string) {
	t.Helper()
	want := map[string][]rbacv1.PolicyRule{
		operator.Namespace + "/etcd-operator-leader-election-role": rulesIn(t, "config/rbac/leader_election_role.yaml"),
	}
	for _, name := range namespaces {
		want[name+"/etcd-operator-manager-role"] = rulesIn(t, "config/rbac/role.yaml")
	}
	got := map[string][]rbacv1.PolicyRule{}
	for _, binding := range every[rbacv1.RoleBinding](t, m, "RoleBinding") {
		if binding.RoleRef.Kind != "Role" || !slices.Equal(binding.Subjects, []rbacv1.Subject{operator}) {
			t.Errorf("%s in %s binds %+v to %+v", binding.Name, binding.Namespace, binding.RoleRef, binding.Subjects)
		}
		got[binding.Namespace+"/"+binding.RoleRef.Name] = m.rules(t, "Role", binding.Namespace, binding.RoleRef.Name)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it may %+v, want %+v", got, want)
	}
	if roles := every[rbacv1.Role](t, m, "Role"); len(roles) != len(want) {
		t.Errorf("there are %d roles, want %d", len(roles), len(want))
	}
}

// exempts wants every admission policy to let the operator do its work.
func (m manifests) exempts(t *testing.T) {
	t.Helper()
	found := 0
	for _, object := range m {
		if object.GetKind() != "ValidatingAdmissionPolicy" {
			continue
		}
		found++
		conditions, _, err := unstructured.NestedSlice(object.Object, "spec", "matchConditions")
		const want = "request.userInfo.username != 'system:serviceaccount:' + 'etcd-operator-system' + ':' + 'etcd-operator-controller-manager'"
		if err != nil || !slices.ContainsFunc(conditions, func(c any) bool {
			fields, ok := c.(map[string]any)
			return ok && fields["expression"] == want
		}) {
			t.Errorf("policy %s has %v (%v)", object.GetName(), conditions, err)
		}
	}
	if found != 6 {
		t.Errorf("there are %d policies, want 6", found)
	}
}

// TestNamespacedOperator wants the operator never to watch all namespaces, not even where nobody has listed any.
func TestNamespacedOperator(t *testing.T) {
	all := build(t, "config/namespaced/operator")
	got := all.environment(t)["WATCH_NAMESPACE"]
	if got.Value != "" || got.ValueFrom == nil || got.ValueFrom.FieldRef == nil || got.ValueFrom.FieldRef.FieldPath != "metadata.namespace" {
		t.Errorf("the operator has %+v", got)
	}
	all.grantsInCluster(t)
	all.grantsIn(t, nil)
}

// TestNamespacedLists has make refuse what is no list of namespaces, and say so.
func TestNamespacedLists(t *testing.T) {
	for _, list := range []string{
		"", ",", "shop,", ",shop", "shop,,billing", "shop, billing", "Shop", "shop;", "it's", "shop,billing,shop", strings.Repeat("a", 64),
	} {
		output, file, err := makeNamespaced(t, list)
		if exit := (&exec.ExitError{}); !errors.As(err, &exit) || !strings.Contains(output, "NAMESPACES") {
			t.Errorf("%q: %v\n%s", list, err, output)
		}
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("%q: there is a file (%v)", list, err)
		}
	}
}

// namespacedInstall is what make writes for a list of namespaces.
func namespacedInstall(t *testing.T, list string, args ...string) manifests {
	t.Helper()
	output, file, err := makeNamespaced(t, list, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, text)
}

// makeNamespaced runs make as a user does, in folders of its own, and gives what it has printed and the file that it writes.
func makeNamespaced(t *testing.T, list string, args ...string) (output, file string, err error) {
	t.Helper()
	dir := t.TempDir()
	output, err = inRoot(t, append(args, "build-namespaced", "NAMESPACES="+list, "BIN="+dir+"/bin", "DIST="+dir)...)
	return output, filepath.Join(dir, "install-namespaced.yaml"), err
}

// inRoot runs make in the source tree.
func inRoot(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", append([]string{"-C", root}, args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=") // of a make that runs this test
	})
	printed, err := cmd.CombinedOutput()
	return string(printed), err
}
