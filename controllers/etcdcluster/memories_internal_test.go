package etcdcluster

import (
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestMemories wants every field that could forget a cluster to be told to.
func TestMemories(t *testing.T) {
	r := &Reconciler{}
	known := r.memories()
	fields := reflect.ValueOf(r).Elem()
	for i := range fields.NumField() {
		field := fields.Field(i).Addr()
		if !field.Type().Implements(reflect.TypeFor[memory]()) {
			continue
		}
		if !slices.ContainsFunc(known, func(m memory) bool { return reflect.ValueOf(m).UnsafePointer() == field.UnsafePointer() }) {
			t.Errorf("%s forgets no cluster", fields.Type().Field(i).Name)
		}
	}
}

// TestOperatedByAnother has another operator have a cluster that this one once had: nothing that it may have changed is known any more.
func TestOperatedByAnother(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: someCluster.Namespace, Name: someCluster.Name, UID: "1"}}
	c.Status.Operator = &v1beta2.OperatorReference{Namespace: "other", Lease: "other", UID: "2"}
	api := fake.NewClientBuilder().WithScheme(testenv.Scheme(t)).WithObjects(c).WithStatusSubresource(c).Build()
	recorder, now := events.NewFakeRecorder(10), clock.RealClock{}
	r := &Reconciler{
		Client: api, Live: api, Recorder: recorder, Clock: now, Etcd: etcd.NewPool(),
		Reservations: controllertest.Keeper(controllertest.Ours, api, recorder, now),
	}
	defer r.Etcd.Close()
	r.retained.note(someCluster, c.UID)
	r.refusals.note(someCluster, c.Generation, firstPod, "no", now.Now())
	r.authenticated.keep(someCluster, authKnown{asked: true})
	r.paces.note(someCluster, plan.Idle{}, now.Now())
	_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: someCluster})
	must(t, err)
	if r.retained.knows(someCluster, c.UID) || len(r.refusals.known) != 0 || r.authenticated.of(someCluster).asked || len(r.paces.of) != 0 {
		t.Error("it knows what was before")
	}
}
