package etcdcluster_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// waitsInVain has an EtcdRestore of the name that a cluster waits for which is never carried out for it: it is said, and what to
// do helps.
func (e *env) waitsInVain(t *testing.T) {
	for name, c := range map[string]struct {
		of     string
		status v1beta2.EtcdRestoreStatus
		says   string
	}{
		"revived":   {"revived", v1beta2.EtcdRestoreStatus{Phase: v1beta2.RestoreSucceeded, Succeeded: true, ClusterUID: "gone"}, "was carried out before this cluster"},
		"converted": {"converted", v1beta2.EtcdRestoreStatus{Succeeded: true}, "was carried out before this cluster"},
		"bereft":    {"somebody", v1beta2.EtcdRestoreStatus{}, "is for EtcdCluster somebody"},
	} {
		restore := &v1beta2.EtcdRestore{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "-restore"},
			Spec: v1beta2.EtcdRestoreSpec{
				EtcdCluster: v1beta2.EtcdClusterRef{Name: c.of}, RestoreSource: v1beta2.RestoreSource{Storage: bucket.DeepCopy()},
			},
		}
		must(t, e.Create(t.Context(), restore))
		restore.Status = c.status
		must(t, e.Status().Update(t.Context(), restore))
		e.cluster(t, name, v1beta2.EtcdClusterSpec{Size: 1, RestoreFrom: &v1beta2.RestoreSource{Storage: bucket.DeepCopy()}})
		e.says(t, name, v1beta2.ReasonRestoreFailed, c.says)
		e.podsOf(t, name, 0)
		must(t, e.Delete(t.Context(), restore))
		if c.of == name { // the deletion wakes it
			e.says(t, name, v1beta2.ReasonWaitingForRestore, name+"-restore")
		}
		must(t, e.Delete(t.Context(), e.read(t, name)))
	}
	const own = "relapsed"
	e.cluster(t, own, v1beta2.EtcdClusterSpec{Size: 1, RestoreFrom: &v1beta2.RestoreSource{Storage: bucket.DeepCopy()}})
	e.says(t, own, v1beta2.ReasonWaitingForRestore, own+"-restore")
	restore := &v1beta2.EtcdRestore{}
	must(t, e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: own + "-restore"}, restore))
	restore.Status.Phase, restore.Status.ClusterUID = v1beta2.RestoreSucceeded, string(e.read(t, own).UID)
	must(t, e.Status().Update(t.Context(), restore))
	e.says(t, own, v1beta2.ReasonRestoreFailed, "has already restored this cluster")
	must(t, e.Delete(t.Context(), e.read(t, own)))
}
