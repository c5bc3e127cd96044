package status

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// asleep is what is said of a cluster whose members are stopped on purpose.
const asleep = "spec.hibernate is true: all members are stopped, or about to be"

// wakeLimit is how long members may take to start again before it counts as a lost quorum: nodes may have to be made, and images be pulled.
const wakeLimit = 5 * time.Minute

func hibernates(s *v1beta2.EtcdClusterStatus) bool { return s.Hibernation == string(plan.Hibernated) }

// Asleep reports whether nobody can be asked because the members are stopped on purpose, or just starting again. Some may be left that cannot be
// stopped: while a quorum of them answers, the cluster is not asleep.
func Asleep(s *v1beta2.EtcdClusterStatus) bool {
	return s.Hibernation != string(plan.Awake) && !meta.IsStatusConditionTrue(s.Conditions, v1beta2.ConditionAvailable)
}

// WakesUp reports whether a cluster that was hibernated has no quorum yet, and need not have one.
func WakesUp(s *v1beta2.EtcdClusterStatus, now time.Time) bool {
	return s.Hibernation == string(plan.Waking) && (s.QuorumLostSince == nil || now.Sub(s.QuorumLostSince.Time) < wakeLimit)
}

// onPurpose is what holds of a cluster whose members do not run because somebody has asked for that, nil of any other.
func onPurpose(s *v1beta2.EtcdClusterStatus, in Input, message string) *verdict {
	switch p := in.Assessment.RejectedSpec; {
	case hibernates(s) && p != nil: // nobody sees otherwise what comes of an edit
		return &verdict{true, p.Reason, p.Message}
	case hibernates(s) && in.Cluster.Spec.Paused && len(in.Observed.Pods) > 0:
		return &verdict{true, v1beta2.ReasonPaused, "reconciliation is paused while the members are being stopped, so those that still run are " +
			"neither stopped nor looked after: set spec.paused to false"}
	case hibernates(s):
		return &verdict{false, v1beta2.ReasonHibernated, asleep}
	case WakesUp(s, in.Observed.Now):
		return &verdict{false, v1beta2.ReasonWaking, message}
	}
	return nil
}

// withoutQuorum is the reason of a cluster that has none.
func withoutQuorum(s *v1beta2.EtcdClusterStatus) string {
	if s.Hibernation == string(plan.Waking) {
		return v1beta2.ReasonWaking
	}
	return v1beta2.ReasonQuorumLost
}
