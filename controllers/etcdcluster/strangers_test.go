package etcdcluster_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestStrangersAreLeftAlone puts a pod and claims with the cluster's labels beside a cluster: they are named, and neither
// stop anything nor are touched.
func TestStrangersAreLeftAlone(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "beside"}
	w.cluster(t, name)
	pass := func() time.Duration {
		t.Helper()
		result, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
		return result.RequeueAfter
	}
	for pass() < time.Minute {
		w.kubelet(t)
	}
	w.recordedEvents()
	cluster := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), name, cluster))
	labels := map[string]string{"app": "etcd", "etcd_cluster": name.Name}
	claim := func(name string, annotations map[string]string) client.Object {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: labels, Annotations: annotations,
		}}
	}
	copied := map[string]string{
		"etcd.database.coreos.com/cluster-uid": string(cluster.UID), "etcd.database.coreos.com/volume-uid": "another",
		"etcd.database.coreos.com/cluster-id": cluster.Status.ClusterID, "etcd.database.coreos.com/member-id": "1",
	}
	for reason, o := range map[string]client.Object{
		v1beta2.ReasonStrangerPod:                         &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "toolbox", Labels: labels}},
		v1beta2.ReasonForeignVolume + " with labels only": claim("beside-9", nil),
		v1beta2.ReasonForeignVolume + " that is a copy":   claim("rescued", copied),
	} {
		must(t, w.api.Create(t.Context(), o))
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name.Name + "-client"}}
		must(t, w.api.Delete(t.Context(), service))
		for range 3 {
			pass()
		}
		must(t, w.api.Get(t.Context(), client.ObjectKeyFromObject(service), service)) // it was recreated
		must(t, w.api.Get(t.Context(), name, cluster))
		reason, _, _ = strings.Cut(reason, " ")
		c := meta.FindStatusCondition(cluster.Status.Conditions, v1beta2.ConditionDegraded)
		if c == nil || c.Reason != reason || !strings.Contains(c.Message, o.GetName()) {
			t.Errorf("Degraded is %+v, want %s of %s", c, reason, o.GetName())
		}
		if recorded := w.recordedEvents(); strings.Count(recorded, reason) != 1 {
			t.Errorf("events: %s", recorded)
		}
		must(t, w.api.Get(t.Context(), client.ObjectKeyFromObject(o), o)) // it is there still
		must(t, w.api.Delete(t.Context(), o))
		pass()
		w.healthy(t, name)
	}
}
