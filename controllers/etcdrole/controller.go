// Package etcdrole has etcd clusters have the roles that EtcdRoles describe.
package etcdrole

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/accounts"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/controllers/reservations"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdroles,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdroles/status,verbs=update
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdroles/finalizers,verbs=update

// workers is how many EtcdRoles are reconciled concurrently: a member that hangs costs a second of waiting.
const workers = 4

// Reconciler has etcd clusters have the roles that EtcdRoles describe.
type Reconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads from the API server: no change is ever made based on a stale cache.
	Live client.Reader
	// Recorder writes events.
	Recorder events.EventRecorder
	// Reservations knows which EtcdRoles are this operator's.
	Reservations *reservations.Keeper
	// Clock is the time of observations.
	Clock clock.PassiveClock

	silence accounts.Silence
}

// Reconcile takes one step. It is safe to stop at any point: the next pass observes what exists and continues from there.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	p, err := r.decide(ctx, req.NamespacedName)
	switch {
	case apierrors.IsNotFound(err):
		r.Reservations.Forget(&v1beta2.EtcdRole{}, req.NamespacedName)
		return ctrl.Result{}, nil
	case errors.Is(err, reconcile.ErrStale):
		return ctrl.Result{RequeueAfter: reconcile.NotYet}, nil
	case err != nil:
		return ctrl.Result{}, err
	}
	defer p.Close()
	if p.Declined != nil {
		return r.Reservations.Settle(ctx, p.object, &p.object.Status.Operator, p.Declined)
	}
	p.Tried, err = r.fence(p).Act(ctx, p, func(ctx context.Context) error { return p.Execute(ctx, r.Client, p.object, "") })
	return r.finish(ctx, p, err)
}

func (r *Reconciler) fence(p *pass) reconcile.Fence {
	return reconcile.Fence{Clock: r.Clock, Begun: p.Begun, Lease: r.Reservations}
}

func (r *Reconciler) decide(ctx context.Context, name types.NamespacedName) (*pass, error) {
	var cached *pass
	return reconcile.Decide(r.Client, r.Live, func(reader client.Reader) (*pass, error) {
		if cached != nil {
			cached.Close()
		}
		p, err := r.observeAndPlan(ctx, reader, name)
		cached = p
		return p, err
	})
}

func (r *Reconciler) observeAndPlan(ctx context.Context, reader client.Reader, name types.NamespacedName) (*pass, error) {
	p := &pass{object: &v1beta2.EtcdRole{}}
	p.Begun, p.Silence = r.Clock.Now(), &r.silence
	if err := reader.Get(ctx, name, p.object); err != nil {
		return nil, err
	}
	p.before = p.object.Status.DeepCopy()
	decision, err := r.Reservations.Decide(ctx, p.object, p.object.Status.Operator)
	if err != nil {
		return nil, err
	}
	if !claim.Acts(decision) {
		p.Declined = decision
		return p, nil
	}
	if err := r.observe(ctx, reader, p); err != nil {
		p.Close()
		return nil, fmt.Errorf("observe: %w", err)
	}
	return p, nil
}

// SetupWithManager registers the reconciler and its watches.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("etcdrole").
		// A pass requeues itself after its own status write.
		For(&v1beta2.EtcdRole{}, builder.WithPredicates(
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Watches(&v1beta2.EtcdCluster{}, handler.EnqueueRequestsFromMapFunc(r.rolesOf), builder.WithPredicates(accounts.ClusterChanges())).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: reconcile.RateLimiter()}).
		Complete(outage.Retried(r))
}

// rolesOf are the EtcdRoles of a cluster.
func (r *Reconciler) rolesOf(ctx context.Context, cluster client.Object) (requests []ctrl.Request) {
	list := &v1beta2.EtcdRoleList{}
	if err := r.Client.List(ctx, list, client.InNamespace(cluster.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil // from the cache, which fails only as the operator exits
	}
	for i := range list.Items {
		if list.Items[i].Spec.EtcdCluster.Name == cluster.GetName() {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
