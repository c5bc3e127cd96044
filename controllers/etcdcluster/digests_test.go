package etcdcluster_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// TestDigestsRestartNobody has an operator come that knows etcd's images by digest, then one with other digests, and one without any: no
// member is touched, and a new pod is made with the digest of the day.
func TestDigestsRestartNobody(t *testing.T) {
	const a, b = "@sha256:0123", "@sha256:4567"
	v := version.DefaultEtcd
	plain, elsewhere := version.Image("", v), version.Image("mirror.example/etcd", v)
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "pinned"}
	w.cluster(t, name)
	w.change(t, name, func(c *v1beta2.EtcdCluster) { c.Spec.Version = v })
	w.settle(t, name)
	w.recordedEvents()
	asIs := func(pinned ...string) {
		t.Helper()
		w.operator.Pinned = pinned
		w.settle(t, name)
		w.writes = 0
		_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
		if got := w.images(t); w.writes != 0 || !slices.Equal(got, []string{plain, plain, plain}) {
			t.Errorf("with %q the members' images are %q, and %d writes come", pinned, got, w.writes)
		}
		if recorded := w.recordedEvents(); recorded != "" {
			t.Errorf("with %q: events %s", pinned, recorded)
		}
	}
	asIs()
	asIs(plain + a)
	asIs(plain + b)
	asIs(elsewhere + b)
	asIs()

	w.operator.Pinned = version.Pinned{plain + a}
	w.change(t, name, func(c *v1beta2.EtcdCluster) { c.Spec.Size = 5 })
	for deadline := time.Now().Add(30 * time.Second); !slices.Contains(w.images(t), plain+a); {
		if time.Now().After(deadline) {
			t.Fatalf("no new member asks for the digest: %q; events: %s", w.images(t), w.recordedEvents())
		}
		_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
	}
	if got := w.images(t); len(slices.DeleteFunc(slices.Clone(got), func(image string) bool { return image != plain })) != 3 {
		t.Errorf("the images are %q: those of the first three have changed", got)
	}
}

// images are those of the members' pods.
func (w *idleWorld) images(t *testing.T) (all []string) {
	t.Helper()
	pods := &corev1.PodList{}
	must(t, w.api.List(t.Context(), pods))
	for i := range pods.Items {
		if pods.Items[i].Labels[resources.LabelNode] != "" {
			all = append(all, resources.EtcdOf(&pods.Items[i]).Image)
		}
	}
	return all
}
