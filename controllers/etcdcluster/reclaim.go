package etcdcluster

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// retained are the clusters whose volumes are to outlive them, and of which every claim of the namespace was looked at since that
// is so. After a restart of the operator they are looked at once more. The zero value knows of none. It is safe for concurrent use.
type retained struct {
	looked sync.Map // types.UID by types.NamespacedName
}

func (r *retained) note(cluster types.NamespacedName, uid types.UID) { r.looked.Store(cluster, uid) }

func (r *retained) forget(cluster types.NamespacedName) { r.looked.Delete(cluster) }

func (r *retained) knows(cluster types.NamespacedName, uid types.UID) bool {
	known, _ := r.looked.Load(cluster)
	return known == uid
}

// retainVolumes removes the cluster from the owner references of every claim that must outlive it: the garbage collector goes by
// those alone, whoever created or labeled the claim. Claims without the operator's labels are not cached, so the API server is
// asked, once each time Retain is set.
func (r *Reconciler) retainVolumes(ctx context.Context, p *pass) error {
	c, key := p.cluster, p.key()
	if c.Spec.VolumeReclaimPolicy != v1beta2.VolumeReclaimRetain {
		r.retained.forget(key)
		return nil
	}
	if p.observed.Cluster.Deleting {
		return nil
	}
	for _, claim := range p.claims {
		if err := r.disown(ctx, p, &claim.ObjectMeta); err != nil {
			return err
		}
	}
	if r.retained.knows(key, c.UID) {
		return nil
	}
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaimList"))
	if err := r.Live.List(ctx, all, client.InNamespace(c.Namespace)); err != nil {
		return fmt.Errorf("list all claims of namespace %s: %w", c.Namespace, err)
	}
	for i := range all.Items {
		if p.claims[all.Items[i].Name] != nil {
			continue
		}
		if err := r.disown(ctx, p, &all.Items[i].ObjectMeta); err != nil {
			return err
		}
	}
	if p.rejected == nil {
		r.retained.note(key, c.UID)
	}
	return nil
}

// disown leaves a claim to its other owners, if the cluster is one.
func (r *Reconciler) disown(ctx context.Context, p *pass, meta *metav1.ObjectMeta) error {
	others := slices.DeleteFunc(slices.Clone(meta.OwnerReferences), func(owner metav1.OwnerReference) bool {
		return owner.UID == p.cluster.UID
	})
	if len(others) == len(meta.OwnerReferences) {
		return nil
	}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: meta.Namespace, Name: meta.Name}}
	change := map[string]any{"ownerReferences": others, "resourceVersion": meta.ResourceVersion}
	err := r.writeBeside(ctx, p, sideWrite{
		plan.Target{Verb: "change the owners of", Kind: plan.KindVolume, Name: meta.Name},
		v1beta2.ReasonActionFailed,
		fmt.Sprintf("volume %s would be deleted with the EtcdCluster in spite of volumeReclaimPolicy Retain: the API server rejects a "+
			"change to its owners: ", meta.Name),
	}, func() error {
		if err := r.confirm(ctx, p); err != nil {
			return err
		}
		return reconcile.IgnoreGone(r.patch(ctx, claim, meta.UID, change))
	})
	if err != nil {
		return fmt.Errorf("have volume %s outlive the cluster: %w", meta.Name, err)
	}
	return nil
}
