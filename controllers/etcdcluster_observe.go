package controllers

import (
	"context"
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// observe reads everything a decision may depend on. Its errors are those of the Kubernetes API only: an etcd that does
// not answer is an observation.
func (r *EtcdClusterReconciler) observe(ctx context.Context, reader client.Reader, c *v1beta2.EtcdCluster) (
	*pass, error,
) {
	p := &pass{
		cluster: c, before: c.Status.DeepCopy(),
		services: map[string]*corev1.Service{}, claims: map[string]*corev1.PersistentVolumeClaim{},
	}
	p.observed = plan.Observed{Now: r.Clock.Now(), Cluster: desired(c)}
	if err := r.observePods(ctx, reader, p); err != nil {
		return nil, err
	}
	if err := observeVolumes(ctx, reader, p); err != nil {
		return nil, err
	}
	if err := observeServices(ctx, reader, p); err != nil {
		return nil, err
	}
	if err := observeBudget(ctx, reader, p); err != nil {
		return nil, err
	}
	p.session = r.Etcd.Observe(ctx, client.ObjectKeyFromObject(c).String(), nil, endpoints(p.observed))
	p.observed.Etcd = p.session.Seen
	return p, nil
}

// desired is the part of an observation that the EtcdCluster itself holds.
func desired(c *v1beta2.EtcdCluster) plan.Cluster {
	return plan.Cluster{
		Namespace: c.Namespace, Name: c.Name, UID: string(c.UID), Domain: resources.Domain(c),
		Size: int(c.Spec.Size), Paused: c.Spec.Paused, Deleting: !c.DeletionTimestamp.IsZero(),
		Persistent: resources.Persistent(c), Invalid: validate(c),
		ID: parseID(c.Status.ClusterID), Bootstrap: bootstrapOf(c.Status.Bootstrap),
		Revision: c.Status.Revision, Voters: status.Voters(&c.Status),
	}
}

func (r *EtcdClusterReconciler) observePods(ctx context.Context, reader client.Reader, p *pass) error {
	pods := &corev1.PodList{}
	if err := listOf(ctx, reader, p.cluster, pods); err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if conflict := conflictOf("Pod", pod, p.cluster); conflict != nil {
			p.observed.Conflicts = append(p.observed.Conflicts, *conflict)
			continue
		}
		seen := podOf(pod)
		fresh, err := resources.Pod(p.cluster, pod.Name, seen.Incarnation, nil, r.podOptions(p.cluster))
		if err != nil {
			return err
		}
		seen.Outdated = pod.Annotations[resources.AnnotationSpecHash] != fresh.Annotations[resources.AnnotationSpecHash]
		p.observed.Pods = append(p.observed.Pods, seen)
	}
	return nil
}

func observeVolumes(ctx context.Context, reader client.Reader, p *pass) error {
	claims := &corev1.PersistentVolumeClaimList{}
	if err := listOf(ctx, reader, p.cluster, claims); err != nil {
		return err
	}
	for i := range claims.Items {
		claim := &claims.Items[i]
		if owner := metav1.GetControllerOf(claim); owner != nil && owner.UID != p.cluster.UID {
			p.observed.Conflicts = append(p.observed.Conflicts, *conflictOf("PersistentVolumeClaim", claim, p.cluster))
			continue
		}
		p.claims[claim.Name] = claim
		p.observed.Volumes = append(p.observed.Volumes, plan.Volume{
			Name: claim.Name, UID: string(claim.UID),
			Deleting:    !claim.DeletionTimestamp.IsZero(),
			Lost:        claim.Status.Phase == corev1.ClaimLost,
			Incarnation: number(claim.Labels[resources.LabelIncarnation]),
			Owned:       claim.Annotations[resources.AnnotationClusterUID] == string(p.cluster.UID),
			ClusterID:   parseID(claim.Annotations[resources.AnnotationClusterID]),
			MemberID:    parseID(claim.Annotations[resources.AnnotationMemberID]),
		})
	}
	return nil
}

