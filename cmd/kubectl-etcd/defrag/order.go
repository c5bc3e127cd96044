// Package defrag is "kubectl etcd defrag".
package defrag

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
)

// order is whom to defragment, in which order: the leader last.
func order(v members.View, name string, all bool) ([]members.Member, error) {
	if !all {
		m, err := v.Member(name)
		if err != nil {
			return nil, err
		}
		return []members.Member{m}, nil
	}
	var first, last []members.Member
	for _, m := range v.Members {
		if m.Name == v.Leader {
			last = append(last, m)
		} else {
			first = append(first, m)
		}
	}
	return append(first, last...), nil
}

// allowed says why a member must not be busy now; nil if it may. Force says that a pause is accepted: then only a member that does not
// answer is left alone.
func allowed(v members.View, name string, force bool) error {
	m, err := v.Member(name)
	if err != nil {
		return err
	}
	needed, problem := v.Spared(name)
	switch {
	case !m.Healthy && !force:
		return fmt.Errorf("%s is not healthy: %s", name, m.Problem)
	case m.Bytes == 0:
		return fmt.Errorf("%s: %s", name, m.Problem)
	case problem == nil || force:
		return nil
	case needed:
		return fmt.Errorf("%w. Give --force if that is accepted", problem)
	default:
		return fmt.Errorf("%w. Wait until they are, or give --force if it is accepted that requests wait meanwhile", problem)
	}
}

// undisturbed says why the operator may restart or defragment members while one of them is busy; nil if it leaves them alone.
func undisturbed(c *v1beta2.EtcdCluster) error {
	const wait = ": wait until that is done. If it does not come to an end, pause it (spec.paused)"
	switch {
	case c.Status.Phase == v1beta2.ClusterPhaseRestoring:
		return errors.New("its data are being replaced by a restore: there is nothing to defragment")
	case c.Spec.Paused:
		return nil
	case c.Status.TargetVersion != "":
		return fmt.Errorf("the operator is updating its members to etcd %s, one at a time%s", c.Status.TargetVersion, wait)
	case c.Status.UpdatedMembers < c.Status.Size:
		return fmt.Errorf("the operator is updating its members to the spec, one at a time%s", wait)
	case defragments(c):
		return errors.New("the operator is defragmenting a member by itself, or about to: two that do so at once are no quorum. Wait until that is done, or " +
			"set spec.autopilot.mode to Off")
	}
	return nil
}

// defragments reports whether the operator says that it has a member of its own choice write its database anew, or prepares for that.
func defragments(c *v1beta2.EtcdCluster) bool {
	says := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionProgressing)
	return says != nil && says.Status == metav1.ConditionTrue &&
		(says.Reason == v1beta2.ReasonDefragmenting || says.Reason == v1beta2.ReasonMakingRoom)
}
