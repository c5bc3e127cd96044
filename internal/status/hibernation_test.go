package status

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestWakesUp calls a cluster that starts again degraded only once that takes too long.
func TestWakesUp(t *testing.T) {
	for title, c := range map[string]struct {
		since    time.Duration
		degraded metav1.ConditionStatus
		reason   string
	}{
		"it starts":         {0, metav1.ConditionFalse, v1beta2.ReasonWaking},
		"it is at it":       {4 * time.Minute, metav1.ConditionFalse, v1beta2.ReasonWaking},
		"it takes too long": {6 * time.Minute, metav1.ConditionTrue, v1beta2.ReasonWaking},
	} {
		in := allAnswer()
		in.Cluster.Status.Hibernation, in.Observed.Etcd = string(plan.Waking), plan.Etcd{Contact: plan.ContactNone}
		if c.since > 0 {
			in.Cluster.Status.QuorumLostSince = &metav1.Time{Time: in.Observed.Now.Add(-c.since)}
		}
		in.Action = plan.Wait{Reason: v1beta2.ReasonWaking, Message: "the cluster wakes up"}
		got := compute(in)
		says := meta.FindStatusCondition(got.Conditions, v1beta2.ConditionDegraded)
		up := meta.FindStatusCondition(got.Conditions, v1beta2.ConditionAvailable)
		if says.Status != c.degraded || says.Reason != c.reason || up.Status != metav1.ConditionFalse || up.Reason != v1beta2.ReasonWaking {
			t.Errorf("%s: %+v, %+v", title, says, up)
		}
	}
}

// TestUnknownHibernation takes a word in status that no operator writes for none.
func TestUnknownHibernation(t *testing.T) {
	for word, want := range map[string]plan.Hibernation{"": plan.Awake, "Dozing": plan.Awake, "Hibernated": plan.Hibernated, "Waking": plan.Waking} {
		if got := RecordOf(&v1beta2.EtcdClusterStatus{Hibernation: word}).Hibernation; got != want {
			t.Errorf("%q is read as %q, want %q", word, got, want)
		}
	}
}

// TestRefusedAsleep says what comes of an edit that cannot be carried out, though nothing else is said of a cluster that hibernates.
func TestRefusedAsleep(t *testing.T) {
	in := allAnswer()
	in.Cluster.Status.Hibernation, in.Observed.Etcd = string(plan.Hibernated), plan.Etcd{Contact: plan.ContactNone}
	in.Assessment = plan.Assessment{RejectedSpec: &failure.Problem{Reason: v1beta2.ReasonInvalidOption, Message: "spec.etcd"}}
	in.Action = plan.Idle{Reason: v1beta2.ReasonHibernated}
	in.Observed.Cluster.Invalid = in.Assessment.RejectedSpec
	got := compute(in)
	if says := meta.FindStatusCondition(got.Conditions, v1beta2.ConditionDegraded); says.Status != metav1.ConditionTrue || says.Reason != v1beta2.ReasonInvalidOption {
		t.Errorf("%+v", says)
	}
	if got.Phase != v1beta2.ClusterPhaseHibernated {
		t.Errorf("it is %s", got.Phase)
	}
}
