package etcdcluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// execute carries out the one action of this pass. What goes into status takes effect with the status write at its end,
// which is a compare-and-swap on the version that was read; of what decisions depend on there plan.Record takes care. The linter
// wants every action to be in the list.
func (r *Reconciler) execute(ctx context.Context, p *pass) error { //nolint:gocyclo // a plain list
	switch a := p.action.(type) {
	// The status write is all there is to these.
	case plan.Idle, plan.Wait, plan.Blocked, plan.CommitVoters:
	case plan.CommitBootstrap:
		noteRestore(p, a)
	case plan.CallOff:
		noteCallOff(p, a)
	case plan.ContinueRestore:
		noteContinued(p, a)
	case plan.Latch:
		noteUnsaved(p, a)
	case plan.Adopt:
		return r.adopt(ctx, p, a)
	case plan.CreateRestore:
		return r.createRestore(ctx, p, a)
	case plan.CreateVolumes:
		return r.createVolumes(ctx, p, a)
	case plan.CreatePods:
		return r.createPods(ctx, p, a)
	case plan.WritePermits:
		return r.writePermits(ctx, p, a)
	case plan.Serve:
		return r.serve(ctx, p, a)
	case plan.Unserve:
		return r.unserve(ctx, p, a)
	case plan.SetBudget:
		return r.apply(ctx, resources.Budget(p.cluster, a.MinAvailable))
	case plan.DeletePod:
		return r.delete(ctx, p, &corev1.Pod{}, a.Name, a.UID)
	case plan.DeleteVolume:
		return r.delete(ctx, p, &corev1.PersistentVolumeClaim{}, a.Name, a.UID)
	case plan.SetMetadata:
		return r.setMetadata(ctx, p, a)
	case plan.Resize:
		return r.resize(ctx, p, a)
	case plan.SetImage:
		return r.setImage(ctx, p, a)
	case plan.Recreate:
		return r.recreate(ctx, p, a)
	case plan.Expand:
		return r.expand(ctx, p, a)
	case plan.PullImages:
		return r.pullImages(ctx, p, a)
	case plan.EndPull:
		return r.delete(ctx, p, &corev1.Pod{}, a.Name, a.UID)
	case plan.AddLearner:
		return p.session.AddLearner(ctx, a.PeerURL)
	case plan.Promote:
		return p.session.Promote(ctx, a.ID)
	case plan.MoveLeader:
		return p.session.MoveLeader(ctx, a.From, a.To)
	case plan.RemoveMember:
		return p.session.Remove(ctx, a.ID)
	case plan.EnableDowngrade:
		return p.session.EnableDowngrade(ctx, a.Version)
	case plan.CancelDowngrade:
		return p.session.CancelDowngrade(ctx)
	}
	return nil
}

// errNameTaken says that an object of somebody else has a name that the cluster needs.
var errNameTaken = errors.New("the name is taken")

func (r *Reconciler) createVolumes(ctx context.Context, p *pass, a plan.CreateVolumes) error {
	for _, name := range a.Names {
		claim := resources.Volume(p.cluster, name, a.Incarnation)
		if err := r.create(ctx, p, claim); err != nil {
			return fmt.Errorf("create PersistentVolumeClaim %s: %w", name, err)
		}
	}
	return nil
}

func (r *Reconciler) createPods(ctx context.Context, p *pass, a plan.CreatePods) error {
	for _, n := range a.Pods {
		spec := p.cluster
		if n.Former {
			spec = p.former
		}
		pod, err := resources.Pod(spec, n.Name, n.Incarnation, n.Permit, r.optionsFor(n))
		if err == nil && n.Restores {
			err = r.addRestore(p, pod)
		}
		if err != nil {
			return err
		}
		if err := r.create(ctx, p, pod); err != nil {
			return fmt.Errorf("create Pod %s: %w", n.Name, err)
		}
	}
	return nil
}

// create never takes "already exists" for success: either the view was stale, and the next pass sees the object, or the
// object is somebody else's, or its labels were removed by hand and it cannot be found any more.
func (r *Reconciler) create(ctx context.Context, p *pass, o client.Object) error {
	kind, labels := fmt.Sprintf("%T", o), o.GetLabels()
	err := r.Client.Create(ctx, o, client.FieldOwner(resources.FieldOwner))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if getErr := r.Live.Get(ctx, client.ObjectKeyFromObject(o), o); getErr != nil {
		return getErr
	}
	if conflict := conflictOf(kind, o, p.cluster); conflict != nil && !conflict.Leaving {
		return fmt.Errorf("%w: %s belongs to %s: delete it or give this cluster another name",
			errNameTaken, o.GetName(), conflict.Owner)
	}
	if patchErr := r.patch(ctx, o, o.GetUID(), map[string]any{"labels": labels}); patchErr != nil {
		return patchErr
	}
	return err
}

