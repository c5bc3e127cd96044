package stories

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/rights"
)

// TestSomeNamespaces installs the operator for two namespaces, as make build-namespaced has it: it serves these, and sees nothing of
// a third one. No other story runs meanwhile.
func TestSomeNamespaces(t *testing.T) {
	const first, second, outside = "story-served-a", "story-served-b", "story-outside"
	for _, name := range []string{first, second, outside} {
		must(t, harness.Await(t.Context(), "the namespace of an earlier run is gone", limit, absent(name)))
		must(t, env.Namespace(t.Context(), name))
		t.Cleanup(func() { deleteNamespace(t, name) })
	}
	file := namespacedYAML(t, first, second)
	since := onlyIn(t, file)

	ignored, err := env.NewCluster(t.Context(), outside, "ignored", onVolumes(1))
	must(t, err)
	for _, namespace := range []string{first, second} {
		cluster, err := env.NewCluster(t.Context(), namespace, "served", onVolumes(1))
		must(t, err)
		s := &story{Cluster: cluster, t: t}
		t.Cleanup(func() {
			if t.Failed() {
				describe(t, cluster)
			}
		})
		s.healthy("in " + namespace)
		s.resize(3)
		s.healthy("1 to 3 in " + namespace)
		s.backup("served", s.volume(), nil)
		s.backedUp("served")
	}
	must(t, ignored.Untouched(t.Context()))
	for _, namespace := range []string{outside, metav1.NamespaceAll} {
		for verb, resource := range map[string]string{"list": "pods", "create": "pods", "get": "secrets", "watch": "etcdclusters"} {
			mayNot(t, namespace, verb, resource)
		}
	}
	granted, err := rights.Operators(t.Context(), env)
	must(t, err)
	must(t, rightly(granted, since, false))
	asksOnlyIn(t, since, first, second, harness.OperatorNamespace)
}

// namespacedYAML is what make writes for the namespaces.
func namespacedYAML(t *testing.T, namespaces ...string) (file string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "make", "-C", env.Root, "build-namespaced",
		"NAMESPACES="+strings.Join(namespaces, ","), "IMG="+env.Image, "BIN="+dir+"/bin", "DIST="+dir)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=") // of the make that runs the stories
	})
	if printed, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	return filepath.Join(dir, "install-namespaced.yaml")
}

// onlyIn puts an installation for some namespaces in the place of that for all, until the test ends, and tells since when.
func onlyIn(t *testing.T, file string) (since time.Time) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
		defer cancel()
		// First, because it would go on with other rights than those that it was started for.
		if err := withoutOperator(ctx); err != nil {
			t.Error(err)
		}
		if err := env.Deploy(ctx); err != nil {
			t.Error(err)
		}
	})
	must(t, withoutOperator(t.Context()))
	since = time.Now()
	const role = "etcd-operator-manager-role"
	must(t, client.IgnoreNotFound(env.Delete(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role + "binding"}})))
	must(t, client.IgnoreNotFound(env.Delete(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: role}})))
	must(t, env.Run(t.Context(), "apply", "--server-side", "--force-conflicts", "-f", file))
	must(t, env.Run(t.Context(), "rollout", "status", "--timeout=3m", "-n", harness.OperatorNamespace, "deployment/"+operatorDeployment))
	return since
}

// withoutOperator ends the operator and waits until it is gone.
func withoutOperator(ctx context.Context) error {
	if err := env.Run(ctx, "scale", "-n", harness.OperatorNamespace, "deployment/"+operatorDeployment, "--replicas=0"); err != nil {
		return err
	}
	return harness.Await(ctx, "no operator", limit, func(ctx context.Context) (string, bool) {
		pods, err := operators(ctx)
		return fmt.Sprintf("%d operators, %v", len(pods), err), err == nil && len(pods) == 0
	})
}

// mayNot asks the API server whether the operator may do something; the namespace is empty for all.
func mayNot(t *testing.T, namespace, verb, resource string) {
	t.Helper()
	asked := authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Resource: resource}
	if resource == "etcdclusters" {
		asked.Group = v1beta2.GroupVersion.Group
	}
	allowed, err := env.OperatorMay(t.Context(), asked)
	must(t, err)
	if allowed {
		t.Errorf("it may %s %s in %q", verb, resource, namespace)
	}
}

// asksOnlyIn wants no request of the operator to be about anything outside of some namespaces, allowed or not, except who wants the
// metrics.
func asksOnlyIn(t *testing.T, since time.Time, namespaces ...string) {
	t.Helper()
	files, err := nodes.AuditLogs()
	must(t, err)
	outside, err := rights.Outside(files, since, namespaces...)
	must(t, err)
	for _, r := range outside {
		t.Errorf("it asks to %s", r)
	}
}
