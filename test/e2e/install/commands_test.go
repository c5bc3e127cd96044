package install

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestThreeCommands runs the commands that lead from nothing to a cluster on volumes, with TLS, whose members answer etcdctl, as they stand
// in the document, and says how long that takes.
func TestThreeCommands(t *testing.T) {
	const namespace = "install-three"
	s := begin(t)
	s.namespace(namespace)
	must(t, s.Namespace(t.Context(), namespace))
	s.worksIn(namespace)
	commands := s.commands("install.md", "Three commands", "etcdctl endpoint health")
	start := time.Now()
	out := s.types(this, s.path, commands)
	t.Logf("%.1f s from the first command to the answer of all members", time.Since(start).Seconds())
	if answered := strings.Count(out, " is healthy: "); answered != 3 {
		t.Errorf("%d members answer, want 3: %s", answered, out)
	}
	c := &harness.Cluster{Env: s.Env, Namespace: namespace, Name: "example-tls"}
	object, err := c.Get(t.Context())
	must(t, err)
	if endpoints := strings.Join(object.Status.Endpoints, ","); object.Status.Storage != v1beta2.MemberStoragePVC || !strings.HasPrefix(endpoints, "https://") {
		t.Errorf("the members are on %s, and clients connect to %s", object.Status.Storage, endpoints)
	}
	s.allowed()

	must(t, s.removeObjects(t.Context()))
	s.types(this, s.path, s.commands("install.md", "Uninstall", "kubectl delete crd"))
	if left := s.types(this, s.path, "kubectl get crd -o name"); strings.Contains(left, v1beta2.GroupVersion.Group) {
		t.Errorf("these CRDs are left: %s", left)
	}
}
