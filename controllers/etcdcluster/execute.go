package etcdcluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// execute carries out the one action of this pass. Changes of status take effect with the status write at its end, a
// compare-and-swap on the version that was read; what decisions depend on there is in plan.Record.
func (r *Reconciler) execute(ctx context.Context, p *pass) error {
	noteDecided(p)
	if accepted, err := r.accepted(ctx, p); err != nil || !accepted {
		return err
	}
	effects := plan.Effects(p.action, p.observed)
	for i := 0; i < len(effects) && !p.late(ctx); {
		refused, err := r.try(ctx, p, effects[i])
		switch {
		case err != nil:
			return err
		case refused:
			i = plan.AfterRefused(effects, i)
		default:
			i++
		}
	}
	p.done = !p.late(ctx) && !slices.Contains(effects, plan.Effect(plan.WriteStatus{}))
	return nil
}

// try makes one change, and reports whether the API server refuses it: a refusal holds up only what relies on that change.
func (r *Reconciler) try(ctx context.Context, p *pass, effect plan.Effect) (refused bool, err error) {
	err, target := r.carryOut(ctx, p, effect), plan.TargetOf(effect)
	if target == (plan.Target{}) {
		return false, err
	}
	if message, refused := r.refusalOf(ctx, p, err); refused {
		r.refuse(p, target, message)
		r.refuseUpdate(p, effect, message)
		return true, nil
	}
	if err == nil {
		p.outcome.accepted = append(p.outcome.accepted, target)
		r.refusals.done(p.key(), target)
		if pod, creates := effect.(plan.CreatePod); creates && !pod.FromPreviousSpec { // so it would be by an update
			r.refusals.done(p.key(), plan.TargetOfUpdate(plan.Recreate{Name: pod.Name}))
		}
	}
	return false, err
}

// carryOut makes one change. The linter requires every effect to be in the list.
func (r *Reconciler) carryOut(ctx context.Context, p *pass, effect plan.Effect) error { //nolint:funlen,gocyclo // a plain list
	switch e := effect.(type) {
	case plan.WriteStatus: // at the end of the pass
	case plan.CreateRestore:
		if e.Survivor != "" {
			return r.createRecovery(ctx, p, e)
		}
		return r.createRestore(ctx, p, e)
	case plan.AdoptVolume:
		return r.adopt(ctx, p, e)
	case plan.CreateVolume:
		return r.createVolume(ctx, p, e)
	case plan.CreatePod:
		return r.createPod(ctx, p, e)
	case plan.MarkVolume:
		return r.markVolume(ctx, p, e)
	case plan.MarkQuarantined:
		return r.markQuarantined(ctx, p, e)
	case plan.WritePermit:
		return r.writePermit(ctx, p, e)
	case plan.AddPodToService:
		return r.addPodToService(ctx, p, e)
	case plan.RemoveFromService:
		return r.removePodFromService(ctx, p, e)
	case plan.SetBudget:
		return r.apply(ctx, resources.Budget(p.cluster, e.MinAvailable))
	case plan.DeletePod:
		return r.delete(ctx, p, &corev1.Pod{}, e.Name, e.UID)
	case plan.DeleteVolume:
		return r.deleteVolume(ctx, p, e)
	case plan.SetMetadata:
		return r.setMetadata(ctx, p, e)
	case plan.Resize:
		return r.resize(ctx, p, e)
	case plan.ChangeImage:
		return r.changeImage(ctx, p, e)
	case plan.ExpandVolume:
		return r.expand(ctx, p, e)
	case plan.CreatePrepullPod:
		return r.pullImage(ctx, p, e)
	case plan.DeletePrepullPod:
		return r.delete(ctx, p, &corev1.Pod{}, e.Name, e.UID)
	case plan.AddLearner:
		return p.session.AddLearner(ctx, e.PeerURL)
	case plan.Promote:
		return p.session.Promote(ctx, e.ID)
	case plan.MoveLeader:
		return p.session.MoveLeader(ctx, e.From, e.To)
	case plan.UpdatePeerURL:
		return p.session.UpdatePeerURL(ctx, e.ID, e.PeerURL)
	case plan.RemoveMember:
		return p.session.Remove(ctx, e.ID)
	case plan.EnableDowngrade:
		return p.session.EnableDowngrade(ctx, e.Version)
	case plan.CancelDowngrade:
		return p.session.CancelDowngrade(ctx)
	case plan.Compact:
		return r.compact(ctx, p, e)
	case plan.Disarm:
		return r.disarm(ctx, p, e)
	case plan.Defragment:
		return r.defragment(ctx, p, e)
	}
	return nil
}

