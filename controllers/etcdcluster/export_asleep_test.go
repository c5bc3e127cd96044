package etcdcluster

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// TestAsleepIsQuiet exports nothing of a cluster that hibernates which an alert about its quorum, its members, their space or Auto Pilot
// looks at, once no quorum answers any more: so these alerts rest (test/alerts). Nor is there a margin while it wakes up, as long as that may take.
func TestAsleepIsQuiet(t *testing.T) {
	degraded := slices.Index(metrics.ConditionTypes[:], v1beta2.ConditionDegraded)
	unusual := slices.Index(metrics.ConditionTypes[:], v1beta2.ConditionAnomaly)
	stopped := func(h plan.Hibernation, a plan.Action) *pass {
		p := watched(5)
		c := p.cluster
		c.Spec.Size, c.Spec.Hibernate, c.Status.Hibernation = 5, h == plan.Hibernated, string(h)
		c.Status.Autopilot = &v1beta2.AutopilotStatus{Held: []v1beta2.HeldAct{{Feature: plan.FeatureQuota, Reason: v1beta2.ReasonQuotaHeld}}}
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: v1beta2.ConditionAnomaly, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonDeviating})
		p.observed.Cluster.Record, p.observed.Cluster.Hibernate = status.RecordOf(&c.Status), c.Spec.Hibernate
		p.observed.Etcd, p.action = plan.Etcd{Contact: plan.ContactNone}, a
		c.Status = status.Compute(status.Input{Cluster: c, Observed: p.observed, Action: a})
		return p
	}
	got := stopped(plan.Hibernated, plan.Idle{Reason: v1beta2.ReasonHibernated}).exported()
	if got.Up || got.Judged || got.Ready > 0 || len(got.Databases) > 0 || len(got.Held) > 0 {
		t.Errorf("while it hibernates: %+v", got)
	}
	if got.Conditions[degraded] != metrics.ConditionFalse || got.Conditions[unusual] != metrics.ConditionAbsent || got.Reason != v1beta2.ReasonHibernated {
		t.Errorf("while it hibernates its conditions are %v, for %s", got.Conditions, got.Reason)
	}
	p := stopped(plan.Hibernated, plan.Blocked{Reason: v1beta2.ReasonDataLost})
	if got := p.exported(); got.Up || got.Conditions[degraded] != metrics.ConditionTrue {
		t.Errorf("where the data of a majority is gone: %+v", got)
	}
	p = stopped(plan.Hibernated, plan.DeletePod{})
	p.observed.Etcd.Contact = plan.ContactQuorum
	p.cluster.Status = status.Compute(status.Input{Cluster: p.cluster, Observed: p.observed, Action: p.action})
	if got := p.exported(); !got.Up {
		t.Errorf("while a quorum still answers: %+v", got)
	}
	p = stopped(plan.Waking, plan.Wait{Reason: v1beta2.ReasonWaking})
	if got := p.exported(); got.Up || got.Conditions[degraded] != metrics.ConditionFalse {
		t.Errorf("while it wakes up: %+v", got)
	}
	p.observed.Now = p.observed.Now.Add(time.Hour)
	if got := p.exported(); !got.Up || got.Margin != -1 {
		t.Errorf("once that has taken an hour: %+v", got)
	}
}
