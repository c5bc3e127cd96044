package controllers_test

import (
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdbackup"
	"github.com/etcdpilot/etcd-operator/controllers/etcdcluster"
	"github.com/etcdpilot/etcd-operator/controllers/etcdrestore"
	"github.com/etcdpilot/etcd-operator/controllers/etcdrole"
	"github.com/etcdpilot/etcd-operator/controllers/etcduser"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/controllers/reservations"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
)

// rivals is a real API server on which several operators reconcile one namespace. The test renews their Leases, or does not,
// and has a clock of its own that they all go by.
type rivals struct {
	client.Client
	config    *rest.Config
	clock     *clocktesting.FakePassiveClock
	namespace string
	kind      ofKind
	// given is how many objects there were before an operator looked.
	given int
}

// ofKind is an object of one of the kinds. Each is such that the operator writes something at once.
type ofKind struct {
	object client.Object
	// by is the object's claim.
	by func(client.Object) *v1beta2.OperatorReference
}

func ofKinds() map[string]ofKind {
	backup, restore := &v1beta2.EtcdBackup{}, &v1beta2.EtcdRestore{}
	backup.Spec = v1beta2.EtcdBackupSpec{
		EtcdEndpoints: []string{"http://etcd:2379"}, Storage: &v1beta2.Storage{URL: "s3://bucket/prefix", CredentialsSecretRef: v1beta2.SecretRef{Name: "keys"}},
		DeletionPolicy: v1beta2.DeletionDelete,
	}
	restore.Spec.EtcdCluster.Name, restore.Spec.Storage = "o", backup.Spec.Storage
	user, role := &v1beta2.EtcdUser{}, &v1beta2.EtcdRole{}
	user.Spec.EtcdCluster.Name, user.Spec.ClientCertificate, role.Spec.EtcdCluster.Name = "o", &v1beta2.UserCertificate{}, "o"
	return map[string]ofKind{
		"EtcdCluster": {
			&v1beta2.EtcdCluster{Spec: v1beta2.EtcdClusterSpec{Size: 1}},
			func(o client.Object) *v1beta2.OperatorReference { return o.(*v1beta2.EtcdCluster).Status.Operator },
		},
		"EtcdBackup": {
			backup, func(o client.Object) *v1beta2.OperatorReference { return o.(*v1beta2.EtcdBackup).Status.Operator },
		},
		"EtcdRestore": {
			restore, func(o client.Object) *v1beta2.OperatorReference { return o.(*v1beta2.EtcdRestore).Status.Operator },
		},
		"EtcdUser": {
			user, func(o client.Object) *v1beta2.OperatorReference { return o.(*v1beta2.EtcdUser).Status.Operator },
		},
		"EtcdRole": {
			role, func(o client.Object) *v1beta2.OperatorReference { return o.(*v1beta2.EtcdRole).Status.Operator },
		},
	}
}

// create makes the object that they all reconcile.
func (r *rivals) create(t *testing.T) {
	t.Helper()
	controllertest.Must(t, client.IgnoreAlreadyExists(r.Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}})))
	o := r.kind.object.DeepCopyObject().(client.Object)
	o.SetNamespace(r.namespace)
	o.SetName("o")
	controllertest.Must(t, r.Create(t.Context(), o))
	if _, ok := o.(*v1beta2.EtcdRestore); ok { // it waits for its cluster
		cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "o"}}
		cluster.Spec.Size = 1
		controllertest.Must(t, client.IgnoreAlreadyExists(r.Create(t.Context(), cluster)))
	}
	r.given = len(r.all(t))
}

func (r *rivals) read(t *testing.T) client.Object {
	t.Helper()
	o := r.kind.object.DeepCopyObject().(client.Object)
	controllertest.Must(t, r.Get(t.Context(), client.ObjectKey{Namespace: r.namespace, Name: "o"}, o))
	return o
}

// written reports whether an operator has written more to the object than its claim.
func (r *rivals) written(t *testing.T) bool {
	t.Helper()
	switch o := r.read(t).(type) {
	case *v1beta2.EtcdUser:
		return len(o.Status.Conditions) > 0
	case *v1beta2.EtcdRole:
		return len(o.Status.Conditions) > 0
	default:
		return len(o.GetFinalizers()) > 0
	}
}

// claimed wants the object to be an operator's, no one's for none.
func (r *rivals) claimed(t *testing.T, want claim.Operator) {
	t.Helper()
	var got claim.Operator
	if by := r.kind.by(r.read(t)); by != nil {
		got = claim.Operator{Namespace: by.Namespace, Lease: by.Lease}
	}
	if got != want {
		t.Fatalf("it is %s's, want %s", got, want)
	}
}

// all are the versions of everything that the operators could have written, and see.
func (r *rivals) all(t *testing.T) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, list := range []client.ObjectList{
		&v1beta2.EtcdClusterList{}, &v1beta2.EtcdBackupList{}, &v1beta2.EtcdRestoreList{}, &v1beta2.EtcdUserList{},
		&v1beta2.EtcdRoleList{}, &corev1.PodList{},
		&corev1.ServiceList{}, &corev1.PersistentVolumeClaimList{}, &policyv1.PodDisruptionBudgetList{},
	} {
		controllertest.Must(t, r.List(t.Context(), list, client.InNamespace(r.namespace)))
		controllertest.Must(t, meta.EachListItem(list, func(o runtime.Object) error {
			one := o.(client.Object)
			versions[fmt.Sprintf("%T %s", o, one.GetName())] = one.GetResourceVersion()
			return nil
		}))
	}
	return versions
}

