// Package operatorcondition reports to OLM whether the operator may be upgraded.
package operatorcondition

import (
	"context"
	"fmt"
	"os"
	"time"

	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	"github.com/operator-framework/operator-lib/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	wakes "sigs.k8s.io/controller-runtime/pkg/source"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// variable is set by OLM, which grants the operator the OperatorCondition of that name.
const variable = "OPERATOR_CONDITION_NAME"

// upgradeableAgain is when work that delays an upgrade is checked again: whether it is stuck also depends on time.
const upgradeableAgain = 10 * time.Minute

// Reconciler reports to OLM whether the operator may be upgraded now.
type Reconciler struct {
	// Client reads from the cache.
	Client client.Client
	// Upgradeable is the condition of that type. It must not be read from a cache: OLM grants no list and no watch.
	Upgradeable conditions.Condition
	// Clock is the time of observations.
	Clock clock.PassiveClock

	// written is what was last written. There is one worker, and no other writer of the condition.
	written metav1.Condition
}

// Setup registers the reconciler if OLM has installed the operator.
func Setup(mgr ctrl.Manager) error {
	if os.Getenv(variable) == "" {
		return nil
	}
	uncached, err := client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return err
	}
	upgradeable, err := conditions.InClusterFactory{Client: uncached}.NewCondition(operatorsv2.ConditionType(operatorsv2.Upgradeable))
	if err != nil {
		return err
	}
	return (&Reconciler{
		Client: mgr.GetClient(), Upgradeable: upgradeable, Clock: clock.RealClock{},
	}).SetupWithManager(mgr)
}

// Reconcile writes the condition if it has changed.
func (r *Reconciler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	clusters, restores := &v1beta2.EtcdClusterList{}, &v1beta2.EtcdRestoreList{}
	for _, list := range []client.ObjectList{clusters, restores} {
		if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return ctrl.Result{}, fmt.Errorf("list EtcdClusters and EtcdRestores: %w", err)
		}
	}
	want, result := metav1.Condition{Status: metav1.ConditionTrue}, ctrl.Result{}
	var ok bool
	if ok, want.Reason, want.Message = status.Upgradeable(clusters.Items, restores.Items, r.Clock.Now()); !ok {
		want.Status, result.RequeueAfter = metav1.ConditionFalse, upgradeableAgain
	}
	if want == r.written {
		return result, nil
	}
	err := r.Upgradeable.Set(ctx, want.Status, conditions.WithReason(want.Reason), conditions.WithMessage(want.Message))
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("set Upgradeable in the OperatorCondition: %w", err)
	}
	log.FromContext(ctx).Info("set Upgradeable in the OperatorCondition", "upgradeable", ok, "message", want.Message)
	r.written = want
	return result, nil
}

// SetupWithManager registers the reconciler and its watches. The first pass runs as soon as the operator is the leader, without
// any cluster, too.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	one := []ctrl.Request{{}}
	each := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []ctrl.Request { return one })
	return ctrl.NewControllerManagedBy(mgr).
		Named("operatorcondition").
		Watches(&v1beta2.EtcdCluster{}, each).
		Watches(&v1beta2.EtcdRestore{}, each).
		WatchesRawSource(wakes.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
			queue.Add(one[0])
			return nil
		})).
		Complete(r)
}
