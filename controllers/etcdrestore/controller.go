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
	"github.com/etcdpilot/etcd-operator/controllers/claims"
	"github.com/etcdpilot/etcd-operator/controllers/internal/agentpod"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/controllers/outage"
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

// Reconciler carries EtcdRestores out: observe, plan, one action, status. It never touches a cluster's objects;
// that is the EtcdCluster's reconciler's, which acts on a restore's phase.
type Reconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Live reads from the API server: no change is ever made on a view that may lag.
	Live client.Reader
	// Recorder writes events.
	Recorder events.EventRecorder
	// Claims knows which EtcdRestores are this operator's.
	Claims *claims.Keeper
	// Clock tells the time of an observation.
	Clock clock.PassiveClock
	// OperatorImage holds the agent.
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
		r.Claims.Forget(&v1beta2.EtcdRestore{}, req.NamespacedName)
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, err
	case p.claim != nil:
		return r.Claims.Settle(ctx, p.object, &p.object.Status.Operator, p.claim)
	}
	err = r.fence(p).Act(ctx, p, func(ctx context.Context) error { return r.execute(ctx, p) })
	return r.finish(ctx, p, err)
}

// restorePass is what one reconciliation has read and decided.
type restorePass struct {
	object *v1beta2.EtcdRestore
	// before is the status as it was read.
	before *v1beta2.EtcdRestoreStatus
	// begun is when it began to be read.
	begun time.Time
	// claim is nil if the EtcdRestore is this operator's; else nothing more of it is known than the object.
	claim    claim.Decision
	observed restore.Observed
	action   restore.Action
	// cluster is nil if there is none.
	cluster *v1beta2.EtcdCluster
	// asked are the client URLs of the members that can have what the cluster holds.
	asked []string
	// source is where the snapshot is, nil if that is not known.
	source *v1beta2.RestoredFrom
	agentpod.Pods
	// member builds its data from the snapshot, nil if none is at that.
	member *memberRun
}

func (r *Reconciler) fence(p *restorePass) reconcile.Fence {
	return reconcile.Fence{Clock: r.Clock, Begun: p.begun, Lease: r.Claims}
}

// Mutates tells whether the answer changes anything.
func (p *restorePass) Mutates() bool {
	if p.claim != nil {
		return claim.Mutates(p.claim)
	}
	return restore.Mutates(p.action)
}

func (r *Reconciler) decide(ctx context.Context, name types.NamespacedName) (*restorePass, error) {
	return reconcile.Decide(r.Client, r.Live, func(reader client.Reader) (*restorePass, error) {
		return r.look(ctx, reader, name)
	})
}

func (r *Reconciler) look(ctx context.Context, reader client.Reader, name types.NamespacedName) (
	*restorePass, error,
) {
	begun, object := r.Clock.Now(), &v1beta2.EtcdRestore{}
	if err := reader.Get(ctx, name, object); err != nil {
		return nil, err
	}
	decision, err := r.Claims.Decide(ctx, object, object.Status.Operator)
	if err != nil {
		return nil, err
	}
	if !claim.Acts(decision) {
		return &restorePass{object: object, claim: decision}, nil
	}
	p, err := r.observe(ctx, reader, object)
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	p.action, p.begun = restore.Next(p.observed), begun
	return p, nil
}

// SetupWithManager registers the reconciler and what wakes it. There is one worker only: of two restores of a cluster that
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
		WithOptions(controller.Options{RateLimiter: reconcile.RateLimiter()}).
		Complete(outage.Retried(r))
}

// waiting finds the restores under way that name an object.
func (r *Reconciler) waiting(named func(*v1beta2.EtcdRestoreSpec) string) handler.MapFunc {
	return func(ctx context.Context, o client.Object) (requests []ctrl.Request) {
		list := &v1beta2.EtcdRestoreList{}
		if err := r.Client.List(ctx, list, client.InNamespace(o.GetNamespace())); err != nil {
			log.FromContext(ctx).Error(err, "cannot list EtcdRestores; they look by themselves later")
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