// renews writes an operator's Lease, as it does every two seconds.
func (r *rivals) renews(t *testing.T, who claim.Operator) {
	t.Helper()
	r.lease(t, who, func(s *coordinationv1.LeaseSpec) {
		s.HolderIdentity = new("somebody")
		s.RenewTime = new(metav1.NewMicroTime(r.clock.Now().Add(-24 * time.Hour))) // by another clock
	})
}

func (r *rivals) lease(t *testing.T, who claim.Operator, change func(*coordinationv1.LeaseSpec)) {
	t.Helper()
	controllertest.Must(t, client.IgnoreAlreadyExists(r.Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: who.Namespace}})))
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: who.Namespace, Name: who.Lease}}
	controllertest.Must(t, client.IgnoreAlreadyExists(r.Create(t.Context(), lease)))
	controllertest.Must(t, r.Get(t.Context(), client.ObjectKeyFromObject(lease), lease))
	change(&lease.Spec)
	controllertest.Must(t, r.Update(t.Context(), lease))
}

// endsLease deletes an operator's Lease.
func (r *rivals) endsLease(t *testing.T, who claim.Operator) {
	t.Helper()
	controllertest.Must(t, r.Delete(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: who.Namespace, Name: who.Lease},
	}))
}

func (r *rivals) later(d time.Duration) { r.clock.SetTime(r.clock.Now().Add(d)) }

// rival is one of the operators.
type rival struct {
	claim.Operator
	recorder    *events.FakeRecorder
	known       *reservations.Keeper
	reconcilers map[string]reconcile.Reconciler
}

// own is the client of an operator, with its role and no other.
func (r *rivals) own(t *testing.T) client.WithWatch {
	t.Helper()
	own, err := client.NewWithWatch(controllertest.AsOperator(r.config), client.Options{Scheme: r.Scheme()})
	controllertest.Must(t, err)
	return own
}

// operator starts one, whose caches and writes go by a client, and its live reads by another one.
func (r *rivals) operator(t *testing.T, namespace string, c client.Client, live client.Reader) *rival {
	t.Helper()
	pool := etcd.NewPool()
	t.Cleanup(pool.Close)
	o := &rival{recorder: events.NewFakeRecorder(100)}
	if namespace != "" {
		o.Operator = claim.Operator{Namespace: namespace, Lease: reservations.LeaseName}
	}
	known := &reservations.Keeper{Self: o.Operator, Client: c, Live: live, Recorder: o.recorder, Clock: r.clock}
	o.known = known
	o.reconcilers = map[string]reconcile.Reconciler{
		"EtcdCluster": &etcdcluster.Reconciler{
			Client: c, Live: live, Recorder: o.recorder, Reservations: known, Etcd: pool, Clock: r.clock, OperatorImage: "operator:test",
		},
		"EtcdBackup": &etcdbackup.Reconciler{
			Client: c, Live: live, Recorder: o.recorder, Reservations: known, Clock: r.clock, OperatorImage: "operator:test",
		},
		"EtcdRestore": &etcdrestore.Reconciler{
			Client: c, Live: live, Recorder: o.recorder, Reservations: known, Clock: r.clock, OperatorImage: "operator:test",
		},
		"EtcdUser": &etcduser.Reconciler{Client: c, Live: live, Recorder: o.recorder, Reservations: known, Clock: r.clock},
		"EtcdRole": &etcdrole.Reconciler{Client: c, Live: live, Recorder: o.recorder, Reservations: known, Clock: r.clock},
	}
	return o
}

// plain starts an operator that differs from others in its namespace alone.
func (r *rivals) plain(t *testing.T, namespace string) *rival {
	t.Helper()
	own := r.own(t)
	return r.operator(t, namespace, own, own)
}

// pass lets an operator look at the object.
func (r *rivals) pass(t *testing.T, o *rival) (ctrl.Result, error) {
	t.Helper()
	kind := kindOf(r.kind.object)
	return o.reconcilers[kind].Reconcile(t.Context(), ctrl.Request{
		NamespacedName: client.ObjectKey{Namespace: r.namespace, Name: "o"},
	})
}

// settle lets an operator go on until it has nothing to do at once.
func (r *rivals) settle(t *testing.T, o *rival) {
	t.Helper()
	const most = 30
	for range most {
		result, err := r.pass(t, o)
		controllertest.Must(t, err)
		if result.RequeueAfter == 0 || result.RequeueAfter >= time.Second {
			return
		}
	}
	t.Fatalf("%s does not settle", o)
}

// recordedEvents are the events that an operator has written since it was asked last.
func (o *rival) recordedEvents() (all []string) {
	for len(o.recorder.Events) > 0 {
		all = append(all, <-o.recorder.Events)
	}
	return all
}

func kindOf(o client.Object) string {
	for kind, one := range ofKinds() {
		if fmt.Sprintf("%T", one.object) == fmt.Sprintf("%T", o) {
			return kind
		}
	}
	return ""
}
