package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const (
	// workLimit is how long work delays an upgrade of the operator. What takes longer is stuck in a way that is not recognized
	// here, and may need the new operator to resolve it.
	workLimit = 6 * time.Hour
	// namedMost is the maximum number of clusters in a message.
	namedMost = 10
)

// standstill are the reasons with which a cluster continues only after a change outside the operator, or not soon.
var standstill = []string{
	v1beta2.ReasonUpdateStopped, v1beta2.ReasonPodCannotStart, v1beta2.ReasonWriteRefused, v1beta2.ReasonActionFailed, v1beta2.ReasonMemberDown,
	v1beta2.ReasonQuorumAtRisk, v1beta2.ReasonQuorumLost, v1beta2.ReasonWaitingForResize, v1beta2.ReasonWaitingForVolume,
	v1beta2.ReasonWaitingForPrevious, v1beta2.ReasonWaitingForRestore, v1beta2.ReasonHibernating, v1beta2.ReasonWaking,
}

// Upgradeable reports whether a new version of the operator may take over, and why not: a restore, an update, a membership change
// or a repair is in progress. Work that is stuck does not delay an upgrade: it may need the new operator.
func Upgradeable(clusters []v1beta2.EtcdCluster, restores []v1beta2.EtcdRestore, at time.Time) (ok bool, reason, message string) {
	restored := map[string]v1beta2.RestorePhase{}
	for i := range restores {
		if r := &restores[i]; r.Status.Phase == v1beta2.RestoreReplacing || prepares(r) {
			restored[r.Namespace+"/"+r.Spec.EtcdCluster.Name] = r.Status.Phase
		}
	}
	var busy []string
	for i := range clusters {
		c := &clusters[i]
		name := c.Namespace + "/" + c.Name
		if what := underWay(c, restored[name], at); what != "" {
			busy = append(busy, "EtcdCluster "+name+" "+what)
		}
	}
	if len(busy) == 0 {
		return true, v1beta2.ReasonAsExpected, "no restore, update or change of members is under way"
	}
	slices.Sort(busy)
	if n := len(busy) - namedMost; n > 0 {
		busy = append(busy[:namedMost], fmt.Sprintf("%d more", n))
	}
	return false, v1beta2.ReasonClustersBusy, strings.Join(busy, "; ") +
		": the operator is upgraded once that has finished; to upgrade it now, set spec.overrides of this OperatorCondition"
}

// prepares reports whether a pod is working for a restore that has changed nothing yet. Its time is limited.
func prepares(r *v1beta2.EtcdRestore) bool {
	return r.Status.CompletionTime == nil && r.Status.Run != nil
}

// over reports whether a restore has ended: the cluster runs on the snapshot, or again on its previous data.
func over(s *v1beta2.EtcdClusterStatus, r v1beta2.RestoreRecord) bool {
	return r.CompletionTime != nil || r.CalledOff != nil && (r.CalledOff.CompletionTime != nil || !hasClusterID(s))
}

// underWay says what is in progress that an upgrade has to wait for, empty if nothing.
func underWay(c *v1beta2.EtcdCluster, restored v1beta2.RestorePhase, at time.Time) string {
	const restores, updates, changes = "is being restored", "is being updated", "is adding or removing members"
	const settles = "is still being reconciled"
	s := &c.Status
	switch {
	case restored != "" && restored != v1beta2.RestoreReplacing:
		return restores // whatever the cluster does meanwhile
	case !moves(c, at):
		return ""
	case restored != "", len(s.Restores) > 0 && !over(s, s.Restores[0]):
		return restores
	case !hasClusterID(s): // a first start goes on with any operator
		return ""
	case s.FormerSpec != nil, s.TargetVersion != "" && s.CurrentVersion != "":
		return updates
	case s.Size != c.Spec.Size, slices.ContainsFunc(s.MemberStatuses, learns):
		return changes
	case meta.IsStatusConditionTrue(s.Conditions, v1beta2.ConditionProgressing): // with the last member of an update, too
		return settles
	}
	return ""
}

func learns(m v1beta2.MemberStatus) bool { return m.Role == v1beta2.MemberRoleLearner }

// moves reports whether work on the cluster can be expected to finish by itself.
func moves(c *v1beta2.EtcdCluster, at time.Time) bool {
	p := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionProgressing)
	switch {
	case p == nil || !c.DeletionTimestamp.IsZero():
		return false
	case p.Status != metav1.ConditionTrue: // it is blocked or paused, or has yet to begin
		return p.Reason == v1beta2.ReasonSpecReached
	}
	return !slices.Contains(standstill, p.Reason) && !writesRefused(c) && at.Sub(p.LastTransitionTime.Time) < workLimit
}

// writesRefused reports whether the API server refuses a write, whatever else is wrong: someone has to allow it first.
func writesRefused(c *v1beta2.EtcdCluster) bool {
	d := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionDegraded)
	return d != nil && (d.Reason == v1beta2.ReasonWriteRefused || strings.Contains(d.Message, plan.Refuses))
}
