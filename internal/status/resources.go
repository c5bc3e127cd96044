package status

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// resizedOf reads what Auto Pilot has the members request.
func resizedOf(t *v1beta2.TunedResources) plan.Resized {
	if t == nil {
		return plan.Resized{}
	}
	return plan.Resized{
		Now: resources.AmountsOf(t.Requests), Before: resources.AmountsOf(t.Before), Since: t.Since.Time, GivenUp: t.GivenUp,
		InsteadOf: plan.Requirements{Requests: resources.AmountsOf(t.InsteadOf.Requests), Limits: resources.AmountsOf(t.InsteadOf.Limits)},
	}
}

// resizedFor shows that, nil if it is nothing.
func resizedFor(r plan.Resized) *v1beta2.TunedResources {
	if r == (plan.Resized{}) {
		return nil
	}
	return &v1beta2.TunedResources{
		Requests: listOf(r.Now), Before: listOf(r.Before), Since: metav1.NewTime(r.Since), GivenUp: r.GivenUp,
		InsteadOf: v1beta2.ResourceAmounts{Requests: listOf(r.InsteadOf.Requests), Limits: listOf(r.InsteadOf.Limits)},
	}
}

func listOf(r plan.Resources) corev1.ResourceList {
	list := corev1.ResourceList{}
	if r.CPU != 0 {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(r.CPU, resource.DecimalSI)
	}
	if r.Memory != 0 {
		list[corev1.ResourceMemory] = *resource.NewQuantity(r.Memory, resource.BinarySI)
	}
	return list
}
