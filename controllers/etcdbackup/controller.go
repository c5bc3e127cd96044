// Package etcdbackup takes the backups that EtcdBackups ask for.
package etcdbackup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/controllers/reservations"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
	"github.com/etcdpilot/etcd-operator/internal/plan/backup"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups/status,verbs=update
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;delete

// Reconciler takes backups by means of pods that have the storage's credentials: this process never sees them.
//
// There is one worker, which does little and never waits for a pod: which EtcdBackup may write an object next is decided in one
// place, one after the other.
type Reconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads from the API server: no change is ever made based on a stale cache.
	Live client.Reader
	// Recorder writes events.
	Recorder events.EventRecorder
	// Reservations knows which EtcdBackups are this operator's.
	Reservations *reservations.Keeper
	// Clock is the time of observations.
	Clock clock.PassiveClock
	// OperatorImage is what the pods run.
	OperatorImage string
	// AgentEnv is the pods' environment for reaching object storage through a proxy.
	AgentEnv []corev1.EnvVar
	// OpenShift leaves the pods' user and group to the namespace's defaults.
	OpenShift bool
}

// Reconcile takes one step. It is safe to stop at any point: the next pass observes what exists and continues from there.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	p, err := r.decide(ctx, req.NamespacedName)
	switch {
	case apierrors.IsNotFound(err):
		metrics.ForgetBackup(req.Namespace, req.Name)
		r.Reservations.Forget(&v1beta2.EtcdBackup{}, req.NamespacedName)
		return ctrl.Result{}, nil
	case errors.Is(err, reconcile.ErrStale):
		return ctrl.Result{RequeueAfter: reconcile.NotYet}, nil
	case err != nil:
		return ctrl.Result{}, err
	case p.declined != nil:
		metrics.ForgetBackup(req.Namespace, req.Name)
		return r.Reservations.Settle(ctx, p.object, &p.object.Status.Operator, p.declined)
	}
	p.deed, err = r.fence(p).Act(ctx, p, func(ctx context.Context) error { return r.execute(ctx, p) })
	return r.finish(ctx, p, err)
}

func (r *Reconciler) fence(p *backupPass) reconcile.Fence {
	return reconcile.Fence{Clock: r.Clock, Begun: p.begun, Lease: r.Reservations}
}

// Mutates reports whether the decision changes anything.
func (p *backupPass) Mutates() bool {
	if p.declined != nil {
		return claim.Mutates(p.declined)
	}
	return backup.Mutates(p.action)
}

// Deed names what the decision changes. Its reason is that of the failure, if there is one, and otherwise what the run is for.
func (p *backupPass) Deed() reconcile.Deed {
	d := reconcile.Deed{Action: strings.TrimPrefix(fmt.Sprintf("%T", p.action), "backup."), Reason: v1beta2.ReasonBackingUp}
	switch a := p.action.(type) {
	case backup.Retry:
		d.Reason = a.Failure.Reason
	case backup.GiveUp:
		d.Reason = a.Failure.Reason
	case backup.CancelRun:
		d.Reason = a.Why.Reason
	default:
		if p.observed.Deleting {
			d.Reason = v1beta2.ReasonCleaning
		}
	}
	return d
}

// decide never takes a step based on a spec that is not in the cache: so a later look into the cache for those that use a storage
// finds all of them.
func (r *Reconciler) decide(ctx context.Context, name types.NamespacedName) (*backupPass, error) {
	var cached *backupPass
	return reconcile.Decide(r.Client, r.Live, func(reader client.Reader) (*backupPass, error) {
		p, err := r.observeAndPlan(ctx, reader, name)
		if err == nil && cached != nil && p.object.Generation != cached.object.Generation {
			return nil, reconcile.ErrStale
		}
		cached = p
		return p, err
	})
}

func (r *Reconciler) observeAndPlan(ctx context.Context, reader client.Reader, name types.NamespacedName) (
	*backupPass, error,
) {
	begun, object := r.Clock.Now(), &v1beta2.EtcdBackup{}
	if err := reader.Get(ctx, name, object); err != nil {
		return nil, err
	}
	decision, err := r.Reservations.Decide(ctx, object, object.Status.Operator)
	if err != nil {
		return nil, err
	}
	if !claim.Acts(decision) {
		return &backupPass{object: object, declined: decision}, nil
	}
	p, err := r.observe(ctx, reader, object)
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	p.begun = begun
	if p.action = backup.Next(p.observed); !starts(p.action) {
		return p, nil
	}
	if p.observed.Ahead, err = r.ahead(ctx, reader, p); err != nil {
		return nil, fmt.Errorf("observe the storage: %w", err)
	}
	p.action = backup.Next(p.observed)
	return p, nil
}

// starts reports whether a pod is about to start using the storage.
func starts(a backup.Action) bool {
	start, ok := a.(backup.Start)
	return ok && start.Run.Task == backup.TaskBackup
}

// SetupWithManager registers the reconciler and its watches.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("etcdbackup").
		// A pass requeues itself after its own status write.
		For(&v1beta2.EtcdBackup{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.Pod{}).
		Watches(&v1beta2.EtcdCluster{}, handler.EnqueueRequestsFromMapFunc(r.backupsOf),
			builder.WithPredicates(predicate.Funcs{UpdateFunc: cameUp})).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, RateLimiter: reconcile.RateLimiter()}).
		Complete(outage.Retried(r))
}

// cameUp reports whether a cluster now has what a backup may have been waiting for.
func cameUp(e event.UpdateEvent) bool {
	old, isCluster := e.ObjectOld.(*v1beta2.EtcdCluster)
	now, areClusters := e.ObjectNew.(*v1beta2.EtcdCluster)
	if !isCluster || !areClusters {
		return false
	}
	known := func(c *v1beta2.EtcdCluster) bool { return agentpod.MemberURLs(c, agentpod.Voting) != nil }
	return old.Status.ClusterID != now.Status.ClusterID || status.Asleep(&old.Status) != status.Asleep(&now.Status) || known(old) != known(now)
}

// backupsOf are the EtcdBackups of a cluster.
func (r *Reconciler) backupsOf(ctx context.Context, cluster client.Object) []ctrl.Request {
	list := &v1beta2.EtcdBackupList{}
	if err := r.Client.List(ctx, list, client.InNamespace(cluster.GetNamespace())); err != nil {
		return nil // from the cache, which fails only as the operator exits
	}
	var requests []ctrl.Request
	for i := range list.Items {
		if ref := list.Items[i].Spec.EtcdCluster; ref != nil && ref.Name == cluster.GetName() {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
