// Package accounts is what the controllers of EtcdUsers and EtcdRoles share: the way to their cluster's etcd, and how a pass ends.
package accounts

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// Target is the EtcdCluster of an EtcdUser or EtcdRole.
type Target struct {
	// Cluster is nil if there is none.
	Cluster *v1beta2.EtcdCluster
	// Problem is why nothing can be changed in its etcd now, nil if it can.
	Problem *failure.Problem
}

// Find reads the EtcdCluster of that name.
func Find(ctx context.Context, reader client.Reader, namespace, name string) (Target, error) {
	c := &v1beta2.EtcdCluster{}
	if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, c); err != nil {
		if client.IgnoreNotFound(err) != nil {
			return Target{}, fmt.Errorf("read EtcdCluster %s: %w", name, err)
		}
		return Target{Problem: &failure.Problem{
			Reason:  v1beta2.ReasonClusterMissing,
			Message: fmt.Sprintf("spec.etcdCluster: EtcdCluster %s not found in namespace %s: create it", name, namespace),
		}}, nil
	}
	return Target{Cluster: c, Problem: problemOf(c)}, nil
}

func problemOf(c *v1beta2.EtcdCluster) *failure.Problem {
	switch {
	case !c.DeletionTimestamp.IsZero():
		return &failure.Problem{Reason: v1beta2.ReasonTerminating, Message: "EtcdCluster " + c.Name + " is being deleted"}
	case c.Spec.Paused:
		return &failure.Problem{
			Reason: v1beta2.ReasonPaused, Message: "spec.paused of EtcdCluster " + c.Name + " is true: set it to false",
		}
	case status.Asleep(&c.Status):
		return &failure.Problem{
			Reason:  v1beta2.ReasonHibernated,
			Message: "the members of EtcdCluster " + c.Name + " are stopped (spec.hibernate), or just starting: this is done once they run",
		}
	case c.Status.ClusterID == "" || len(agentpod.MemberURLs(c, agentpod.Voting)) == 0:
		return &failure.Problem{
			Reason: v1beta2.ReasonWaitingForCluster, Message: "EtcdCluster " + c.Name + " is not up yet: see its conditions",
		}
	case quorumLost(c):
		return &failure.Problem{
			Reason: v1beta2.ReasonWaitingForEtcd, Message: "EtcdCluster " + c.Name + " has lost its quorum: see its conditions",
		}
	case inDoubt(c):
		return &failure.Problem{
			Reason: v1beta2.ReasonWaitingForCluster, Message: "nothing is changed in the etcd of EtcdCluster " + c.Name + ": see its conditions",
		}
	}
	return nil
}

// inDoubt reports whether the operator changes nothing because the etcd may not be the cluster's, or its data older than it was.
func inDoubt(c *v1beta2.EtcdCluster) bool {
	return slices.ContainsFunc(c.Status.Conditions, func(condition metav1.Condition) bool {
		return condition.Reason == v1beta2.ReasonRevisionRegressed || condition.Reason == v1beta2.ReasonClusterIDMismatch
	})
}

// quorumLost reports whether nobody needs to ask etcd to learn that it cannot answer.
func quorumLost(c *v1beta2.EtcdCluster) bool {
	available := meta.FindStatusCondition(c.Status.Conditions, v1beta2.ConditionAvailable)
	return available != nil && available.Status == metav1.ConditionFalse && available.Reason == v1beta2.ReasonQuorumLost
}

// Gone reports whether the etcd is gone, or will be with all that is in it.
func (t Target) Gone() bool { return t.Cluster == nil || !t.Cluster.DeletionTimestamp.IsZero() }

// Unanswered is the problem that etcd does not do what it was asked.
func Unanswered(err error) *failure.Problem {
	return &failure.Problem{Reason: v1beta2.ReasonWaitingForEtcd, Message: err.Error()}
}

// endpoints are the voters that run, the leader first. Only a pod of this very EtcdCluster is one.
func endpoints(c *v1beta2.EtcdCluster, pods []corev1.Pod) (all []etcd.Endpoint) {
	members := slices.Clone(c.Status.MemberStatuses)
	slices.SortStableFunc(members, func(a, b v1beta2.MemberStatus) int {
		return rank(b) - rank(a)
	})
	for _, m := range members {
		i := slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.Name == m.Name && metav1.IsControlledBy(&p, c) })
		if i < 0 || !agentpod.Voting(m.Role) || pods[i].Status.PodIP == "" || pods[i].Status.Phase != corev1.PodRunning {
			continue
		}
		all = append(all, etcd.Endpoint{
			Pod: m.Name, PodUID: string(pods[i].UID),
			ServerName: member.Host(m.Name, c.Name, c.Namespace, resources.Domain(c)),
			Address:    net.JoinHostPort(pods[i].Status.PodIP, strconv.Itoa(member.ClientPort)),
		})
	}
	return all
}

func rank(m v1beta2.MemberStatus) int {
	switch {
	case m.Leader:
		return 2
	case m.Ready:
		return 1
	}
	return 0
}

// ClusterChanges are those of an EtcdCluster that its users and roles may have been waiting for.
func ClusterChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		old, isCluster := e.ObjectOld.(*v1beta2.EtcdCluster)
		now, areClusters := e.ObjectNew.(*v1beta2.EtcdCluster)
		return isCluster && areClusters && (reasonOf(old) != reasonOf(now) || old.Status.ClusterID != now.Status.ClusterID)
	}}
}

func reasonOf(c *v1beta2.EtcdCluster) string {
	if p := problemOf(c); p != nil {
		return p.Reason
	}
	return ""
}

// Older reports whether a has the name rather than b: whoever was created first, and of those created in the same second the one with
// the lower UID.
func Older(a, b client.Object) bool {
	x, y := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return x.Before(&y) || x.Equal(&y) && a.GetUID() < b.GetUID()
}
