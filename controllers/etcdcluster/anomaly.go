package etcdcluster

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// observeHabits looks at how the members are, compared with how they were, unless Auto Pilot has no use for that. It comes after the decision,
// which does not depend on it: what the operator is doing to the members says nothing of them.
func (r *Reconciler) observeHabits(ctx context.Context, p *pass) {
	if a := p.observed.Cluster.Autopilot; a.Anomaly == plan.ModeOff && a.Timers == plan.ModeOff {
		return
	}
	report := r.Etcd.Habits(ctx, p.key().String(), p.session, p.calm())
	p.habits = &report
}

// calm reports whether all voters are healthy and nothing is done to them, or to what they run on. Snapshots that are read from them and
// defragmentations are told by their own metrics.
func (p *pass) calm() bool {
	seen := p.observed.Etcd
	if seen.Contact != plan.ContactQuorum || plan.Mutates(p.action) || p.assessment.Disturbing() || len(p.assessment.Alarms) > 0 {
		return false
	}
	for _, m := range seen.Members {
		if m.Learner || !slices.Contains(p.assessment.Healthy, m.Name) {
			return false
		}
	}
	return true
}

// recordAnomaly records an event when a member begins to deviate, or in another respect, one when none does any more, and one when that is not
// known any more. Status has it from pass to pass, so a restart of the operator repeats none of them.
func (r *Reconciler) recordAnomaly(p *pass) {
	before := meta.FindStatusCondition(p.before.Conditions, v1beta2.ConditionAnomaly)
	now := meta.FindStatusCondition(p.cluster.Status.Conditions, v1beta2.ConditionAnomaly)
	was := before != nil && before.Status == metav1.ConditionTrue
	switch {
	case now == nil:
	case now.Status == metav1.ConditionTrue && (!was || before.Message != now.Message):
		reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeWarning, now.Reason, "Observe", now.Message)
	case now.Reason == v1beta2.ReasonDeviatedBefore && was:
		reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeWarning, now.Reason, "Observe", now.Message)
	case now.Status == metav1.ConditionFalse && was:
		reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeNormal, now.Reason, "Observe", now.Message)
	}
}
