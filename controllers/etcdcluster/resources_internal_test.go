package etcdcluster

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// tuned has Auto Pilot have chosen two cores for each member, where the spec requests one.
func (p *pass) tuned(t *testing.T, r *Reconciler) {
	t.Helper()
	list := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	p.cluster.Spec.Pod.Resources = cpus("1")
	p.cluster.Status.Autopilot = &v1beta2.AutopilotStatus{Resources: &v1beta2.TunedResources{
		Requests: list("2"), Before: list("1"), InsteadOf: v1beta2.ResourceAmounts{Requests: list("1"), Limits: list("1")},
	}}
	var err error
	p.revision, err = resources.RevisionOf(p.cluster, r.podOptions(p))
	must(t, err)
}

// TestResizeAsChosen resizes a pod to what Auto Pilot has chosen, or to what the spec says if no node takes it, and makes none anew where that is
// refused.
func TestResizeAsChosen(t *testing.T) {
	resize := plan.Resize{Name: "c-0", UID: "pod"}
	back := resize
	back.ToSpec = true
	for title, c := range map[string]struct {
		action           plan.Resize
		answer           error
		cpu              string
		untuned, refused bool
	}{
		"chosen":  {resize, nil, "2", false, false},
		"spec":    {back, nil, "1", true, false},
		"refused": {resize, apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "c-0", nil), "", false, true},
	} {
		t.Run(title, func(t *testing.T) {
			r, p := onePass(t, c.action, interceptor.Funcs{
				SubResourcePatch: func(ctx context.Context, api client.Client, _ string, o client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
					if c.answer != nil {
						return c.answer
					}
					return api.Patch(ctx, o, patch)
				},
			})
			p.tuned(t, r)
			must(t, r.execute(t.Context(), p))
			pod := &corev1.Pod{}
			must(t, r.Live.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c-0"}, pod))
			for _, list := range []corev1.ResourceList{resources.EtcdOf(pod).Resources.Requests, resources.EtcdOf(pod).Resources.Limits} {
				if got := list[corev1.ResourceCPU]; c.cpu != "" && got.String() != c.cpu {
					t.Errorf("it has %v", resources.EtcdOf(pod).Resources)
				}
			}
			if p.revision.HasSpecResources(pod) != c.untuned || p.revision.RefusedResize(pod) != c.refused {
				t.Errorf("untuned %t, refused %t, by %v", p.revision.HasSpecResources(pod), p.revision.RefusedResize(pod), pod.Annotations)
			}
			if d := p.revision.Drift(pod, ""); d.Template || d.Resources {
				t.Errorf("it differs: %+v", d)
			}
		})
	}
}

// TestResizeConditions reads what the kubelet says of a resize, and takes nothing that it has said of an earlier one for the present one.
func TestResizeConditions(t *testing.T) {
	since := metav1.NewTime(noon.Add(-time.Minute))
	pod := func(kind corev1.PodConditionType, reason string, of int64) plan.Pod {
		return podOf(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Generation: 3},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: resources.EtcdContainer, Resources: corev1.ResourceRequirements{Requests: cpus("1500m").Requests},
			}}},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
				Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: "m", LastTransitionTime: since, ObservedGeneration: of,
			}}},
		})
	}
	for title, c := range map[string]struct {
		got        plan.Pod
		infeasible bool
	}{
		"infeasible":                 {pod(corev1.PodResizePending, corev1.PodReasonInfeasible, 3), true},
		"infeasible, of no version":  {pod(corev1.PodResizePending, corev1.PodReasonInfeasible, 0), true},
		"infeasible, of another one": {pod(corev1.PodResizePending, corev1.PodReasonInfeasible, 2), false},
		"deferred":                   {pod(corev1.PodResizePending, corev1.PodReasonDeferred, 3), false},
		"below what is used":         {pod(corev1.PodResizeInProgress, corev1.PodReasonError, 3), false},
	} {
		if p := c.got; p.ResizeInfeasible != c.infeasible || p.Resizing == "" || !p.ResizingSince.Equal(since.Time) || p.Requests.CPU != 1500 {
			t.Errorf("%s: %+v", title, p)
		}
	}
}
