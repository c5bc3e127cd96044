package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// spread tells which node has several voters.
func spread(f *Facts) []Finding {
	if f.Unread[Pods] != "" {
		return f.unread(Pods, "where the members run")
	}
	on := map[string][]string{} // voters by node
	voters := f.voters()
	for _, m := range voters {
		if i := slices.IndexFunc(f.Pods, func(p corev1.Pod) bool { return p.Name == m.Name }); i >= 0 && f.Pods[i].Spec.NodeName != "" {
			on[f.Pods[i].Spec.NodeName] = append(on[f.Pods[i].Spec.NodeName], m.Name)
		}
	}
	if len(on) == 0 {
		return nil
	}
	var found []Finding
	for _, node := range slices.Sorted(maps.Keys(on)) {
		if len(on[node]) < 2 {
			continue
		}
		one := doubtful("%s are on one node, %s", strings.Join(on[node], ", "), node)
		if len(voters)-len(on[node]) < len(voters)/2+1 {
			one.Found += ": without it there is no quorum"
		}
		one.ByHand = "add nodes, or relax spec.pod.affinity and spec.pod.nodeSelector; then delete the pod of one of them while all members are healthy"
		found = append(found, one)
	}
	return orGood(found, "over %s", number(len(on), "node"))
}

// budget looks at who may evict members.
func budget(f *Facts) []Finding {
	if f.Unread[Budgets] != "" {
		return f.unread(Budgets, "who may evict members")
	}
	if len(f.voters()) == 0 {
		return nil
	}
	own := resources.BudgetName(f.Cluster.Name)
	i := slices.IndexFunc(f.Budgets, func(b policyv1.PodDisruptionBudget) bool {
		return b.Name == own && metav1.IsControlledBy(&b, f.Cluster)
	})
	var found []Finding
	if i < 0 {
		one := doubtful("the PodDisruptionBudget %s does not exist: a drain may take the quorum", own)
		one.Next = "the operator creates it"
		found = append(found, one)
	}
	for j, b := range f.Budgets {
		if covered := f.covered(b); j != i && len(covered) > 0 {
			one := doubtful("the PodDisruptionBudget %s covers %s, too: Kubernetes evicts no pod that several cover, so a drain never ends",
				b.Name, strings.Join(covered, ", "))
			one.ByHand = fmt.Sprintf("delete it, or narrow its selector: kubectl -n %s edit pdb %s", f.Cluster.Namespace, b.Name)
			found = append(found, one)
		}
	}
	if i < 0 {
		return found
	}
	return orGood(found, "%s may be evicted now", number(int(f.Budgets[i].Status.DisruptionsAllowed), "member"))
}

// covered are the members that a budget selects. In policy/v1 an empty selector selects all pods, and none selects nothing.
func (f *Facts) covered(b policyv1.PodDisruptionBudget) (names []string) {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return nil
	}
	for _, p := range f.Pods {
		if selector.Matches(labels.Set(p.Labels)) {
			names = append(names, p.Name)
		}
	}
	return names
}

// volumes tells which of the members' are about to go, or are gone.
func volumes(f *Facts) []Finding {
	if f.Unread[Volumes] != "" {
		return f.unread(Volumes, "how the volumes are")
	}
	if f.Cluster.Status.Storage == v1beta2.MemberStorageEmptyDir {
		return good("none: members keep their data in an emptyDir, which goes with the pod")
	}
	var found []Finding
	n := 0
	for _, m := range f.Cluster.Status.MemberStatuses {
		i := slices.IndexFunc(f.Volumes, func(v corev1.PersistentVolumeClaim) bool { return v.Name == m.Name })
		if i < 0 {
			if f.Cluster.Status.Storage == v1beta2.MemberStoragePVC {
				found = append(found, f.lost(m.Name, "does not exist"))
			}
			continue
		}
		n++
		switch v := f.Volumes[i]; {
		case v.DeletionTimestamp != nil:
			one := doubtful("the volume claim of %s is being deleted, since %s: it goes with the pod, and all data on it",
				m.Name, duration.HumanDuration(f.Now.Sub(v.DeletionTimestamp.Time)))
			one.Next = "a new member takes its place, if the others are a quorum, before its pod is deleted"
			found = append(found, one)
		case v.Status.Phase == corev1.ClaimLost:
			found = append(found, f.lost(m.Name, "has lost its volume"))
		case v.Status.Phase == corev1.ClaimPending:
			one := doubtful("the volume claim of %s has no volume yet", m.Name)
			one.ByHand = fmt.Sprintf("see why: kubectl -n %s describe pvc %s", f.Cluster.Namespace, m.Name)
			found = append(found, one)
		}
	}
	if n == 0 && len(found) == 0 {
		return nil
	}
	return orGood(found, "%s, none of them being deleted", number(n, "volume"))
}

func (f *Facts) lost(member, how string) Finding {
	one := wrong("the volume claim of %s %s", member, how)
	one.Next = f.under()
	one.ByHand = fmt.Sprintf("kubectl -n %s describe pvc %s", f.Cluster.Namespace, member)
	return one
}

// number is a number of things.
func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
