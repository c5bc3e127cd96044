package resources

import (
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// SpecResources is what the spec has etcd's container request and be limited to, whatever Auto Pilot has made of it. What is only limited is
// requested in full, as in Kubernetes.
func SpecResources(c *v1beta2.EtcdCluster) plan.Requirements {
	given := podPolicy(c).Resources
	r := requirementsOf(given)
	if _, asked := given.Requests[corev1.ResourceCPU]; !asked {
		r.Requests.CPU = r.Limits.CPU
	}
	if _, asked := given.Requests[corev1.ResourceMemory]; !asked {
		r.Requests.Memory = r.Limits.Memory
	}
	return r
}

// requirementsOf are the CPU and the memory that are requested, and limited to.
func requirementsOf(r corev1.ResourceRequirements) plan.Requirements {
	return plan.Requirements{Requests: AmountsOf(r.Requests), Limits: AmountsOf(r.Limits)}
}

// AmountsOf are the CPU and the memory in a list.
func AmountsOf(list corev1.ResourceList) plan.Resources {
	return plan.Resources{CPU: list.Cpu().MilliValue(), Memory: list.Memory().Value()}
}

// PodRequests is what the etcd container of a pod requests.
func PodRequests(pod *corev1.Pod) plan.Resources { return AmountsOf(EtcdOf(pod).Resources.Requests) }

// tunedResources are those of the etcd container: the spec's, unless Auto Pilot has chosen other requests instead of those that the spec still
// has. Limits follow in proportion. What equals the request still does, and what is above it still is: so the quality of service is the same.
func tunedResources(c *v1beta2.EtcdCluster) corev1.ResourceRequirements {
	if !resourcesTuned(c) {
		return podPolicy(c).Resources
	}
	return scaled(c, AmountsOf(c.Status.Autopilot.Resources.Requests))
}

// installerResources are those, but no more than the spec's: they cannot be changed, and a pod requests the most of what its containers do, so that
// no node might take it that takes one by the spec.
func installerResources(c *v1beta2.EtcdCluster) corev1.ResourceRequirements {
	if !resourcesTuned(c) {
		return podPolicy(c).Resources
	}
	chosen, spec := AmountsOf(c.Status.Autopilot.Resources.Requests), SpecResources(c).Requests
	return scaled(c, plan.Resources{CPU: min(chosen.CPU, spec.CPU), Memory: min(chosen.Memory, spec.Memory)})
}

// scaled are the resources of the spec with other requests.
func scaled(c *v1beta2.EtcdCluster, requests plan.Resources) corev1.ResourceRequirements {
	tuned, spec := *podPolicy(c).Resources.DeepCopy(), SpecResources(c)
	scale(&tuned, corev1.ResourceCPU, requests.CPU, spec.Requests.CPU, func(n int64) resource.Quantity {
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	}, (*resource.Quantity).MilliValue)
	scale(&tuned, corev1.ResourceMemory, requests.Memory, spec.Requests.Memory, func(n int64) resource.Quantity {
		return *resource.NewQuantity(n, resource.BinarySI)
	}, (*resource.Quantity).Value)
	return tuned
}

// resourcesTuned reports whether Auto Pilot has chosen other requests instead of those that the spec still has.
func resourcesTuned(c *v1beta2.EtcdCluster) bool {
	a := c.Status.Autopilot
	if a == nil || a.Resources == nil {
		return false
	}
	instead := a.Resources.InsteadOf
	return SpecResources(c) == plan.Requirements{Requests: AmountsOf(instead.Requests), Limits: AmountsOf(instead.Limits)}
}

// scale has a container request so much instead of that, wherever it does, and be limited in proportion.
func scale(r *corev1.ResourceRequirements, name corev1.ResourceName, to, from int64, of func(int64) resource.Quantity, value func(*resource.Quantity) int64) {
	if to <= 0 || from <= 0 || to == from {
		return
	}
	if _, asked := r.Requests[name]; asked {
		r.Requests[name] = of(to)
	}
	if limit, limited := r.Limits[name]; limited {
		r.Limits[name] = of(proportionally(value(&limit), to, from))
	}
}

// proportionally is n*to/from, rounded up: without an overflow, and the same on every machine.
func proportionally(n, to, from int64) int64 {
	high, low := bits.Mul64(uint64(max(n, 0)), uint64(to)) //nolint:gosec // not negative
	divisor := uint64(from)                                //nolint:gosec // positive
	if high >= divisor {
		return n
	}
	quotient, rest := bits.Div64(high, low, divisor)
	if rest > 0 {
		quotient++
	}
	return int64(min(quotient, 1<<62))
}

// ResizeRestarts reports whether the kubelet starts etcd anew in that pod when its container is resized.
func ResizeRestarts(pod *corev1.Pod) bool {
	return slices.ContainsFunc(EtcdOf(pod).ResizePolicy, func(p corev1.ContainerResizePolicy) bool { return p.RestartPolicy == corev1.RestartContainer })
}

// Untuned is the cluster whose members request what its spec says, whatever Auto Pilot has made of their CPU and memory.
func Untuned(c *v1beta2.EtcdCluster) *v1beta2.EtcdCluster {
	out := *c
	if a := c.Status.Autopilot; a != nil {
		without := *a
		without.Resources = nil
		out.Status.Autopilot = &without
	}
	return &out
}

// HasSpecResources reports whether a pod has the resources of the spec although Auto Pilot has chosen others.
func (r Revision) HasSpecResources(pod *corev1.Pod) bool {
	return r.Tuned && r.Resources != r.SpecResources && pod.Annotations[AnnotationResources] == r.SpecResources
}

// RefusedResize reports whether Kubernetes has refused to resize the pod to what Auto Pilot has chosen.
func (r Revision) RefusedResize(pod *corev1.Pod) bool {
	given := pod.Annotations
	return r.Tuned && given[AnnotationFixed] == r.Resources && given[AnnotationResources] != r.Resources
}
