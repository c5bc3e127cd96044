package etcdcluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/clusterspec"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// volumeOf reads what matters of a claim. The spec that its pod is to be made from is not known yet.
func volumeOf(p *pass, claim *corev1.PersistentVolumeClaim) plan.Volume {
	c := p.cluster
	size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	there, known := claim.Status.Capacity[corev1.ResourceStorage]
	wanted := resource.NewQuantity(clusterspec.VolumeSize(c), resource.BinarySI)
	requested := resources.VolumeSize(claim, *wanted)
	v := plan.Volume{
		Name: claim.Name, UID: string(claim.UID),
		Deleting:      !claim.DeletionTimestamp.IsZero(),
		Lost:          claim.Status.Phase == corev1.ClaimLost,
		Incarnation:   number(claim.Labels[resources.LabelIncarnation]),
		Owned:         resources.VolumeOwned(c, claim),
		Foreign:       resources.ForeignVolume(c, claim),
		ClusterID:     uint64(member.ParseID(claim.Annotations[resources.AnnotationClusterID])),
		MemberID:      uint64(member.ParseID(claim.Annotations[resources.AnnotationMemberID])),
		Quarantined:   claim.Annotations[resources.AnnotationQuarantined] != "",
		Transport:     resources.VolumeTransport(claim),
		Version:       claim.Annotations[resources.AnnotationVersion],
		Requested:     requested.Value(),
		Expanding:     known && there.Cmp(size) < 0,
		NotExpandable: claim.Annotations[resources.AnnotationFixed] == wanted.String(),
		Drift:         resources.VolumeDrift(c, claim),
		Legacy:        resources.LegacyVolume(claim),
	}
	if size.Cmp(requested) < 0 {
		v.Capped = size.Value()
	}
	return v
}

// unlistedKept are the claims in status.keptVolumes that are not among those with the cluster's labels. Whoever has taken the
// labels off has not deleted the claim: only the API server can tell that it is gone.
func (r *Reconciler) unlistedKept(ctx context.Context, c *v1beta2.EtcdCluster, listed []corev1.PersistentVolumeClaim) (
	[]corev1.PersistentVolumeClaim, error,
) {
	var unlisted []corev1.PersistentVolumeClaim
	for _, kept := range c.Status.KeptVolumes {
		if slices.ContainsFunc(listed, func(claim corev1.PersistentVolumeClaim) bool { return string(claim.UID) == kept.UID }) {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: kept.Name}, claim)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read the kept claim %s: %w", kept.Name, err)
		}
		if err == nil && string(claim.UID) == kept.UID {
			unlisted = append(unlisted, *claim)
		}
	}
	return unlisted, nil
}

// markVolume notes what the member on a volume is to run and to serve, and whose data it holds, before anything makes it so.
func (r *Reconciler) markVolume(ctx context.Context, p *pass, e plan.MarkVolume, options ...client.PatchOption) error {
	marks := map[string]any{resources.AnnotationVersion: e.Version}
	if e.ClusterID != 0 {
		marks[resources.AnnotationVolumeUID] = e.UID
		marks[resources.AnnotationClusterID] = member.ID(e.ClusterID).String()
		marks[resources.AnnotationMemberID] = member.ID(e.MemberID).String()
	}
	switch e.Template {
	case plan.KeepMark:
	case plan.MarkPodTemplate:
		marks[resources.AnnotationTemplate] = p.pods[e.Name].Annotations[resources.AnnotationTemplate]
		marks[resources.AnnotationTransport] = resources.TransportMark(resources.PodTransport(p.pods[e.Name]))
	case plan.MarkSpecTemplate:
		marks[resources.AnnotationTemplate] = p.revision.Template
		marks[resources.AnnotationTransport] = resources.TransportMark(p.transport.Served())
	}
	return r.annotateClaim(ctx, p, e.Name, e.UID, marks, options...)
}

// markQuarantined notes whether the member on a volume is quarantined.
func (r *Reconciler) markQuarantined(ctx context.Context, p *pass, e plan.MarkQuarantined) error {
	marks := map[string]any{resources.AnnotationQuarantined: nil}
	if e.Quarantined {
		marks[resources.AnnotationQuarantined] = "true"
	}
	return r.annotateClaim(ctx, p, e.Name, e.UID, marks)
}

// annotateClaim writes annotations onto the claim with exactly that UID.
func (r *Reconciler) annotateClaim(ctx context.Context, p *pass, name, uid string, marks map[string]any, options ...client.PatchOption) error {
	if err := r.patch(ctx, p.claims[name].DeepCopy(), types.UID(uid), map[string]any{"annotations": marks}, options...); err != nil {
		return fmt.Errorf("mark volume %s: %w", name, err)
	}
	return nil
}

// expand asks for more storage. Where the volume's class does not allow it the volume is marked, so that the planner finds another
// way. A quota or a policy may yet allow it.
func (r *Reconciler) expand(ctx context.Context, p *pass, e plan.ExpandVolume) error {
	size := resource.NewQuantity(p.observed.Cluster.VolumeSize, resource.BinarySI).String()
	claim, uid := p.claims[e.Name], types.UID(e.UID)
	body, err := encodePatch(uid, nil, map[string]any{"spec": map[string]any{
		"resources": map[string]any{"requests": map[string]any{string(corev1.ResourceStorage): size}},
	}})
	if err != nil {
		return err
	}
	made := claim.DeepCopy()
	err = r.Client.Patch(ctx, made, client.RawPatch(types.MergePatchType, body))
	if there := made.Spec.Resources.Requests[corev1.ResourceStorage]; err == nil && there.String() != size {
		err = &rewrittenError{"the requested size does not stay as it was written: an admission webhook or policy changes it back"}
	}
	if invalid(err) || apierrors.IsForbidden(err) && !reconcile.Denied(err) && strings.Contains(err.Error(), "must support resize") {
		err = r.patch(ctx, claim, uid, map[string]any{"annotations": map[string]any{resources.AnnotationFixed: size}})
	}
	if reconcile.IgnoreGone(err) != nil {
		return fmt.Errorf("expand volume %s: %w", e.Name, err)
	}
	return nil
}
