package status_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// TestHibernatedByContact has a cluster that is to be stopped available as long as a quorum serves clients, and says that it is not looked
// after if it is paused meanwhile.
func TestHibernatedByContact(t *testing.T) {
	for title, c := range map[string]struct {
		contact             plan.Contact
		paused, pods        bool
		available, degraded bool
	}{
		"a quorum answers":     {plan.ContactQuorum, false, true, true, false},
		"it is stopping":       {plan.ContactNone, false, true, false, false},
		"it is stopped":        {plan.ContactNone, false, false, false, false},
		"paused in the middle": {plan.ContactQuorum, true, true, true, true},
		"paused, one is left":  {plan.ContactNone, true, true, false, true},
		"paused while asleep":  {plan.ContactNone, true, false, false, false},
	} {
		cluster := &v1beta2.EtcdCluster{Spec: v1beta2.EtcdClusterSpec{Size: 1, Hibernate: true, Paused: c.paused}}
		cluster.Status = v1beta2.EtcdClusterStatus{ClusterID: "00000000000000c1", Hibernation: string(plan.Hibernated)}
		o := plan.Observed{Now: time.Now(), Cluster: plan.Cluster{Record: status.RecordOf(&cluster.Status), Hibernate: true, Paused: c.paused}}
		o.Etcd.Contact = c.contact
		if c.pods {
			o.Pods = []plan.Pod{{Name: "c-0", Persistent: true}}
		}
		s := status.Compute(status.Input{Cluster: cluster, Observed: o, Action: plan.Idle{Reason: v1beta2.ReasonHibernated}})
		is := func(kind string) bool { return meta.IsStatusConditionTrue(s.Conditions, kind) }
		if is(v1beta2.ConditionAvailable) != c.available || is(v1beta2.ConditionDegraded) != c.degraded || status.Asleep(&s) == c.available {
			t.Errorf("%s: %+v", title, s.Conditions)
		}
	}
}
