package doctor

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reasons"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// rights are those of whoever runs this program.
func rights(f *Facts) []Finding {
	if f.Unread[Rights] != "" {
		return f.unread(Rights, "what you may do")
	}
	var missing []string
	for _, r := range f.Rights {
		if !r.Allowed {
			missing = append(missing, fmt.Sprintf("%q %s (%s)", r.Verb, r.Resource, r.For))
		}
	}
	if len(missing) == 0 {
		return good("you may read all that is judged here")
	}
	found := doubtful("you may not %s", strings.Join(missing, ", nor "))
	found.ByHand = "ask whoever gives rights, in namespace " + f.Cluster.Namespace + " if none is named, for these"
	return []Finding{found}
}

// operator tells whether somebody looks after the cluster.
func operator(f *Facts) []Finding {
	ref := f.Cluster.Status.Operator
	if ref == nil {
		found := doubtful("no operator has marked the cluster as its own")
		found.ByHand = "see whether one runs and watches this namespace: kubectl get pods -A -l control-plane=controller-manager. One without leader election marks nothing"
		return []Finding{found}
	}
	lease := ref.Namespace + "/" + ref.Lease
	switch {
	case f.Unread[Leases] != "":
		return f.unread(Leases, "whether it runs")
	case !f.Lease.Exists:
		return []Finding{gone("its Lease %s does not exist: the operator that acted on the cluster is gone", lease)}
	case f.Lease.Holder == "":
		return []Finding{gone("nobody holds its Lease %s: it was shut down", lease)}
	case !f.Lease.Alive(f.Now):
		return []Finding{gone("it does not renew its Lease %s, last %s ago by %s",
			lease, duration.HumanDuration(f.Now.Sub(f.Lease.Renewed)), f.Lease.Holder)}
	case f.Cluster.Status.ObservedGeneration < f.Cluster.Generation:
		found := doubtful("it has not looked at the last edit of the spec yet: that is generation %d, and status is of %d",
			f.Cluster.Generation, f.Cluster.Status.ObservedGeneration)
		found.ByHand = "look again in a minute. If it stays so, read the operator's log: kubectl -n " + ref.Namespace + " logs " + f.Lease.Pod()
		return []Finding{found}
	}
	return good("%s/%s renews its Lease", ref.Namespace, f.Lease.Pod())
}

func gone(format string, args ...any) Finding {
	found := wrong(format, args...)
	found.ByHand = "see why its pod does not run: kubectl get pods -A -l control-plane=controller-manager. Members serve on without it, and nothing is repaired or backed up"
	found.Runbook = runbook("EtcdOperatorDown")
	return found
}

// acts reports whether an operator looks after the cluster, as far as known.
func (f *Facts) acts() bool {
	off := f.Cluster.Spec.Paused || f.Cluster.DeletionTimestamp != nil
	return !off && (f.Unread[Leases] != "" || f.Cluster.Status.Operator != nil && f.Lease.Alive(f.Now))
}

// paused tells whether the operator is kept from acting.
func paused(f *Facts) []Finding {
	c := f.Cluster
	switch {
	case c.DeletionTimestamp != nil:
		return []Finding{doubtful("the EtcdCluster is being deleted, since %s", duration.HumanDuration(f.Now.Sub(c.DeletionTimestamp.Time)))}
	case c.Spec.Paused:
		found := doubtful("spec.paused is true: nothing is repaired, updated or restored")
		found.ByHand = fmt.Sprintf(`kubectl -n %s patch etcdcluster %s --type=merge -p '{"spec":{"paused":false}}'`, c.Namespace, c.Name)
		return []Finding{found}
	case f.hibernates():
		found := doubtful("the cluster hibernates: all members are stopped, or about to be, and their volumes stay (spec.hibernate)")
		found.ByHand = fmt.Sprintf(`kubectl -n %s patch etcdcluster %s --type=merge -p '{"spec":{"hibernate":false}}'`, c.Namespace, c.Name)
		return []Finding{found}
	}
	return good("the operator may act: spec.paused is false")
}

// hibernates reports whether the members are stopped on purpose.
func (f *Facts) hibernates() bool { return f.Cluster.Status.Hibernation == string(plan.Hibernated) }

// under is what the operator says that it does or waits for, empty if it says nothing.
func (f *Facts) under() string {
	said := meta.FindStatusCondition(f.Cluster.Status.Conditions, v1beta2.ConditionProgressing)
	if said == nil || said.Status != metav1.ConditionTrue {
		return ""
	}
	return fmt.Sprintf("%s: %s", said.Reason, cmp.Or(said.Message, "it is at work"))
}

// conditions are those that are not as they should be, each reason once.
func conditions(f *Facts) []Finding {
	var found []Finding
	types := map[string][]string{} // by reason
	var amiss []metav1.Condition   // the first of each reason
	for _, kind := range []string{
		v1beta2.ConditionAvailable, v1beta2.ConditionDegraded, v1beta2.ConditionReady, v1beta2.ConditionCertificatesValid, v1beta2.ConditionAuthenticated,
		v1beta2.ConditionAnomaly,
	} {
		said := meta.FindStatusCondition(f.Cluster.Status.Conditions, kind)
		if said != nil && said.Reason == v1beta2.ReasonHibernated {
			continue // as somebody has asked for
		}
		if said == nil || said.Status == metav1.ConditionUnknown || (said.Status == metav1.ConditionTrue) == (kind != v1beta2.ConditionDegraded && kind != v1beta2.ConditionAnomaly) {
			continue
		}
		if types[said.Reason] == nil {
			amiss = append(amiss, *said)
		}
		types[said.Reason] = append(types[said.Reason], kind+" is "+string(said.Status))
	}
	for _, said := range amiss {
		means := reasons.Of(said.Reason)
		one := doubtful("%s for %s, %s: %s", strings.Join(types[said.Reason], ", "), duration.HumanDuration(f.Now.Sub(said.LastTransitionTime.Time)), said.Reason,
			cmp.Or(said.Message, means.Says))
		if said.Type != v1beta2.ConditionReady { // that one alone is not true during every change
			one.Verdict = Wrong
		}
		one.Next, one.ByHand, one.Why = f.under(), means.Todo, reasons.Link(said.Reason)
		found = append(found, one)
	}
	if len(f.Cluster.Status.Conditions) == 0 {
		return []Finding{doubtful("the operator has said nothing of this cluster yet")}
	}
	return orGood(found, "all are as they should be")
}
