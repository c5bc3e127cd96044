package etcdcluster_test

import (
	"errors"
	"maps"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// formerStatus has the operator go on with a first start that the operator before began: what that one noted is in the status
// under the names of its time. Nothing is begun anew, and from the next write on it has the names of today.
func (e *env) formerStatus(t *testing.T) {
	noted, pods := e.read(t, "boot").Status.InternalStatus, e.uidsOf(t, "boot", 3)
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("EtcdCluster"))
	key := client.ObjectKey{Namespace: namespace, Name: "boot"}
	await(t, "the status to be as the operator before wrote it", func() error {
		must(t, e.Get(t.Context(), key, object))
		status, _ := object.Object["status"].(map[string]any)
		internal, _ := status["internal"].(map[string]any)
		maps.Copy(status, internal)
		delete(status, "internal")
		delete(status, "readySummary")
		status["readyMembers"] = "0/3"
		return e.Status().Update(t.Context(), object)
	})
	await(t, "an edit", func() error {
		c := e.read(t, "boot")
		c.Spec.VolumeReclaimPolicy = v1beta2.VolumeReclaimRetain
		return e.Update(t.Context(), c)
	})
	await(t, "the status to be written again", func() error {
		must(t, e.Get(t.Context(), key, object))
		if _, found, _ := unstructured.NestedMap(object.Object, "status", "internal", "bootstrap"); !found {
			return errors.New("it is as it was")
		}
		return nil
	})
	status := e.read(t, "boot").Status
	noted.AcceptedSpec, noted.FormerSpec = status.AcceptedSpec, status.FormerSpec // the edit is in these
	if !reflect.DeepEqual(status.InternalStatus, noted) || status.ReadyMembers != 0 {
		t.Errorf("status: %+v, want %+v", status, noted)
	}
	if got := e.uidsOf(t, "boot", 3); !reflect.DeepEqual(got, pods) {
		t.Errorf("the pods are %v, were %v", got, pods)
	}
}

// uidsOf are the UIDs of the cluster's pods, by name.
func (e *env) uidsOf(t *testing.T, cluster string, n int) map[string]types.UID {
	t.Helper()
	uids := map[string]types.UID{}
	for _, pod := range e.podsOf(t, cluster, n) {
		uids[pod.Name] = pod.UID
	}
	return uids
}
