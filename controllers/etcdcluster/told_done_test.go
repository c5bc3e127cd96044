package etcdcluster

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestDoneIsTold wants one event once what Auto Pilot has begun is done, whatever the last step of it was, and none for as long as the cluster is at
// rest.
func TestDoneIsTold(t *testing.T) {
	pool := etcd.NewPool()
	t.Cleanup(pool.Close)
	for _, c := range []struct{ last, want string }{
		{v1beta2.ReasonRaisingQuota, "Normal SpecReached all are healthy"},
		{v1beta2.ReasonWaitingForMember, "Normal SpecReached all are healthy"},
		{v1beta2.ReasonWaitingForVolume, "Normal SpecReached all are healthy"},
		{v1beta2.ReasonWaitingForResize, "Normal SpecReached all are healthy"},
		{v1beta2.ReasonWaitingForBudget, "Normal SpecReached all are healthy"},
		{v1beta2.ReasonSpecReached, ""},
	} {
		p := watched(0)
		p.action = plan.Idle{Reason: v1beta2.ReasonSpecReached, Message: "all are healthy"}
		p.before = &v1beta2.EtcdClusterStatus{}
		meta.SetStatusCondition(&p.before.Conditions, metav1.Condition{Type: v1beta2.ConditionProgressing, Reason: c.last, Message: "all are healthy"})
		recorder := events.NewFakeRecorder(9)
		r := &Reconciler{Recorder: recorder, Etcd: pool, Clock: clocktesting.NewFakePassiveClock(noon)}
		r.recordEvents(t.Context(), p, nil)
		close(recorder.Events)
		got := ""
		for event := range recorder.Events {
			got += event
		}
		if got != c.want {
			t.Errorf("after %s: %q, want %q", c.last, got, c.want)
		}
	}
}
