package etcdcluster_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
)

// TestComparedDataIsExported has no series before the voters' data was compared, and the time of the last comparison from then on.
func TestComparedDataIsExported(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: "compared", Name: "c"}
	w.cluster(t, name)
	w.settle(t, name)
	w.makeReady(t)
	w.operator.Etcd.SampleEvery = time.Nanosecond
	w.operator.Etcd.Forget(name.String()) // when the next sample is due, too
	const metric = "etcd_operator_cluster_data_compared_timestamp_seconds"
	compacts := func(revision int64) {
		for _, s := range w.servers {
			s.compacted.Store(revision)
		}
		w.looks(t, name)
	}
	for _, revision := range []int64{0, 0, 10} { // nothing has followed the last one
		compacts(revision)
		if _, has := controllertest.Metrics(t, name.Namespace)[metric]; has {
			t.Fatalf("after a compaction at %d the data counts as compared", revision)
		}
	}
	before := float64(time.Now().Unix())
	compacts(20)
	if at := controllertest.Sample(t, metric, map[string]string{"namespace": name.Namespace, "etcd_cluster": name.Name}); at < before {
		t.Errorf("the data was compared at %f, and that is said to be %f", before, at)
	}
}