// errNameTaken says that an object with another owner has a name that the cluster needs.
var errNameTaken = errors.New("the name is already in use")

func (r *Reconciler) createVolume(ctx context.Context, p *pass, e plan.CreateVolume) error {
	if err := r.create(ctx, p, resources.Volume(p.cluster, e.Name, e.Incarnation)); err != nil {
		return fmt.Errorf("create PersistentVolumeClaim %s: %w", e.Name, err)
	}
	return nil
}

func (r *Reconciler) createPod(ctx context.Context, p *pass, e plan.CreatePod) error {
	spec := p.cluster
	if e.FromPreviousSpec && p.previousSpec != nil { // without one nothing has changed
		spec = p.previousSpec
	}
	pod, err := resources.Pod(spec, e.Name, e.Incarnation, e.Permit, r.optionsFor(p, e.NewPod))
	if err == nil && e.Restores {
		err = r.addRestore(p, pod)
	}
	if err != nil {
		return err
	}
	if err := r.create(ctx, p, pod); err != nil {
		return fmt.Errorf("create Pod %s: %w", e.Name, err)
	}
	return nil
}

// create never treats "already exists" as success: either the view was stale, and the next pass sees the object; or this pass has
// seen it, and it does not count as what is to be created; or the object has another owner; or its labels were removed by hand, so it
// is no longer found. Then they are restored, unless it is a claim that may hold data: it would count as the new one, which is empty.
func (r *Reconciler) create(ctx context.Context, p *pass, o client.Object) error {
	wanted := maps.Clone(o.GetLabels())
	err := r.Client.Create(ctx, o, client.FieldOwner(resources.FieldOwner))
	if !reconcile.Exists(err) {
		return err
	}
	if getErr := r.Live.Get(ctx, client.ObjectKeyFromObject(o), o); getErr != nil {
		return getErr
	}
	if !metav1.IsControlledBy(o, p.cluster) && !ofFormer(o, p.cluster) {
		return fmt.Errorf("%w: %s belongs to %s: delete it, or give this cluster another name",
			errNameTaken, o.GetName(), reconcile.HolderOf(o))
	}
	seen := labels.Set(resources.ClusterSelector(p.cluster.Name))
	_, numbered := o.GetLabels()[resources.LabelIncarnation]
	claim, isClaim := o.(*corev1.PersistentVolumeClaim)
	labeled := seen.AsSelector().Matches(labels.Set(o.GetLabels()))
	_, pulls := o.GetLabels()[resources.LabelPull]
	if p.has(o) && (pulls || labeled && (numbered || isClaim)) { // to look again would end in the same
		return fmt.Errorf("it exists, and not as it was created: an admission webhook may have changed it: %s", err.Error())
	}
	if labeled && (numbered || isClaim) {
		return err
	}
	if isClaim && !empty(p.cluster, claim) {
		return fmt.Errorf("%w: PersistentVolumeClaim %s has lost this cluster's labels and may hold data: restore the labels (%s), or "+
			"delete it if its data is no longer needed", errNameTaken, o.GetName(),
			labels.Merge(seen, labels.Set{resources.LabelNode: o.GetName()}))
	}
	if numbered { // it stays with its attempt
		delete(wanted, resources.LabelIncarnation)
	}
	if patchErr := r.patch(ctx, o, o.GetUID(), map[string]any{"labels": wanted}); patchErr != nil {
		return patchErr
	}
	return err
}

