package etcdcluster

import (
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestSwap moves everything that can be put aside, and leaves nothing of it behind.
func TestSwap(t *testing.T) {
	former := v1beta2.FormerStatus{
		ClusterID: "1", Revision: 2, Size: 3, MemberStatuses: []v1beta2.MemberStatus{{Name: "c-0"}}, NextVoters: []string{"c-0"},
		RanBefore: true, CurrentVersion: "3.6.16", SnapshotDue: true, Spec: &runtime.RawExtension{},
		LeaderMoved: &v1beta2.LeaderMoved{}, Bootstrap: &v1beta2.BootstrapStatus{},
	}
	for field, value := range reflect.ValueOf(former).Fields() {
		if value.IsZero() {
			t.Fatalf("the test does not set %s", field.Name)
		}
	}
	s, f := &v1beta2.EtcdClusterStatus{}, former.DeepCopy()
	swap(s, f)
	if !reflect.DeepEqual(f, &v1beta2.FormerStatus{}) {
		t.Errorf("it leaves %+v behind", f)
	}
	swap(s, f)
	if !reflect.DeepEqual(f, &former) || !reflect.DeepEqual(s, &v1beta2.EtcdClusterStatus{}) {
		t.Errorf("back again it is %+v of %+v", f, s)
	}
}

// TestPutAside keeps what the first of several restores was to replace, and the spec that its members were made from.
func TestPutAside(t *testing.T) {
	spec := &runtime.RawExtension{Raw: []byte("{}")}
	s := &v1beta2.EtcdClusterStatus{ClusterID: "1", Leader: "c-0", AcceptedSpec: spec}
	putAside(s)
	want := &v1beta2.EtcdClusterStatus{AcceptedSpec: spec, Former: &v1beta2.FormerStatus{ClusterID: "1", Spec: spec}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("the status is %+v of %+v", s, s.Former)
	}
	s.Size = 1
	if putAside(s); !reflect.DeepEqual(s, want) {
		t.Errorf("once another one takes its place it is %+v of %+v", s, s.Former)
	}
}

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
	(&Reconciler{}).callOff(p, plan.CallOff{})
	if !reflect.DeepEqual(c.Status.Operator, claimed) || c.Status.Former != nil || c.Status.ClusterID != "abc" {
		t.Fatalf("put back: %+v", c.Status)
	}
}
