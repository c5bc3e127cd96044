package etcdcluster_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// TestAnotherDefaultUpdatesNothing has a cluster run the version that was the default of the operator that started it, and be
// reconciled by one with another default: no member is touched until the user names a version.
func TestAnotherDefaultUpdatesNothing(t *testing.T) {
	const before = "3.6.15"
	if before == version.DefaultEtcd {
		t.Fatal("the test wants another default")
	}
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "kept"}
	w.cluster(t, name)
	w.change(t, name, func(c *v1beta2.EtcdCluster) { c.Spec.Version = before })
	w.settle(t, name)
	w.recordedEvents()

	for who, change := range map[string]func(*v1beta2.EtcdCluster){
		"named it": func(*v1beta2.EtcdCluster) {},
		"did not name it": func(c *v1beta2.EtcdCluster) {
			c.Status.AcceptedSpec.Raw = bytes.Replace(c.Status.AcceptedSpec.Raw, []byte(`"version":"`+before+`"`), []byte(`"version":""`), 1)
		},
	} {
		w.change(t, name, func(c *v1beta2.EtcdCluster) { c.Spec.Version = "" })
		w.change(t, name, change)
		w.settle(t, name)
		if got := w.versions(t); !slices.Equal(got, []string{before, before, before}) {
			t.Errorf("noted by an operator that %s: the members run %q, want %s", who, got, before)
		}
		c := &v1beta2.EtcdCluster{}
		must(t, w.api.Get(t.Context(), name, c))
		if c.Status.TargetVersion != "" || !strings.Contains(string(c.Status.AcceptedSpec.Raw), `"version":"`+before+`"`) {
			t.Errorf("noted by an operator that %s: %s is to run, of %s", who, c.Status.TargetVersion, c.Status.AcceptedSpec.Raw)
		}
		if recorded := w.recordedEvents(); recorded != "" {
			t.Errorf("noted by an operator that %s: events %s", who, recorded)
		}
	}

	w.makeReady(t)
	w.change(t, name, func(c *v1beta2.EtcdCluster) { c.Spec.Version = version.DefaultEtcd })
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); { // it waits for clients of the member
		_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
		if slices.Contains(w.versions(t), version.DefaultEtcd) {
			return
		}
	}
	t.Errorf("the user names %s, and the members run %q; events: %s", version.DefaultEtcd, w.versions(t), w.recordedEvents())
}

// change edits the cluster's spec and status.
func (w *idleWorld) change(t *testing.T, name types.NamespacedName, change func(*v1beta2.EtcdCluster)) {
	t.Helper()
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), name, c))
	change(c)
	status := c.Status.DeepCopy()
	must(t, w.api.Update(t.Context(), c))
	c.Status = *status
	must(t, w.api.Status().Update(t.Context(), c))
}

// settle passes until there is nothing more to do.
func (w *idleWorld) settle(t *testing.T, name types.NamespacedName) {
	t.Helper()
	for range 100 {
		result, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
		if result.RequeueAfter >= time.Minute {
			return
		}
		w.kubelet(t)
	}
	t.Fatalf("it never comes to rest; events: %s", w.recordedEvents())
}

// versions are those that the pods' images are of.
func (w *idleWorld) versions(t *testing.T) (all []string) {
	t.Helper()
	pods := &corev1.PodList{}
	must(t, w.api.List(t.Context(), pods))
	for i := range pods.Items {
		if image := resources.EtcdOf(&pods.Items[i]).Image; image != "" { // not those that fetch images
			all = append(all, version.OfImage(image))
		}
	}
	return all
}
