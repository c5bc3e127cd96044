package clusterspec

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// TestVersion wants a spec without a version to mean the one that was asked for last, whatever the operator's default is.
func TestVersion(t *testing.T) {
	noted := func(text string) v1beta2.InternalStatus {
		return v1beta2.InternalStatus{AcceptedSpec: &runtime.RawExtension{Raw: []byte(text)}}
	}
	for title, c := range map[string]struct {
		spec   v1beta2.EtcdClusterSpec
		status v1beta2.EtcdClusterStatus
		want   string
		bad    bool
	}{
		"a first start": {want: version.DefaultEtcd},
		"named":         {spec: v1beta2.EtcdClusterSpec{Version: "v3.5.35"}, want: "v3.5.35"},
		"started under another default": {
			status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{"size":3,"version":"3.6.11"}`), CurrentVersion: "3.6.11"}, want: "3.6.11",
		},
		"no longer named, in the middle of an update": {
			status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{"version":"3.7.3"}`), CurrentVersion: "3.6.11"}, want: "3.7.3",
		},
		"noted by an operator that noted no version": {
			status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{"size":3}`), CurrentVersion: "3.6.11"}, want: "3.6.11",
		},
		"by that one, in the middle of an update": {
			status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{"size":3}`), CurrentVersion: "3.6.11", TargetVersion: "3.6.15"},
			want:   "3.6.15",
		},
		"by that one, before anything answered": {status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{}`)}, want: version.DefaultEtcd},
		"run by coreos/etcd-operator":           {status: v1beta2.EtcdClusterStatus{CurrentVersion: "3.2.13"}, want: version.DefaultEtcd},
		"a spec that cannot work": {
			spec:   v1beta2.EtcdClusterSpec{Version: "3.4.1"},
			status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{}`), CurrentVersion: "3.6.11"}, want: "3.6.11", bad: true,
		},
		"a recorded version that this operator does not run": {
			status: v1beta2.EtcdClusterStatus{InternalStatus: noted(`{"version":"3.5.1"}`)}, want: "3.5.1", bad: true,
		},
	} {
		cluster := &v1beta2.EtcdCluster{Spec: c.spec, Status: c.status}
		spec, problem := Effective(cluster, nil)
		if spec.Version != c.want || (problem != nil) != c.bad || cluster.Spec.Version != c.spec.Version {
			t.Errorf("%s: %s, %v, want %s; the object names %q", title, spec.Version, problem, c.want, cluster.Spec.Version)
		}
	}
}