// empty reports whether a claim was created for this very cluster, and etcd was never permitted to start on it.
func empty(c *v1beta2.EtcdCluster, claim *corev1.PersistentVolumeClaim) bool {
	return claim.Annotations[resources.AnnotationClusterUID] == string(c.UID) &&
		claim.Annotations[resources.AnnotationMemberID] == ""
}

// permitNote is the annotation of a pod that holds the permit.
func permitNote(permit *member.Permit) (map[string]any, error) {
	text, err := permit.Encode()
	if err != nil {
		return nil, err
	}
	return map[string]any{member.PermitAnnotation: text}, nil
}

func (r *Reconciler) writePermit(ctx context.Context, p *pass, e plan.WritePermit) error {
	note, err := permitNote(&e.Permit)
	if err != nil {
		return err
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.cluster.Namespace, Name: e.Pod}}
	if p.pods[e.Pod].Annotations[resources.AnnotationPermitted] == "" {
		note[resources.AnnotationPermitted] = r.Clock.Now().Format(time.RFC3339Nano)
	}
	if err := r.patch(ctx, pod, types.UID(e.UID), map[string]any{"annotations": note}); err != nil {
		return fmt.Errorf("write the start permit of Pod %s: %w", e.Pod, err)
	}
	return nil
}

func (r *Reconciler) addPodToService(ctx context.Context, p *pass, e plan.AddPodToService) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.cluster.Namespace, Name: e.Name}}
	meta := map[string]any{"labels": map[string]any{resources.LabelServing: "true"}}
	if e.Resume != nil {
		note, err := permitNote(e.Resume)
		if err != nil {
			return err
		}
		meta["annotations"] = note
	}
	if err := r.patch(ctx, pod, types.UID(e.UID), meta); err != nil {
		return fmt.Errorf("add Pod %s to the client Service: %w", e.Name, err)
	}
	return nil
}

func (r *Reconciler) removePodFromService(ctx context.Context, p *pass, a plan.RemoveFromService) error {
	meta := map[string]any{
		"labels":      map[string]any{resources.LabelServing: nil},
		"annotations": map[string]any{resources.AnnotationUnserved: r.Clock.Now().Format(time.RFC3339Nano)},
	}
	if err := r.patch(ctx, p.pods[a.Pod], types.UID(a.UID), meta); err != nil {
		return fmt.Errorf("remove Pod %s from the client Service: %w", a.Pod, err)
	}
	return nil
}

// adopt adopts a retained volume.
func (r *Reconciler) adopt(ctx context.Context, p *pass, e plan.AdoptVolume) error {
	meta := map[string]any{
		"annotations": map[string]any{
			resources.AnnotationClusterUID: string(p.cluster.UID), resources.AnnotationVolumeUID: e.UID,
		},
		"ownerReferences": resources.VolumeOwners(p.cluster),
	}
	if err := r.patch(ctx, p.claims[e.Name], types.UID(e.UID), meta); err != nil {
		return fmt.Errorf("adopt volume %s: %w", e.Name, err)
	}
	return nil
}

// patch merges metadata into the object with exactly that UID: another one of the same name is a conflict.
func (r *Reconciler) patch(ctx context.Context, o client.Object, uid types.UID, meta map[string]any, options ...client.PatchOption) error {
	body, err := encodePatch(uid, meta, nil)
	if err != nil {
		return err
	}
	return r.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, body), append(options, client.FieldOwner(resources.FieldOwner))...)
}

// deleteVolume deletes a claim unless it was written since it was read: another operator that has been elected meanwhile may have given
// it to a member.
func (r *Reconciler) deleteVolume(ctx context.Context, p *pass, e plan.DeleteVolume) error {
	claim, ok := p.claims[e.Name]
	if !ok || string(claim.UID) != e.UID {
		return reconcile.ErrStale
	}
	return reconcile.DeleteUnchanged(ctx, r.Client, claim.DeepCopy())
}

func (r *Reconciler) delete(ctx context.Context, p *pass, o client.Object, name, uid string) error {
	return reconcile.DeleteExact(ctx, r.Client, o, p.cluster.Namespace, name, uid)
}
