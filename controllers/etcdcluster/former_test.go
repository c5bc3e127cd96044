package etcdcluster

import (
	"reflect"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestClaimOutlivesARestore wants a cluster to stay its operator's while what its status tells is put aside, and when it is put
// back.
func TestClaimOutlivesARestore(t *testing.T) {
	claimed := &v1beta2.OperatorReference{Namespace: "operators", Lease: "lease"}
	c := &v1beta2.EtcdCluster{}
	c.Status = v1beta2.EtcdClusterStatus{Operator: claimed, ClusterID: "abc", Size: 3}
	putAside(&c.Status)
	if !reflect.DeepEqual(c.Status.Operator, claimed) || c.Status.Former == nil || c.Status.ClusterID != "" {
		t.Fatalf("put aside: %+v", c.Status)
	}
	p := &pass{cluster: c, observed: plan.Observed{Now: time.Now()}}
	(&EtcdClusterReconciler{}).callOff(p, plan.CallOff{})
	if !reflect.DeepEqual(c.Status.Operator, claimed) || c.Status.Former != nil || c.Status.ClusterID != "abc" {
		t.Fatalf("put back: %+v", c.Status)
	}
}
