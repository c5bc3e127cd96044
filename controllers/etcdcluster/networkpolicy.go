package etcdcluster

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/clusterspec"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete

// mayWatchPolicies reports whether NetworkPolicies can be watched: in the whole Kubernetes cluster a watch without the right would keep
// the controller from starting. Without it they are read from the API server in each pass, so that only changes by hand are noticed
// later. An API server that has just started refuses what it allows a moment later; then that is all it costs. In namespaces that are
// listed, a watch waits for the right to each of them by itself (outage.UnseenPolicies).
func mayWatchPolicies(ctx context.Context, mgr ctrl.Manager, namespaces []string) (bool, error) {
	if len(namespaces) > 0 {
		return true, nil
	}
	err := mgr.GetAPIReader().List(ctx, &networkingv1.NetworkPolicyList{}, client.Limit(1))
	if apierrors.IsForbidden(err) {
		log.FromContext(ctx).Info("NetworkPolicies are not watched", "error", err.Error())
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list NetworkPolicies: %w", err)
	}
	return true, nil
}

// policy is what is known of the members' NetworkPolicy.
type policy struct {
	// seen is the object of that name, nil if there is none.
	seen *networkingv1.NetworkPolicy
	// unreadable is why it is not known whether there is one.
	unreadable error
}

// observePolicy reads the NetworkPolicy. That the operator may not is no error: the members do not depend on it.
func (r *Reconciler) observePolicy(ctx context.Context, reader client.Reader, p *pass) error {
	if r.policiesUnwatched || outage.UnseenPolicies(p.cluster.Namespace) {
		reader = r.Live
	}
	found := &networkingv1.NetworkPolicy{}
	key := client.ObjectKey{Namespace: p.cluster.Namespace, Name: resources.NetworkPolicyName(p.cluster.Name)}
	switch err := reader.Get(ctx, key, found); {
	case err == nil:
		p.policy.seen = found
	case apierrors.IsForbidden(err):
		p.policy.unreadable = err
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("read NetworkPolicy %s: %w", key.Name, err)
	}
	return nil
}

// applyPolicy keeps the members' NetworkPolicy. One of another owner is left alone.
func (r *Reconciler) applyPolicy(ctx context.Context, p *pass) error {
	const prefix = "the members' NetworkPolicy, without which spec.networkPolicy.mode None does: "
	mode, name := resources.NetworkPolicyMode(p.cluster), resources.NetworkPolicyName(p.cluster.Name)
	foreign := p.policy.seen != nil && conflictOf("NetworkPolicy", p.policy.seen, p.cluster) != nil
	if mode == v1beta2.NetworkPolicyNone && (p.policy.seen == nil || foreign) {
		return nil
	}
	verb := "apply"
	if mode == v1beta2.NetworkPolicyNone {
		verb = "delete"
	}
	err := r.writeBeside(ctx, p, sideWrite{
		plan.Target{Verb: verb, Kind: "NetworkPolicy", Name: name}, v1beta2.ReasonNetworkPolicyMissing, prefix,
	}, func() error { return r.writePolicy(ctx, p, mode) })
	if errors.Is(err, errNameTaken) {
		p.reject(v1beta2.ReasonNetworkPolicyMissing, prefix+err.Error())
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s NetworkPolicy %s: %w", verb, name, err)
	}
	if mode == v1beta2.NetworkPolicyStrict && !r.OwnPods.Known() {
		p.reject(v1beta2.ReasonOperatorUnknown, "spec.networkPolicy.mode: Strict would shut this operator out, which does not know "+
			"the labels of its own pods: run it in Kubernetes with the variables POD_LABEL_* of config/manager/manager.yaml, or "+
			"choose another mode; until then Peers is in force")
	}
	return nil
}

// writePolicy makes one write, or none if the NetworkPolicy is as it should be.
func (r *Reconciler) writePolicy(ctx context.Context, p *pass, mode v1beta2.NetworkPolicyMode) error {
	have := p.policy.seen
	if p.policy.unreadable != nil {
		return p.policy.unreadable
	}
	if have != nil {
		if conflict := conflictOf("NetworkPolicy", have, p.cluster); conflict != nil && conflict.Terminating {
			return nil // of a cluster of this name that was deleted: its end is an event
		} else if conflict != nil {
			return fmt.Errorf("%w: %s belongs to %s: delete it, or give it another name", errNameTaken, have.Name, conflict.Owner)
		}
	}
	if mode == v1beta2.NetworkPolicyStrict && !r.OwnPods.Known() {
		mode = v1beta2.NetworkPolicyPeers
	}
	want := resources.NetworkPolicy(p.cluster, mode, r.OwnPods)
	if have != nil && mode != v1beta2.NetworkPolicyNone && !resources.NetworkPolicyDue(have, want) {
		return nil
	}
	if err := r.confirm(ctx, p); err != nil {
		return err
	}
	switch {
	case mode == v1beta2.NetworkPolicyNone:
		return r.delete(ctx, p, &networkingv1.NetworkPolicy{}, have.Name, string(have.UID))
	case have == nil:
		return r.create(ctx, p, want)
	}
	meta, spec := resources.NetworkPolicyPatch(have, want)
	body, err := encodePatch(have.UID, meta, map[string]any{"spec": spec})
	if err != nil {
		return err
	}
	return r.Client.Patch(ctx, have.DeepCopy(), client.RawPatch(types.MergePatchType, body), client.FieldOwner(resources.FieldOwner))
}

// recordExposed warns, once, of a Service that makes a cluster without TLS reachable from outside of Kubernetes.
func (r *Reconciler) recordExposed(p *pass) {
	was, is := exposed(clusterspec.Noted(p.before.AcceptedSpec)), exposed(clusterspec.Noted(p.cluster.Status.AcceptedSpec))
	if is == "" || is == was {
		return
	}
	reconcile.Emit(r.Recorder, p.cluster, corev1.EventTypeWarning, v1beta2.ReasonPlaintextExposed, "Accept",
		fmt.Sprintf("spec.services.client.type: %s makes the cluster reachable from outside of Kubernetes, in plain text and without "+
			"authentication: use ClusterIP; or set spec.tls, without plaintextClients; or say who may reach it, in spec.networkPolicy with mode Strict or, for a LoadBalancer, in "+
			"spec.services.client.loadBalancerSourceRanges", is))
}

// exposed is the type of the client Service if anyone outside of Kubernetes reaches it, in plain text; otherwise empty.
func exposed(spec *v1beta2.EtcdClusterSpec) corev1.ServiceType {
	if spec == nil || spec.Services == nil || spec.Services.Client == nil || !resources.SpecTransport(spec).ServesClientPlain() {
		return ""
	}
	restricted := spec.NetworkPolicy != nil && spec.NetworkPolicy.Mode == v1beta2.NetworkPolicyStrict
	switch given := spec.Services.Client; given.Type {
	case corev1.ServiceTypeLoadBalancer:
		if restricted || len(given.LoadBalancerSourceRanges) > 0 {
			return ""
		}
		return given.Type
	case corev1.ServiceTypeNodePort:
		if restricted {
			return ""
		}
		return given.Type
	default:
		return ""
	}
}
