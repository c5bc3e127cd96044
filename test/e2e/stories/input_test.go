package stories

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestBadInput applies what cannot work, all in one namespace: each gets its own clear answer, and the good cluster
// among them its members.
func TestBadInput(t *testing.T) {
	t.Parallel()
	const namespace = "story-bad-input"
	must(t, env.Namespace(t.Context(), namespace))
	t.Cleanup(func() { deleteNamespace(t, namespace) })
	taken := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "taken-client"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	foreign := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "foreign-0",
			Labels: map[string]string{"app": "etcd", "etcd_cluster": "foreign"},
		},
		Spec: *onVolumes(1).Pod.PersistentVolumeClaimSpec,
	}
	foreign.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	must(t, env.Create(t.Context(), taken))
	must(t, env.Create(t.Context(), foreign))
	noClass := onVolumes(1)
	missing := "no-such-class"
	noClass.Pod.PersistentVolumeClaimSpec.StorageClassName = &missing
	cases := []struct {
		name, reason, says string
		spec               v1beta2.EtcdClusterSpec
	}{
		{"old", v1beta2.ReasonUnsupportedVersion, "too old", v1beta2.EtcdClusterSpec{Size: 1, Version: "3.2.13"}},
		{"future", v1beta2.ReasonUnsupportedVersion, "is not supported by this operator", v1beta2.EtcdClusterSpec{Size: 1, Version: "3.9.0"}},
		{"no-class", v1beta2.ReasonPodCannotStart, "PersistentVolumeClaim", noClass},
		{"no-image", v1beta2.ReasonPodCannotStart, "nowhere/etcd", v1beta2.EtcdClusterSpec{Size: 1, Repository: "nowhere/etcd"}},
		{"taken", v1beta2.ReasonNameTaken, "Service taken-client", v1beta2.EtcdClusterSpec{Size: 1}},
		{"foreign", v1beta2.ReasonForeignVolume, "foreign-0", onVolumes(1)},
		{"option", v1beta2.ReasonInvalidOption, "etcdEnv[ETCD_DATA_DIR] is set by the operator", v1beta2.EtcdClusterSpec{
			Size: 1, Pod: &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "ETCD_DATA_DIR", Value: "/tmp"}}},
		}},
	}
	for _, c := range cases {
		_, err := env.NewCluster(t.Context(), namespace, c.name, c.spec)
		must(t, err)
	}
	good, err := env.NewCluster(t.Context(), namespace, "good", v1beta2.EtcdClusterSpec{Size: 1})
	must(t, err)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cluster := &harness.Cluster{Env: env, Namespace: namespace, Name: c.name}
			must(t, cluster.Says(t.Context(), v1beta2.ConditionProgressing, c.reason, limit))
			object, err := cluster.Get(t.Context())
			must(t, err)
			if !strings.Contains(harness.Words(object), c.says) {
				t.Errorf("conditions do not say %q: %s", c.says, harness.Words(object))
			}
		})
	}
	must(t, good.Healthy(t.Context(), limit))

	repaired := &harness.Cluster{Env: env, Namespace: namespace, Name: "no-image"}
	must(t, repaired.Edit(t.Context(), func(s *v1beta2.EtcdClusterSpec) { s.Repository = "" }))
	must(t, repaired.Healthy(t.Context(), limit))
}

// TestOneNameInTwoNamespaces checks that equal names do not make equal clusters.
func TestOneNameInTwoNamespaces(t *testing.T) {
	t.Parallel()
	var ids []string
	for _, namespace := range []string{"story-twin-a", "story-twin-b"} {
		cluster, err := env.NewCluster(t.Context(), namespace, "twin", v1beta2.EtcdClusterSpec{Size: 1})
		must(t, err)
		must(t, cluster.Healthy(t.Context(), limit))
		object, err := cluster.Get(t.Context())
		must(t, err)
		ids = append(ids, object.Status.ClusterID)
		t.Cleanup(func() { deleteNamespace(t, namespace) })
	}
	if ids[0] == ids[1] || ids[0] == "" {
		t.Errorf("cluster IDs %v", ids)
	}
}
