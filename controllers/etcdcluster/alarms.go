package etcdcluster

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
)

// recordAlarm records an event when an alarm of etcd begins, and one when the last is gone. Available has it from pass to pass, so a
// restart of the operator repeats neither, and what the message says about room makes no event.
func (r *Reconciler) recordAlarm(p *pass) {
	now := meta.FindStatusCondition(p.cluster.Status.Conditions, v1beta2.ConditionAvailable)
	before := meta.FindStatusCondition(p.before.Conditions, v1beta2.ConditionAvailable)
	had := before != nil && ofAlarm(before.Reason)
	switch {
	case now == nil:
	case ofAlarm(now.Reason) && (!had || before.Reason != now.Reason):
		reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeWarning, now.Reason, "Observe", now.Message)
	case had && now.Status == metav1.ConditionTrue:
		reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeNormal, v1beta2.ReasonAlarmDisarmed, "Observe",
			"etcd has no alarm any more, and takes writes again")
	}
}

// ofAlarm reports whether a reason is that of an alarm of etcd.
func ofAlarm(reason string) bool {
	return reason == v1beta2.ReasonNoSpace || reason == v1beta2.ReasonCorrupt
}
