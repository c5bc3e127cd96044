// Package etcduser has etcd clusters have the users that EtcdUsers describe.
package etcduser

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/accounts"
	"github.com/etcdpilot/etcd-operator/controllers/internal/passwords"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/controllers/reservations"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdusers,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdusers/status,verbs=update
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdusers/finalizers,verbs=update

// workers is how many EtcdUsers are reconciled concurrently: a member that hangs costs a second of waiting.
const workers = 4

// Reconciler has etcd clusters have the users that EtcdUsers describe.
type Reconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads from the API server: no change is ever made based on a stale cache.
	Live client.Reader
	// Recorder writes events.
	Recorder events.EventRecorder
	// Reservations knows which EtcdUsers are this operator's.
	Reservations *reservations.Keeper
	// Clock is the time of observations.
	Clock clock.PassiveClock

	silence   accounts.Silence
	passwords passwords.Memory
}

// Reconcile takes one step. It is safe to stop at any point: the next pass observes what exists and continues from there.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	p, err := r.decide(ctx, req.NamespacedName)
	switch {
	case apierrors.IsNotFound(err):
		r.Reservations.Forget(&v1beta2.EtcdUser{}, req.NamespacedName)
		r.passwords.Forget(req.NamespacedName)
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
	p.Tried, err = r.fence(p).Act(ctx, p, func(ctx context.Context) error {
		if setsPassword(p.Action) {
			r.passwords.Forget(req.NamespacedName)
		}
		return p.Execute(ctx, r.Client, p.object, p.password)
	})
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
	p := &pass{object: &v1beta2.EtcdUser{}}
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
		Named("etcduser").
		// A pass requeues itself after its own status write.
		For(&v1beta2.EtcdUser{}, builder.WithPredicates(
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Watches(&v1beta2.EtcdCluster{}, handler.EnqueueRequestsFromMapFunc(r.usersOf), builder.WithPredicates(accounts.ClusterChanges())).
		Watches(&v1beta2.EtcdRole{}, handler.EnqueueRequestsFromMapFunc(r.holdersOf)).
		Watches(&v1beta2.EtcdUser{}, handler.EnqueueRequestsFromMapFunc(r.heirsOf), builder.WithPredicates(deletions())).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: reconcile.RateLimiter()}).
		Complete(outage.Retried(r))
}

// usersOf are the EtcdUsers of a cluster.
func (r *Reconciler) usersOf(ctx context.Context, cluster client.Object) []ctrl.Request {
	return r.users(ctx, cluster.GetNamespace(), func(u *v1beta2.EtcdUser) bool { return u.Spec.EtcdCluster.Name == cluster.GetName() })
}

// holdersOf are the EtcdUsers that wait for a role which may exist now.
func (r *Reconciler) holdersOf(ctx context.Context, o client.Object) []ctrl.Request {
	role, ok := o.(*v1beta2.EtcdRole)
	if !ok || !meta.IsStatusConditionTrue(role.Status.Conditions, v1beta2.ConditionReady) {
		return nil
	}
	return r.users(ctx, role.Namespace, func(u *v1beta2.EtcdUser) bool {
		c := meta.FindStatusCondition(u.Status.Conditions, v1beta2.ConditionReady)
		return u.Spec.EtcdCluster == role.Spec.EtcdCluster && slices.Contains(u.Spec.Roles, role.NameInEtcd()) &&
			c != nil && c.Reason == v1beta2.ReasonRoleNotFound
	})
}

// heirsOf are the EtcdUsers that want the name of another one.
func (r *Reconciler) heirsOf(ctx context.Context, o client.Object) []ctrl.Request {
	gone, ok := o.(*v1beta2.EtcdUser)
	if !ok {
		return nil
	}
	return r.users(ctx, gone.Namespace, func(u *v1beta2.EtcdUser) bool {
		return u.Spec.EtcdCluster == gone.Spec.EtcdCluster && u.NameInEtcd() == gone.NameInEtcd()
	})
}

// users are the EtcdUsers of a namespace that are wanted.
func (r *Reconciler) users(ctx context.Context, namespace string, wanted func(*v1beta2.EtcdUser) bool) (requests []ctrl.Request) {
	list := &v1beta2.EtcdUserList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil // from the cache, which fails only as the operator exits
	}
	for i := range list.Items {
		if wanted(&list.Items[i]) {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}

// deletions are the events of objects that are gone.
func deletions() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
