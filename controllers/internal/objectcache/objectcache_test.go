package objectcache_test

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
)

// TestTrimCluster checks that only kubectl's copy of the manifest goes.
func TestTrimCluster(t *testing.T) {
	c := &v1beta2.EtcdCluster{Spec: v1beta2.EtcdClusterSpec{Size: 3}}
	c.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "etcd.database.coreos.com/scope": "clusterwide"}
	want := c.DeepCopy()
	delete(want.Annotations, corev1.LastAppliedConfigAnnotation)
	if got := controllertest.Trimmed(t, c); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
