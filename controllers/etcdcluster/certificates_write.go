package etcdcluster

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/certificates"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// writeSecret creates a Secret, or replaces all that one holds if nobody has written to it since it was read.
func (r *Reconciler) writeSecret(ctx context.Context, p *pass, want *corev1.Secret) error {
	if err := r.confirm(ctx, p); err != nil {
		return err
	}
	r.certified.expire(p.key())
	have := p.certified.secrets[want.Name]
	if have == nil {
		err := r.Client.Create(ctx, want, client.FieldOwner(resources.FieldOwner))
		if reconcile.Exists(err) {
			return r.accept(ctx, p, want, err)
		}
		return err
	}
	data := map[string]any{}
	for _, key := range have.names() {
		data[key] = nil
	}
	for key, value := range want.Data {
		data[key] = value
	}
	meta := map[string]any{"resourceVersion": have.version}
	if len(want.Annotations) > 0 {
		meta["annotations"] = want.Annotations
	}
	body, err := encodePatch(have.uid, meta, map[string]any{"data": data})
	if err != nil {
		return err
	}
	patch := client.RawPatch(types.MergePatchType, body)
	into := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: want.Namespace, Name: want.Name}}
	return r.Client.Patch(ctx, into, patch, client.FieldOwner(resources.FieldOwner))
}

// accept looks at a Secret that was to be created and exists already. One of another owner is not used: a user's belongs to the EtcdUser.
// One that is being deleted, or whose owner is, is waited for. Trust Secrets of the cluster, of an earlier rotation or of an operator that
// ended before status named it, are used if they hold the same: they are only read if status or a pod names them. All others are read in
// the next pass.
func (r *Reconciler) accept(ctx context.Context, p *pass, want *corev1.Secret, exists error) error {
	have := &corev1.Secret{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(want), have); err != nil {
		return err
	}
	owner, wanted := metav1.GetControllerOf(have), metav1.GetControllerOf(want)
	conflict := conflictOf("Secret", have, p.cluster)
	switch own := owner != nil && wanted != nil && owner.UID == wanted.UID; {
	case !have.DeletionTimestamp.IsZero(), !own && conflict != nil && conflict.Terminating:
		return fmt.Errorf("Secret %s: %w", have.Name, errGoing) //nolint:staticcheck // a kind begins it
	case !own && wanted != nil && wanted.UID != p.cluster.UID:
		return exists // the EtcdUser says so
	case !own && conflict != nil:
		return fmt.Errorf("%w: Secret %s belongs to %s: delete it", errNameTaken, have.Name, conflict.Owner)
	}
	if want.Immutable == nil {
		return exists
	}
	if !maps.EqualFunc(have.Data, want.Data, bytes.Equal) {
		return fmt.Errorf("%w: Secret %s holds other authorities than its name says: delete it", errNameTaken, have.Name)
	}
	return nil
}

// refresh has the kubelet look at a member's certificates at once: it does when a pod changes, and by itself only after a minute or two.
// So a failure is only a delay.
func (r *Reconciler) refresh(ctx context.Context, p *pass, secret *corev1.Secret) {
	pod := p.pods[secret.Labels[resources.LabelNode]]
	if pod == nil || secret.Name != certificates.MemberName(pod.Name) {
		return
	}
	note := map[string]any{resources.AnnotationRefreshed: r.Clock.Now().Format(time.RFC3339Nano)}
	if err := r.patch(ctx, pod.DeepCopy(), pod.UID, map[string]any{"annotations": note}); err != nil {
		log.FromContext(ctx).V(1).Info("the kubelet is not told of new certificates", "pod", pod.Name, "error", err.Error())
	}
}
