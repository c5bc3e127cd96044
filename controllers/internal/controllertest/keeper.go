package controllertest

import (
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/controllers/reservations"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

// Ours is the operator of tests that are not about several of them.
var Ours = claim.Operator{Namespace: "etcd-operator-system", Lease: reservations.LeaseName}

// Keeper is what an operator knows that has just started.
func Keeper(self claim.Operator, c client.Client, recorder events.EventRecorder, clock clock.PassiveClock) *reservations.Keeper {
	return &reservations.Keeper{Self: self, Client: c, Live: c, Recorder: recorder, Clock: clock}
}

// KeeperOf is that of an operator with caches.
func KeeperOf(mgr ctrl.Manager) *reservations.Keeper {
	return &reservations.Keeper{
		Self: Ours, Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("test"), Clock: clock.RealClock{},
	}
}
