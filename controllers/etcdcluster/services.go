package etcdcluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// applyServices keeps what has no order: the NetworkPolicy, the two Services, and who owns the volumes and what is written on them.
// The first is written first, so that no member starts without it. Nothing is written where nothing differs, nor while someone else
// has a name that the cluster needs. Whoever only has its labels is in no one's way.
func (r *Reconciler) applyServices(ctx context.Context, p *pass) error {
	c := p.observed.Cluster
	if c.Paused || c.Deleting || p.assessment.NameTaken != nil || c.ID == 0 && c.Bootstrap == nil {
		return nil
	}
	if err := r.applyPolicy(ctx, p); err != nil {
		return err
	}
	for _, want := range []*corev1.Service{resources.PeerService(p.cluster), resources.ClientService(p.cluster)} {
		err := r.writeBeside(ctx, p, sideWrite{
			plan.Target{Verb: "apply", Kind: "Service", Name: want.Name}, v1beta2.ReasonInvalidService, "spec.services: ",
		}, func() error { return r.applyService(ctx, p, want) })
		if err != nil {
			return fmt.Errorf("apply Service %s: %w", want.Name, err)
		}
	}
	return r.applyVolumeMeta(ctx, p)
}

// applyService patches rather than applies: what someone has put into the port list by hand must go, and a server-side
// apply leaves it there.
func (r *Reconciler) applyService(ctx context.Context, p *pass, want *corev1.Service) error {
	have, ok := p.services[want.Name]
	if ok && !resources.ServiceDue(have, want) {
		return nil
	}
	if err := r.confirm(ctx, p); err != nil {
		return err
	}
	if !ok {
		return r.create(ctx, p, want)
	}
	meta, spec := resources.ServicePatch(have, want)
	body, err := encodePatch(have.UID, meta, map[string]any{"spec": spec})
	if err != nil {
		return err
	}
	patch := client.RawPatch(types.MergePatchType, body)
	return r.Client.Patch(ctx, have.DeepCopy(), patch, client.FieldOwner(resources.FieldOwner))
}

// reject records that the API server rejects what the members do not depend on: a Service, or the metadata of a volume. The members
// are reconciled all the same. It is the reason of the pass only when there is nothing more pressing, and of the Degraded condition
// always.
func (p *pass) reject(reason, message string) {
	if p.rejected != nil {
		return
	}
	p.rejected = &failure.Problem{Reason: reason, Message: message}
	if _, idle := p.action.(plan.Idle); idle {
		p.action = plan.Blocked{Reason: reason, Message: message}
	}
}

// sideWrite is a write that the members do not depend on, and how a refusal of it is reported.
type sideWrite struct {
	target         plan.Target
	reason, prefix string
}

// writeBeside makes such a write, after growing pauses while the API server refuses it.
func (r *Reconciler) writeBeside(ctx context.Context, p *pass, w sideWrite, write func() error) error {
	key, generation, now := p.key(), p.cluster.Generation, r.Clock.Now()
	if known, refused := plan.Held(r.refusedBeside.of(key, generation, now), w.target, now); refused {
		p.reject(w.reason, w.prefix+known.Message)
		return nil
	}
	err := write()
	if message, refused := r.refusalOf(ctx, p, err); refused {
		r.refusedBeside.note(key, generation, w.target, message, r.Clock.Now())
		p.reject(w.reason, w.prefix+message)
		return nil
	}
	if err == nil {
		r.refusedBeside.done(key, w.target)
	}
	return err
}

// applyVolumeMeta has volumes go with the cluster, unless they are to outlive it, and gives them the labels and annotations that
// the spec asks for.
func (r *Reconciler) applyVolumeMeta(ctx context.Context, p *pass) error {
	owners := resources.VolumeOwners(p.cluster)
	for _, v := range p.observed.Volumes {
		claim := p.claims[v.Name]
		if !v.Owned || v.Deleting {
			continue
		}
		meta := resources.VolumeMetadataPatch(p.cluster, claim)
		if len(claim.OwnerReferences) < len(owners) {
			if meta == nil {
				meta = map[string]any{}
			}
			meta["ownerReferences"], meta["resourceVersion"] = owners, claim.ResourceVersion
		}
		if meta == nil {
			continue
		}
		err := r.writeBeside(ctx, p, sideWrite{
			plan.Target{Verb: "change the metadata of", Kind: plan.KindVolume, Name: v.Name},
			v1beta2.ReasonActionFailed,
			fmt.Sprintf("the API server rejects a change to the metadata of volume %s: ", v.Name),
		}, func() error {
			if err := r.confirm(ctx, p); err != nil {
				return err
			}
			return r.patch(ctx, claim, claim.UID, meta)
		})
		if err != nil {
			return fmt.Errorf("change the metadata of volume %s: %w", v.Name, err)
		}
	}
	return nil
}

// apply writes an object by server-side apply.
func (r *Reconciler) apply(ctx context.Context, o client.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	unstructured.RemoveNestedField(content, "status")
	config := client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content})
	return r.Client.Apply(ctx, config, client.FieldOwner(resources.FieldOwner), client.ForceOwnership)
}
