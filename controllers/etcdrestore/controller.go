// Package etcdrestore carries EtcdRestores out.
package etcdrestore

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
	"github.com/etcdpilot/etcd-operator/controllers/reservations"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
	"github.com/etcdpilot/etcd-operator/internal/plan/restore"
)

// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdrestores,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdrestores/status,verbs=update
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdrestores/finalizers,verbs=update
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=etcd.database.coreos.com,resources=etcdbackups,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler carries EtcdRestores out: observe, plan, one action, status. It never changes a cluster's objects; the reconciler of
// the EtcdCluster does, depending on the restore's phase.
type Reconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads from the API server: no change is ever made based on a stale cache.
	Live client.Reader
	// Recorder writes events.
	Recorder events.EventRecorder
	// Reservations knows which EtcdRestores are this operator's.
	Reservations *reservations.Keeper
	// Clock is the time of observations.
	Clock clock.PassiveClock
	// OperatorImage holds the agent.
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
		r.Reservations.Forget(&v1beta2.EtcdRestore{}, req.NamespacedName)
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, err
	case p.declined != nil:
		return r.Reservations.Settle(ctx, p.object, &p.object.Status.Operator, p.declined)
	}
	p.deed, err = r.fence(p).Act(ctx, p, func(ctx context.Context) error { return r.execute(ctx, p) })
	return r.finish(ctx, p, err)
}

// restorePass is what one reconciliation has read and decided.
type restorePass struct {
	object *v1beta2.EtcdRestore
	// before is the status as it was read.
	before *v1beta2.EtcdRestoreStatus
	// begun is when the pass began to read.
	begun time.Time
	// declined is why this operator does not act on the EtcdRestore; nil if it does. Otherwise nothing but the object is known.
	declined claim.Decision
	// deed is what the pass has tried to change, nil for nothing.
	deed     *reconcile.Deed
	observed restore.Observed
	action   restore.Action
	// cluster is nil if there is none.
	cluster *v1beta2.EtcdCluster
	// operator is the common name by which etcd would know the operator on the snapshot; only while that is checked, and matters.
	operator string
	// asked are the client URLs of the members that may have the cluster's data.
	asked []string
	// source is where the snapshot is, nil if that is not known.
	source *v1beta2.RestoredFrom
	agentpod.Pods
	// member is the member that is restoring its data from the snapshot, nil if none is.
	member *memberRestore
}

func (r *Reconciler) fence(p *restorePass) reconcile.Fence {
	return reconcile.Fence{Clock: r.Clock, Begun: p.begun, Lease: r.Reservations}
}

// Mutates reports whether the decision changes anything.
func (p *restorePass) Mutates() bool {
	if p.declined != nil {
		return claim.Mutates(p.declined)
	}
	return restore.Mutates(p.action)
}

// Deed names what the decision changes.
func (p *restorePass) Deed() reconcile.Deed {
	d := restore.Describe(p.action)
	return reconcile.Deed{Action: d.Action, Reason: d.Reason}
}

func (r *Reconciler) decide(ctx context.Context, name types.NamespacedName) (*restorePass, error) {
	return reconcile.Decide(r.Client, r.Live, func(reader client.Reader) (*restorePass, error) {
		return r.observeAndPlan(ctx, reader, name)
	})
}

func (r *Reconciler) observeAndPlan(ctx context.Context, reader client.Reader, name types.NamespacedName) (
	*restorePass, error,
) {
	begun, object := r.Clock.Now(), &v1beta2.EtcdRestore{}
	if err := reader.Get(ctx, name, object); err != nil {
		return nil, err
	}
	decision, err := r.Reservations.Decide(ctx, object, object.Status.Operator)
	if err != nil {
		return nil, err
	}
	if !claim.Acts(decision) {
		return &restorePass{object: object, declined: decision}, nil
	}
	p, err := r.observe(ctx, reader, object)
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	p.action, p.begun = restore.Next(p.observed), begun
	return p, nil
}

// SetupWithManager registers the reconciler and its watches. There is one worker only: of two restores of a cluster that
// are ready at the same time, the second one sees the first one's phase.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("etcdrestore").
		For(&v1beta2.EtcdRestore{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.Pod{}).
		Watches(&v1beta2.EtcdCluster{}, handler.EnqueueRequestsFromMapFunc(r.waiting(func(s *v1beta2.EtcdRestoreSpec) string {
			return s.EtcdCluster.Name
		}))).
		Watches(&v1beta2.EtcdBackup{}, handler.EnqueueRequestsFromMapFunc(r.waiting(func(s *v1beta2.EtcdRestoreSpec) string {
			if s.Backup == nil {
				return ""
			}
			return s.Backup.Name
		}))).
		// A pass reads claims, and none may begin before they are listed, or refused (outage.Unseen).
		Watches(&corev1.PersistentVolumeClaim{}, handler.Funcs{}).
		WithOptions(controller.Options{RateLimiter: reconcile.RateLimiter()}).
		Complete(outage.Retried(r))
}

// waiting finds the unfinished restores that refer to an object.
func (r *Reconciler) waiting(named func(*v1beta2.EtcdRestoreSpec) string) handler.MapFunc {
	return func(ctx context.Context, o client.Object) (requests []ctrl.Request) {
		list := &v1beta2.EtcdRestoreList{}
		if err := r.Client.List(ctx, list, client.InNamespace(o.GetNamespace())); err != nil {
			log.FromContext(ctx).Error(err, "cannot list EtcdRestores; each is reconciled at its own next time")
			return nil
		}
		for i := range list.Items {
			if item := &list.Items[i]; item.Status.CompletionTime == nil && named(&item.Spec) == o.GetName() {
				requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(item)})
			}
		}
		return requests
	}
}
