package etcdcluster

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/controllers/internal/clusterspec"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// volumeOf reads what matters of a claim.
func volumeOf(p *pass, claim *corev1.PersistentVolumeClaim) plan.Volume {
	c := p.cluster
	size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	there, known := claim.Status.Capacity[corev1.ResourceStorage]
	wanted := resource.NewQuantity(clusterspec.VolumeSize(c), resource.BinarySI)
	return plan.Volume{
		Name: claim.Name, UID: string(claim.UID),
		Deleting:    !claim.DeletionTimestamp.IsZero(),
		Lost:        claim.Status.Phase == corev1.ClaimLost,
		Incarnation: number(claim.Labels[resources.LabelIncarnation]),
		Owned:       resources.VolumeOwned(c, claim),
		Foreign:     resources.ForeignVolume(c, claim),
		ClusterID:   parseID(claim.Annotations[resources.AnnotationClusterID]),
		MemberID:    parseID(claim.Annotations[resources.AnnotationMemberID]),
		Version:     claim.Annotations[resources.AnnotationVersion],
		Former:      p.former != nil && claim.Annotations[resources.AnnotationTemplate] == p.formerTemplate,
		Requested:   size.Value(),
		Growing:     known && there.Cmp(size) < 0,
		Fixed:       claim.Annotations[resources.AnnotationFixed] == wanted.String(),
		Drift:       resources.VolumeDrift(c, claim),
		Legacy:      resources.LegacyVolume(claim),
	}
}

// markVolume notes what the member on a volume is to run, before anything makes it run that.
func (r *Reconciler) markVolume(ctx context.Context, p *pass, name string, marks map[string]any) error {
	claim, ok := p.claims[name]
	if !ok || !slices.ContainsFunc(p.observed.Pods, func(pod plan.Pod) bool {
		return pod.Name == name && pod.Persistent
	}) {
		return nil
	}
	meta := map[string]any{"annotations": marks}
	if err := r.patch(ctx, claim, claim.UID, meta); err != nil {
		return fmt.Errorf("mark volume %s: %w", name, err)
	}
	return nil
}

// expand asks for more storage. Kubernetes refuses where the volume's class does not allow it, and then the volume is
// marked, so that the planner finds another way.
func (r *Reconciler) expand(ctx context.Context, p *pass, a plan.Expand) error {
	size := resource.NewQuantity(p.observed.Cluster.VolumeSize, resource.BinarySI).String()
	for _, name := range a.Names {
		claim := p.claims[name]
		body, err := encodePatch(claim.UID, nil, map[string]any{"spec": map[string]any{
			"resources": map[string]any{"requests": map[string]any{string(corev1.ResourceStorage): size}},
		}})
		if err != nil {
			return err
		}
		err = r.Client.Patch(ctx, claim.DeepCopy(), client.RawPatch(types.MergePatchType, body))
		if refusedForGood(err) {
			meta := map[string]any{"annotations": map[string]any{resources.AnnotationFixed: size}}
			err = r.patch(ctx, claim, claim.UID, meta)
		}
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("expand volume %s: %w", name, err)
		}
	}
	return nil
}
