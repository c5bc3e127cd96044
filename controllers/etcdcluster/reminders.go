package etcdcluster

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// remind tells kubelets once more of permits that they may have missed. A failure is only a delay.
func (r *Reconciler) remind(ctx context.Context, p *pass) {
	if p.observed.Cluster.Paused || p.cluster.DeletionTimestamp != nil {
		return
	}
	var due []plan.Pod
	due, p.reminder = plan.Reminders(p.observed)
	for _, untold := range due {
		note := map[string]any{resources.AnnotationReminded: r.Clock.Now().Format(time.RFC3339Nano)}
		pod := p.pods[untold.Name]
		if err := r.patch(ctx, pod.DeepCopy(), pod.UID, map[string]any{"annotations": note}); err != nil {
			log.FromContext(ctx).V(1).Info("a kubelet is not reminded of a permit", "pod", pod.Name, "error", err.Error())
		}
	}
}
