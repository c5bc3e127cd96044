// Package etcdcluster reconciles EtcdClusters.
package etcdcluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
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
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/monitoring"
	"github.com/etcdpilot/etcd-operator/controllers/internal/passwords"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/controllers/reservations"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdclusters/status,verbs=update
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdclusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdrestores,verbs=get;list;watch;create
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdusers,verbs=get;list;watch
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdusers/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler reconciles EtcdClusters: observe, plan, one action, status.
type Reconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads from the API server: no change is ever made based on a stale cache.
	Live client.Reader
	// Recorder writes events.
	Recorder events.EventRecorder
	// Reservations knows which clusters are this operator's.
	Reservations *reservations.Keeper
	// Etcd talks to the members.
	Etcd *etcd.Pool
	// Clock is the time of observations.
	Clock clock.PassiveClock
	// OperatorImage holds member-run. EtcdRepository is the image repository of etcd for specs without one; empty for the built-in one.
	OperatorImage, EtcdRepository string
	// Pinned are the images of etcd that are known by their digests.
	Pinned version.Pinned
	// AgentEnv is the agents' environment for reaching object storage through a proxy. etcd does not get it.
	AgentEnv []corev1.EnvVar
	// OpenShift leaves the members' user and group to the namespace.
	OpenShift bool
	// Concurrency is how many clusters are reconciled concurrently, at least 1.
	Concurrency int
	// Namespaces are those that are watched; all if empty.
	Namespaces []string
	// OwnPods are this operator's pods, if it knows them: a NetworkPolicy of mode Strict admits them.
	OwnPods resources.OperatorPods
	// Monitoring knows the objects of Prometheus Operator; nil if none are to be made.
	Monitoring *monitoring.Objects
	// Autopilot is how far Auto Pilot goes in any cluster, whatever its spec says; On if empty.
	Autopilot v1beta2.AutopilotMode

	// policiesUnwatched is true if NetworkPolicies have to be read from the API server in each pass.
	policiesUnwatched bool

	// The following are memories, which forget knows, too.
	paces paces
	// refusals are of writes that the planner decides on, refusedBeside of the others.
	refusals, refusedBeside refusals

	logRequests   logRequests
	retained      retained
	certified     certifications
	told          clientsTold
	rewrites      rewrites
	authenticated authMemory
	passwords     passwords.Memory
	brake         brake
	glances       glances
}

// Reconcile takes one step. It is safe to stop at any point: the next pass observes what exists and continues from there.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	p, err := r.decide(ctx, req.NamespacedName)
	if apierrors.IsNotFound(err) {
		r.forget(req.NamespacedName)
		r.Reservations.Forget(&v1beta2.EtcdCluster{}, req.NamespacedName)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if p.declined != nil {
		r.forget(req.NamespacedName)
		return r.settle(ctx, p)
	}
	r.logObserved(ctx, p)
	if left := r.paces.wait(req.NamespacedName, p.action, r.Clock.Now()); left > 0 {
		p.export()
		return ctrl.Result{RequeueAfter: left, Priority: new(normal)}, nil
	}
	if !r.takeTurn(p) {
		p.export()
		return ctrl.Result{RequeueAfter: reconcile.NotYet}, nil
	}
	return r.finish(ctx, p, r.act(ctx, p))
}

// act carries out what was decided. Before a Service is written, the cluster is confirmed to be still reserved by this operator.
func (r *Reconciler) act(ctx context.Context, p *pass) error {
	deed, err := r.fence(p).Act(ctx, p, func(ctx context.Context) error {
		if err := r.retainVolumes(ctx, p); err != nil {
			return err
		}
		if err := r.applyServices(ctx, p); err != nil {
			return err
		}
		if err := r.applyCertificates(ctx, p); err != nil {
			return err
		}
		p.action = p.withCertificates()
		if p.late(ctx) {
			return nil
		}
		if err := r.execute(ctx, p); err != nil {
			return err
		}
		r.remind(ctx, p)
		err := r.authenticate(ctx, p)
		p.action = p.withAuth()
		if err != nil {
			return err
		}
		return r.applyMonitoring(ctx, p)
	})
	p.deed = deed
	return err
}

func (r *Reconciler) fence(p *pass) reconcile.Fence {
	return reconcile.Fence{Clock: r.Clock, Begun: p.begun, Lease: r.Reservations}
}

func (r *Reconciler) decide(ctx context.Context, name types.NamespacedName) (*pass, error) {
	live := false // the first view is the cache's
	return reconcile.Decide(r.Client, r.Live, func(reader client.Reader) (*pass, error) {
		p, err := r.observeAndPlan(ctx, reader, name)
		if err == nil {
			p.live = live
		}
		live = true
		return p, err
	})
}

func (r *Reconciler) observeAndPlan(ctx context.Context, reader client.Reader, name types.NamespacedName) (*pass, error) {
	begun, cluster := r.Clock.Now(), &v1beta2.EtcdCluster{}
	if err := reader.Get(ctx, name, cluster); err != nil {
		return nil, err
	}
	decision, err := r.Reservations.Decide(ctx, cluster, cluster.Status.Operator)
	if err != nil {
		return nil, err
	}
	if !claim.Acts(decision) {
		return &pass{cluster: cluster, declined: decision}, nil
	}
	p, err := r.observe(ctx, reader, cluster)
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	metrics.ObserveTook(r.Clock.Since(begun))
	p.action, p.assessment = plan.Decide(p.observed)
	p.begun = begun
	r.observeHabits(ctx, p)
	if err := r.decideAuth(ctx, p); err != nil {
		return nil, fmt.Errorf("decide about authentication: %w", err)
	}
	return p, nil
}

// SetupWithManager registers the reconciler and its watches.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	watched, err := mayWatchPolicies(ctx, mgr, r.Namespaces)
	if err != nil {
		return err
	}
	r.policiesUnwatched = !watched
	controlled := ctrl.NewControllerManagedBy(mgr).
		Named("etcdcluster").
		For(&v1beta2.EtcdCluster{}).
		Watches(&corev1.Pod{}, podEvents(handler.EnqueueRequestsFromMapFunc(clustersOf))).
		Owns(&corev1.Service{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Watches(&v1beta2.EtcdRestore{}, handler.EnqueueRequestsFromMapFunc(clusterRestored)).
		Watches(&v1beta2.EtcdUser{}, handler.EnqueueRequestsFromMapFunc(clusterOfUser), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		// Volumes that are to outlive their cluster have no owner reference: the label names it.
		Watches(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(clusterOf)).
		WithEventFilter(predicate.Funcs{UpdateFunc: changed}).
		WithOptions(controller.Options{MaxConcurrentReconciles: max(r.Concurrency, 1), RateLimiter: reconcile.RateLimiter()})
	controlled = controlled.WatchesRawSource(source.Func(r.brake.start)).WatchesRawSource(source.Func(r.glances.start))
	if watched {
		controlled = controlled.Owns(&networkingv1.NetworkPolicy{})
	}
	return controlled.Complete(outage.Retried(r))
}