// writePermits marks the volume as used before the permit lets anybody write to it.
func (r *Reconciler) writePermits(ctx context.Context, p *pass, a plan.WritePermits) error {
	for _, w := range a.Permits {
		if claim, ok := p.claims[w.Pod]; ok && resources.PodPersistent(p.pods[w.Pod]) {
			born := map[string]any{
				resources.AnnotationVolumeUID: string(claim.UID),
				resources.AnnotationClusterID: w.Permit.ClusterID.String(),
				resources.AnnotationMemberID:  w.Permit.MemberID.String(),
				resources.AnnotationVersion:   versionOf(p, w.Pod),
				resources.AnnotationTemplate:  p.pods[w.Pod].Annotations[resources.AnnotationTemplate],
			}
			if err := r.patch(ctx, claim, claim.UID, map[string]any{"annotations": born}); err != nil {
				return fmt.Errorf("mark volume %s: %w", w.Pod, err)
			}
		}
		text, err := w.Permit.Encode()
		if err != nil {
			return err
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.cluster.Namespace, Name: w.Pod}}
		note := map[string]any{member.PermitAnnotation: text}
		if p.pods[w.Pod].Annotations[resources.AnnotationPermitted] == "" {
			note[resources.AnnotationPermitted] = r.Clock.Now().Format(time.RFC3339Nano)
		}
		meta := map[string]any{"annotations": note}
		if err := r.patch(ctx, pod, types.UID(w.UID), meta); err != nil {
			return fmt.Errorf("write the permit of %s: %w", w.Pod, err)
		}
	}
	return nil
}

func (r *Reconciler) serve(ctx context.Context, p *pass, a plan.Serve) error {
	for _, seen := range p.observed.Pods {
		for _, name := range a.Pods {
			if seen.Name != name {
				continue
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.cluster.Namespace, Name: name}}
			meta := map[string]any{"labels": map[string]any{resources.LabelServing: "true"}}
			if err := r.patch(ctx, pod, types.UID(seen.UID), meta); err != nil {
				return fmt.Errorf("label Pod %s: %w", name, err)
			}
		}
	}
	return nil
}

func (r *Reconciler) unserve(ctx context.Context, p *pass, a plan.Unserve) error {
	meta := map[string]any{
		"labels":      map[string]any{resources.LabelServing: nil},
		"annotations": map[string]any{resources.AnnotationUnserved: r.Clock.Now().Format(time.RFC3339Nano)},
	}
	if err := r.patch(ctx, p.pods[a.Pod], types.UID(a.UID), meta); err != nil {
		return fmt.Errorf("take the label off Pod %s: %w", a.Pod, err)
	}
	return nil
}

// adopt makes retained volumes this cluster's own.
func (r *Reconciler) adopt(ctx context.Context, p *pass, a plan.Adopt) error {
	for _, name := range a.Volumes {
		claim := p.claims[name]
		meta := map[string]any{
			"annotations": map[string]any{
				resources.AnnotationClusterUID: string(p.cluster.UID), resources.AnnotationVolumeUID: string(claim.UID),
			},
			"ownerReferences": resources.VolumeOwners(p.cluster),
		}
		if err := r.patch(ctx, claim, claim.UID, meta); err != nil {
			return fmt.Errorf("adopt volume %s: %w", name, err)
		}
	}
	return nil
}

// patch merges metadata into exactly the object with that UID: another one of the same name is a conflict.
func (r *Reconciler) patch(ctx context.Context, o client.Object, uid types.UID, meta map[string]any) error {
	body, err := encodePatch(uid, meta, nil)
	if err != nil {
		return err
	}
	return r.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, body), client.FieldOwner(resources.FieldOwner))
}

func (r *Reconciler) delete(ctx context.Context, p *pass, o client.Object, name, uid string) error {
	return reconcile.DeleteExact(ctx, r.Client, o, p.cluster.Namespace, name, uid)
}
