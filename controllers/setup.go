package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdbackup"
	"github.com/etcdpilot/etcd-operator/controllers/etcdcluster"
	"github.com/etcdpilot/etcd-operator/controllers/etcdrestore"
	"github.com/etcdpilot/etcd-operator/controllers/etcdrole"
	"github.com/etcdpilot/etcd-operator/controllers/etcduser"
	"github.com/etcdpilot/etcd-operator/controllers/internal/monitoring"
	"github.com/etcdpilot/etcd-operator/controllers/internal/objectcache"
	"github.com/etcdpilot/etcd-operator/controllers/leadership"
	"github.com/etcdpilot/etcd-operator/controllers/operatorcondition"
	"github.com/etcdpilot/etcd-operator/controllers/reservations"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Options are what a deployment of the operator configures of the controllers.
type Options struct {
	// OperatorImage holds member-run and the agent.
	OperatorImage string
	// EtcdRepository is the image repository of etcd for specs without one; empty for the built-in one.
	EtcdRepository string
	// Pinned are the images of etcd that are known by their digests.
	Pinned version.Pinned
	// AgentEnv is the agents' environment for reaching object storage through a proxy. etcd does not get it.
	AgentEnv []corev1.EnvVar
	// Self identifies this operator among other installations; the zero value, without leader election, reserves nothing.
	Self claim.Operator
	// Lease is the one that Self names, held by leader election; nil without that.
	Lease *leadership.Lock
	// Concurrency is how many clusters are reconciled concurrently, at least 1.
	Concurrency int
	// Namespaces are those that are watched; all if empty.
	Namespaces []string
	// OwnPods are this operator's pods, if it knows them.
	OwnPods resources.OperatorPods
	// Autopilot is how far Auto Pilot goes in any cluster; On if empty.
	Autopilot v1beta2.AutopilotMode
}

// Cached says which objects the controllers' cache holds, and which of their fields.
func Cached() map[client.Object]cache.ByObject { return objectcache.Cached() }

// Setup registers all controllers. The pool reaches the members.
func Setup(ctx context.Context, mgr ctrl.Manager, pool *etcd.Pool, o Options) error {
	openShift, err := isOpenShift(mgr.GetRESTMapper())
	if err != nil {
		return err
	}
	c, live, recorder := mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder(resources.FieldOwner)
	keeper := &reservations.Keeper{Self: o.Self, Lease: o.Lease, Client: c, Live: live, Recorder: recorder, Clock: clock.RealClock{}}
	if o.Self != (claim.Operator{}) {
		if err := mgr.Add(manager.RunnableFunc(keeper.Stay)); err != nil {
			return fmt.Errorf("watch this operator's Lease: %w", err)
		}
	}
	if o.Lease != nil {
		if err := mgr.Add(manager.RunnableFunc(o.Lease.Keep)); err != nil {
			return fmt.Errorf("watch over who holds this operator's Lease: %w", err)
		}
	}
	monitored := &monitoring.Objects{Live: live, Namespaces: o.Namespaces}
	if err := mgr.Add(manager.RunnableFunc(monitored.Keep)); err != nil {
		return fmt.Errorf("look for Prometheus Operator: %w", err)
	}
	if err := (&etcdcluster.Reconciler{
		Client: c, Live: live, Recorder: recorder, Reservations: keeper, Etcd: pool, Clock: clock.RealClock{},
		OperatorImage: o.OperatorImage, AgentEnv: o.AgentEnv, OpenShift: openShift,
		EtcdRepository: o.EtcdRepository, Pinned: o.Pinned, Concurrency: o.Concurrency, Namespaces: o.Namespaces, OwnPods: o.OwnPods,
		Monitoring: monitored, Autopilot: o.Autopilot,
	}).SetupWithManager(ctx, mgr); err != nil {
		return fmt.Errorf("set up the EtcdCluster controller: %w", err)
	}
	if err := (&etcdbackup.Reconciler{
		Client: c, Live: live, Recorder: recorder, Reservations: keeper, Clock: clock.RealClock{},
		OperatorImage: o.OperatorImage, AgentEnv: o.AgentEnv, OpenShift: openShift,
	}).SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up the EtcdBackup controller: %w", err)
	}
	if err := (&etcdrestore.Reconciler{
		Client: c, Live: live, Recorder: recorder, Reservations: keeper, Clock: clock.RealClock{},
		OperatorImage: o.OperatorImage, AgentEnv: o.AgentEnv, OpenShift: openShift,
	}).SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up the EtcdRestore controller: %w", err)
	}
	if err := (&etcduser.Reconciler{
		Client: c, Live: live, Recorder: recorder, Reservations: keeper, Clock: clock.RealClock{},
	}).SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up the EtcdUser controller: %w", err)
	}
	if err := (&etcdrole.Reconciler{
		Client: c, Live: live, Recorder: recorder, Reservations: keeper, Clock: clock.RealClock{},
	}).SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up the EtcdRole controller: %w", err)
	}
	if err := operatorcondition.Setup(mgr); err != nil {
		return fmt.Errorf("set up the OperatorCondition controller: %w", err)
	}
	return nil
}

// isOpenShift reports whether this is OpenShift, where namespaces assign pods their user and group.
func isOpenShift(mapper meta.RESTMapper) (bool, error) {
	_, err := mapper.RESTMapping(schema.GroupKind{Group: "security.openshift.io", Kind: "SecurityContextConstraints"})
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("detect OpenShift: %w", err)
	}
	return true, nil
}

// AutopilotMode is how far Auto Pilot is to go in any cluster.
func AutopilotMode(given string) (v1beta2.AutopilotMode, error) {
	switch mode := v1beta2.AutopilotMode(given); mode {
	case v1beta2.AutopilotOff, v1beta2.AutopilotAdvise, v1beta2.AutopilotOn:
		return mode, nil
	case "":
		return v1beta2.AutopilotOn, nil
	}
	return "", fmt.Errorf("--autopilot (or AUTOPILOT) is %q: set it to Off, Advise or On", given)
}
