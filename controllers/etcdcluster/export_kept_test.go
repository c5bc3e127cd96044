package etcdcluster_test

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
)

// TestClusterHasSeries has series of a cluster from the first look at it until it is gone.
func TestClusterHasSeries(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: "exported", Name: "c"}
	sample := func(metric string, labels ...string) float64 {
		of := map[string]string{"namespace": name.Namespace, "etcd_cluster": name.Name}
		for i := 0; i < len(labels); i += 2 {
			of[labels[i]] = labels[i+1]
		}
		return controllertest.Sample(t, "etcd_operator_cluster_"+metric, of)
	}
	observed := controllertest.Sample(t, "etcd_operator_observe_duration_seconds", nil)
	w.cluster(t, name)
	pass := func() {
		t.Helper()
		_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
	}
	pass() // reserves it
	pass()
	if size, ready := sample("spec_size"), sample("members", "state", "ready"); size != 3 || ready != 0 {
		t.Errorf("at first it has %v of %v voters", ready, size)
	}
	if _, up := controllertest.Metrics(t, name.Namespace)["etcd_operator_cluster_quorum_margin"]; up {
		t.Error("it has a quorum before it is up")
	}
	w.settle(t, name)
	if ready, margin := sample("members", "state", "ready"), sample("quorum_margin"); ready != 3 || margin != 1 {
		t.Errorf("of %v voters %v may fail", ready, margin)
	}
	if sample("condition", "type", v1beta2.ConditionReady) != 1 || sample("condition", "type", v1beta2.ConditionDegraded) != 0 {
		t.Errorf("exported are %v", controllertest.Metrics(t, name.Namespace))
	}
	if controllertest.Sample(t, "etcd_operator_observe_duration_seconds", nil) == observed {
		t.Error("nothing says how long it takes to observe")
	}
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), name, c))
	must(t, w.api.Delete(t.Context(), c))
	pass()
	if left := controllertest.Metrics(t, name.Namespace); len(left) > 0 {
		t.Errorf("left: %v", slices.Sorted(maps.Keys(left)))
	}
}
