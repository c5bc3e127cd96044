// Package objectcache defines what the controllers' cache holds of each object.
package objectcache

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/intern"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// Cached says which objects the reconcilers' cache holds, and which of their fields: caches are most of the operator's memory.
// No object is written back from the cache, so fields that are left out there cannot be lost.
func Cached() map[client.Object]cache.ByObject {
	ours := labels.SelectorFromSet(labels.Set{resources.LabelApp: resources.AppValue})
	return map[client.Object]cache.ByObject{
		&corev1.Pod{}:                   {Label: ours, Transform: trimPod},
		&corev1.PersistentVolumeClaim{}: {Label: ours},
		// A Service, a policy or a budget of another owner must be seen if it has a name that a cluster needs.
		&corev1.Service{}:               {Transform: trimService},
		&networkingv1.NetworkPolicy{}:   {Transform: trimPolicy},
		&policyv1.PodDisruptionBudget{}: {Transform: trimBudget},
		&v1beta2.EtcdCluster{}:          {Transform: trimCluster},
	}
}

// The transforms keep those fields of an object that an observation reads. Other types pass unchanged: the last known state of an
// object whose deletion was missed.

// trimPod keeps a pod's metadata and the parts of its spec and status that are read.
func trimPod(o any) (any, error) {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil
	}
	pod.ManagedFields = nil
	if agents(pod) { // there are few of them, and the whole status is needed to say why one fails
		pod.Spec = corev1.PodSpec{}
		return pod, nil
	}
	etcd := resources.EtcdOf(pod)
	spec, status := pod.Spec, pod.Status
	pod.Spec = corev1.PodSpec{
		NodeName: spec.NodeName, Containers: []corev1.Container{{
			Name: etcd.Name, Image: etcd.Image, Env: trimEnv(etcd.Env), Resources: etcd.Resources, ResizePolicy: etcd.ResizePolicy,
		}},
	}
	for _, c := range spec.Containers {
		if limit, limited := c.Resources.Limits[corev1.ResourceEphemeralStorage]; limited && c.Name != etcd.Name {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: c.Name, Resources: corev1.ResourceRequirements{
				Limits: corev1.ResourceList{corev1.ResourceEphemeralStorage: limit},
			}})
		}
	}
	for _, v := range spec.Volumes {
		if v.PersistentVolumeClaim != nil || v.Name == resources.TrustVolume {
			pod.Spec.Volumes = append(pod.Spec.Volumes, v)
		}
	}
	pod.Status = corev1.PodStatus{
		Phase: status.Phase, PodIP: status.PodIP, ObservedGeneration: status.ObservedGeneration,
		InitContainerStatuses: trimContainers(status.InitContainerStatuses),
		ContainerStatuses:     trimContainers(status.ContainerStatuses),
	}
	for _, c := range status.Conditions {
		switch c.Type {
		case corev1.PodReady, corev1.PodScheduled, corev1.PodResizePending, corev1.PodResizeInProgress:
			pod.Status.Conditions = append(pod.Status.Conditions, c)
		default:
		}
	}
	return pod, nil
}

// trimEnv keeps what a member serves.
func trimEnv(env []corev1.EnvVar) []corev1.EnvVar {
	for _, v := range env {
		if v.Name == member.EnvConfig {
			return []corev1.EnvVar{v}
		}
	}
	return nil
}

// agents reports whether the pod is an agent's rather than a member's.
func agents(pod *corev1.Pod) bool {
	_, backup := pod.Labels[resources.LabelBackup]
	_, restore := pod.Labels[resources.LabelRestore]
	return backup || restore
}

func trimContainers(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	kept := make([]corev1.ContainerStatus, 0, len(all))
	for _, s := range all {
		kept = append(kept, corev1.ContainerStatus{
			Name: s.Name, Image: s.Image, ImageID: s.ImageID, ContainerID: s.ContainerID,
			State: s.State, LastTerminationState: s.LastTerminationState, RestartCount: s.RestartCount,
		})
	}
	return kept
}

// trimService keeps the specs of clusters' Services, and only name and owner of all others: there may be many.
func trimService(o any) (any, error) {
	if service, ok := o.(*corev1.Service); ok {
		service.Status = corev1.ServiceStatus{}
		if trimMeta(&service.ObjectMeta) {
			service.Spec = corev1.ServiceSpec{}
		}
	}
	return o, nil
}

// trimPolicy keeps the specs of clusters' NetworkPolicies, and only name and owner of all others.
func trimPolicy(o any) (any, error) {
	if policy, ok := o.(*networkingv1.NetworkPolicy); ok && trimMeta(&policy.ObjectMeta) {
		policy.Spec = networkingv1.NetworkPolicySpec{}
	}
	return o, nil
}

// trimBudget keeps minAvailable, and whether an eviction is in flight.
func trimBudget(o any) (any, error) {
	if budget, ok := o.(*policyv1.PodDisruptionBudget); ok {
		trimMeta(&budget.ObjectMeta)
		budget.Spec = policyv1.PodDisruptionBudgetSpec{MinAvailable: budget.Spec.MinAvailable}
		budget.Status = policyv1.PodDisruptionBudgetStatus{
			ObservedGeneration: budget.Status.ObservedGeneration, DisruptedPods: budget.Status.DisruptedPods,
		}
	}
	return o, nil
}

// trimCluster removes the managed fields and kubectl's copy of the manifest, and keeps the names once that its certificates have in common.
func trimCluster(o any) (any, error) {
	if cluster, ok := o.(*v1beta2.EtcdCluster); ok {
		cluster.ManagedFields = nil
		delete(cluster.Annotations, corev1.LastAppliedConfigAnnotation)
		if tls := cluster.Status.TLS; tls != nil {
			share(tls.Certificates)
		}
	}
	return o, nil
}

// share has certificates with the same Secret, use or issuer share the memory of its name: a decoder makes a string for each.
func share(all []v1beta2.CertificateStatus) {
	known := intern.Strings{}
	for i := range all {
		all[i].Secret, all[i].Use, all[i].Issuer = known.One(all[i].Secret), known.One(all[i].Use), known.One(all[i].Issuer)
	}
}

// trimMeta reports whether the object belongs to no cluster, and then keeps only its name and owner.
func trimMeta(meta *metav1.ObjectMeta) (foreign bool) {
	meta.ManagedFields = nil
	if owner := metav1.GetControllerOfNoCopy(meta); owner != nil && owner.APIVersion == v1beta2.GroupVersion.String() {
		return false
	}
	*meta = metav1.ObjectMeta{
		Namespace: meta.Namespace, Name: meta.Name, UID: meta.UID, ResourceVersion: meta.ResourceVersion,
		OwnerReferences: meta.OwnerReferences,
	}
	return true
}