func observeServices(ctx context.Context, reader client.Reader, p *pass) error {
	for _, name := range []string{
		resources.PeerServiceName(p.cluster.Name), resources.ClientServiceName(p.cluster.Name),
	} {
		service := &corev1.Service{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: p.cluster.Namespace, Name: name}, service)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read Service %s: %w", name, err)
		}
		if err != nil {
			continue
		}
		p.services[name] = service
		if conflict := conflictOf("Service", service, p.cluster); conflict != nil {
			p.observed.Conflicts = append(p.observed.Conflicts, *conflict)
		}
	}
	return nil
}

func observeBudget(ctx context.Context, reader client.Reader, p *pass) error {
	budget := &policyv1.PodDisruptionBudget{}
	name := resources.BudgetName(p.cluster.Name)
	err := reader.Get(ctx, client.ObjectKey{Namespace: p.cluster.Namespace, Name: name}, budget)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if conflict := conflictOf("PodDisruptionBudget", budget, p.cluster); conflict != nil {
		p.observed.Conflicts = append(p.observed.Conflicts, *conflict)
		return nil
	}
	p.observed.Budget = plan.Budget{
		Exists: true,
		// Evictions in flight are listed as disrupted pods until their pods are gone.
		Settled: budget.Status.ObservedGeneration >= budget.Generation && len(budget.Status.DisruptedPods) == 0,
	}
	if budget.Spec.MinAvailable != nil {
		p.observed.Budget.MinAvailable = budget.Spec.MinAvailable.IntValue()
	}
	return nil
}

func listOf(ctx context.Context, reader client.Reader, c *v1beta2.EtcdCluster, into client.ObjectList) error {
	err := reader.List(ctx, into, client.InNamespace(c.Namespace),
		client.MatchingLabels(resources.ClusterSelector(c.Name)))
	if err != nil {
		return fmt.Errorf("list %T: %w", into, err)
	}
	return nil
}

// conflictOf tells whose an object is that this cluster does not control, nil if it does.
func conflictOf(kind string, o client.Object, c *v1beta2.EtcdCluster) *plan.Conflict {
	owner := metav1.GetControllerOf(o)
	if owner != nil && owner.UID == c.UID {
		return nil
	}
	conflict := &plan.Conflict{Kind: kind, Name: o.GetName(), Owner: "nobody"}
	if owner != nil {
		conflict.Owner = owner.Kind + " " + owner.Name
		conflict.Leaving = owner.Kind == "EtcdCluster" && owner.Name == c.Name
	}
	return conflict
}

// endpoints are the pods' addresses, with the members' DNS names for TLS: so it also works from outside the cluster.
func endpoints(o plan.Observed) []etcd.Endpoint {
	var out []etcd.Endpoint
	for _, p := range o.Pods {
		if p.Phase == plan.Running && p.IP != "" && p.Permit != nil {
			out = append(out, etcd.Endpoint{
				Pod: p.Name, PodUID: p.UID, ServerName: o.Cluster.Host(p.Name),
				Address: net.JoinHostPort(p.IP, strconv.Itoa(member.ClientPort)),
			})
		}
	}
	return out
}

// podOf reads what matters of a pod.
func podOf(pod *corev1.Pod) plan.Pod {
	seen := plan.Pod{
		Name: pod.Name, UID: string(pod.UID), IP: pod.Status.PodIP, Node: pod.Spec.NodeName,
		Incarnation: number(pod.Labels[resources.LabelIncarnation]),
		Zone:        pod.Labels[corev1.LabelTopologyZone],
		Phase:       phaseOf(pod),
		Created:     pod.CreationTimestamp.Time,
		Problem:     problemOf(pod),
		Permit:      permitOf(pod.Annotations[member.PermitAnnotation]),
		Serving:     pod.Labels[resources.LabelServing] == "true",
	}
	if refusal, ok := refusalOf(pod); ok {
		seen.Exit, seen.Refused = exits[refusal.Reason], refusal.Attempt
	}
	if pod.DeletionTimestamp != nil {
		seen.Deleting, seen.Deadline = true, pod.DeletionTimestamp.Time
	}
	for _, c := range pod.Status.Conditions {
		seen.Ready = seen.Ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	return seen
}
