package etcdbackup_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdbackup"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestNamespaceEnds has the namespace be deleted while a backup begins: its try has not failed, and it waits and says so.
func TestNamespaceEnds(t *testing.T) {
	name := types.NamespacedName{Namespace: "ns", Name: "b"}
	b := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, UID: "1", CreationTimestamp: metav1.Now()}}
	b.Spec = v1beta2.EtcdBackupSpec{EtcdEndpoints: []string{"http://etcd:2379"}, Storage: &v1beta2.Storage{URL: "s3://bucket/prefix"}}
	ending := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "b-1", errors.New("it is being terminated"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	api := fake.NewClientBuilder().WithScheme(testenv.Scheme(t)).WithObjects(b).WithStatusSubresource(b).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return ending },
		}).Build()
	recorder, now := events.NewFakeRecorder(100), clock.RealClock{}
	r := &etcdbackup.Reconciler{
		Client: api, Live: api, Recorder: recorder, Clock: now, OperatorImage: "operator:test",
		Reservations: controllertest.Keeper(controllertest.Ours, api, recorder, now),
	}
	for range 10 {
		result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
		must(t, api.Get(t.Context(), name, b))
		said := meta.FindStatusCondition(b.Status.Conditions, v1beta2.ConditionProgressing)
		if said == nil || said.Reason != v1beta2.ReasonTerminating {
			continue
		}
		if result.RequeueAfter != reconcile.Heartbeat || b.Status.Run == nil || b.Status.Run.Attempt != 1 || b.Status.Run.RetryTime != nil {
			t.Errorf("it looks again in %s: %+v", result.RequeueAfter, b.Status.Run)
		}
		return
	}
	t.Fatalf("it says %+v", b.Status.Conditions)
}
