package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// applyServices keeps what has no order: the two Services, and who owns the volumes. Nothing is written where nothing
// differs.
func (r *EtcdClusterReconciler) applyServices(ctx context.Context, p *pass) error {
	c := p.observed.Cluster
	if c.Paused || c.Deleting || len(p.observed.Conflicts) > 0 || c.ID == 0 && c.Bootstrap == nil {
		return nil
	}
	for _, want := range []*corev1.Service{resources.PeerService(p.cluster), resources.ClientService(p.cluster)} {
		have, ok := p.services[want.Name]
		if ok && equality.Semantic.DeepDerivative(want.Spec, have.Spec) &&
			equality.Semantic.DeepDerivative(want.Labels, have.Labels) {
			continue
		}
		if err := r.apply(ctx, want); err != nil {
			return fmt.Errorf("apply Service %s: %w", want.Name, err)
		}
	}
	return r.applyVolumeOwners(ctx, p)
}

// applyVolumeOwners follows spec.volumeReclaimPolicy: owned volumes go with the cluster, others stay.
func (r *EtcdClusterReconciler) applyVolumeOwners(ctx context.Context, p *pass) error {
	want := resources.VolumeOwners(p.cluster)
	for _, v := range p.observed.Volumes {
		claim := p.claims[v.Name]
		if !v.Owned || v.Deleting || len(claim.OwnerReferences) == len(want) {
			continue
		}
		if err := r.patch(ctx, claim, claim.UID, map[string]any{"ownerReferences": want}); err != nil {
			return fmt.Errorf("set the owner of volume %s: %w", v.Name, err)
		}
	}
	return nil
}

// apply writes an object by server-side apply.
func (r *EtcdClusterReconciler) apply(ctx context.Context, o client.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	unstructured.RemoveNestedField(content, "status")
	config := client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content})
	return r.Client.Apply(ctx, config, client.FieldOwner(resources.FieldOwner), client.ForceOwnership)
}
