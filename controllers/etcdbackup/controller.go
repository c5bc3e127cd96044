// Package etcdbackup has the backups taken that EtcdBackups ask for.
package etcdbackup

import (
	"context"
	"errors"
	"fmt"

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
	"github.com/etcdpilot/etcd-operator/controllers/claims"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
	"github.com/etcdpilot/etcd-operator/internal/plan/backup"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups/status,verbs=update
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;delete

// Reconciler has backups taken, by pods that have the storage's credentials: this process never sees them.
//
// There is one worker, and it does little, and never waits for a pod: who may write an object next is decided in one place,
// one after the other.
type Reconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads from the API server: no change is ever made on a view that may lag.
	Live client.Reader
	// Recorder writes events.
	Recorder events.EventRecorder
	// Claims knows which EtcdBackups are this operator's.
	Claims *claims.Keeper
	// Clock tells the time of an observation.
	Clock clock.PassiveClock
	// OperatorImage is what the pods run.
	OperatorImage string
	// AgentEnv is how the pods reach object storage through a proxy.
	AgentEnv []corev1.EnvVar
	// OpenShift leaves the pods' user and group to the namespace.
	OpenShift bool
}

// Reconcile takes one step. It is safe to stop at any point: the next pass sees what is there and goes on.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	p, err := r.decide(ctx, req.NamespacedName)
	switch {
	case apierrors.IsNotFound(err):
		metrics.ForgetBackup(req.Namespace, req.Name)
		r.Claims.Forget(&v1beta2.EtcdBackup{}, req.NamespacedName)
		return ctrl.Result{}, nil
	case errors.Is(err, reconcile.ErrStale):
		return ctrl.Result{RequeueAfter: reconcile.NotYet}, nil
	case err != nil:
		return ctrl.Result{}, err
	case p.claim != nil:
		metrics.ForgetBackup(req.Namespace, req.Name)
		return r.Claims.Settle(ctx, p.object, &p.object.Status.Operator, p.claim)
	}
	err = r.fence(p).Act(ctx, p, func(ctx context.Context) error { return r.execute(ctx, p) })
	return r.finish(ctx, p, err)
}

func (r *Reconciler) fence(p *backupPass) reconcile.Fence {
	return reconcile.Fence{Clock: r.Clock, Begun: p.begun, Lease: r.Claims}
}

// Mutates tells whether the answer changes anything.
func (p *backupPass) Mutates() bool {
	if p.claim != nil {
		return claim.Mutates(p.claim)
	}
	return backup.Mutates(p.action)
}

// decide never takes a step on a spec that the cache does not have: so whoever looks into the cache later, for those that use
// a storage, finds all of them.
func (r *Reconciler) decide(ctx context.Context, name types.NamespacedName) (*backupPass, error) {
	var cached *backupPass
	return reconcile.Decide(r.Client, r.Live, func(reader client.Reader) (*backupPass, error) {
		p, err := r.look(ctx, reader, name)
		if err == nil && cached != nil && p.object.Generation != cached.object.Generation {
			return nil, reconcile.ErrStale
		}
		cached = p
		return p, err
	})
}

func (r *Reconciler) look(ctx context.Context, reader client.Reader, name types.NamespacedName) (
	*backupPass, error,
) {
	begun, object := r.Clock.Now(), &v1beta2.EtcdBackup{}
	if err := reader.Get(ctx, name, object); err != nil {
		return nil, err
	}
	decision, err := r.Claims.Decide(ctx, object, object.Status.Operator)
	if err != nil {
		return nil, err
	}
	if !claim.Acts(decision) {
		return &backupPass{object: object, claim: decision}, nil
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

// starts tells whether a pod is about to use the storage.
func starts(a backup.Action) bool {
	start, ok := a.(backup.Start)
	return ok && start.Run.Task == backup.TaskBackup
}

// SetupWithManager registers the reconciler and what wakes it.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("etcdbackup").
		// A pass knows when to look again after what it has written itself.
		For(&v1beta2.EtcdBackup{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.Pod{}).
		Watches(&v1beta2.EtcdCluster{}, handler.EnqueueRequestsFromMapFunc(r.backupsOf),
			builder.WithPredicates(predicate.Funcs{UpdateFunc: cameUp})).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, RateLimiter: reconcile.RateLimiter()}).
		Complete(outage.Retried(r))
}

// cameUp tells whether a cluster has what a backup may have waited for.
func cameUp(e event.UpdateEvent) bool {
	old, isCluster := e.ObjectOld.(*v1beta2.EtcdCluster)
	now, areClusters := e.ObjectNew.(*v1beta2.EtcdCluster)
	return isCluster && areClusters &&
		(old.Status.ClusterID != now.Status.ClusterID || (agentpod.MemberURLs(old, agentpod.Voting) == nil) != (agentpod.MemberURLs(now, agentpod.Voting) == nil))
}

// backupsOf are the EtcdBackups of a cluster.
func (r *Reconciler) backupsOf(ctx context.Context, cluster client.Object) []ctrl.Request {
	list := &v1beta2.EtcdBackupList{}
	if err := r.Client.List(ctx, list, client.InNamespace(cluster.GetNamespace())); err != nil {
		return nil // it is the cache's: it fails only when the operator ends
	}
	var requests []ctrl.Request
	for i := range list.Items {
		if ref := list.Items[i].Spec.EtcdCluster; ref != nil && ref.Name == cluster.GetName() {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
