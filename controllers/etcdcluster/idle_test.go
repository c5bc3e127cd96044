package etcdcluster_test

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/etcdcluster"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

// TestIdleClusterCostsNothing looks at a healthy cluster repeatedly: nothing is written, nothing is read from the
// API server, no event is recorded, and the next look is no sooner than in a minute.
func TestIdleClusterCostsNothing(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "idle"}
	w.cluster(t, name)
	w.calms(t, name)
}

// TestIdleTLSClusterReadsItsSecrets holds that a cluster with TLS costs no more for five minutes, and that after these each of its seven
// Secrets is read once, and nothing else.
func TestIdleTLSClusterReadsItsSecrets(t *testing.T) {
	w := newIdleWorld(t)
	name := types.NamespacedName{Namespace: namespace, Name: "idle"}
	must(t, w.api.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
		Spec:       v1beta2.EtcdClusterSpec{Size: 3, TLS: &v1beta2.TLSPolicy{Managed: &v1beta2.ManagedTLS{}}},
	}))
	w.calms(t, name)
	w.operator.Clock = clocktesting.NewFakeClock(time.Now().Add(5 * time.Minute))
	w.writes, w.live = 0, 0
	_, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
	must(t, err)
	// The authorities and their keys, those that members trust, three members' certificates, and those for applications and agents.
	if w.writes != 0 || w.live != 7 {
		t.Errorf("after five minutes: %d writes, %d live reads", w.writes, w.live)
	}
}

// calms runs a cluster until nothing happens for several passes. From the first such pass on nothing may.
func (w *idleWorld) calms(t *testing.T, name types.NamespacedName) {
	t.Helper()
	const passes, calm = 100, 5
	quiet := 0
	for range passes {
		w.writes, w.live = 0, 0
		recorded := len(w.recorder.Events)
		result, err := w.operator.Reconcile(t.Context(), ctrl.Request{NamespacedName: name})
		must(t, err)
		if w.writes == 0 && w.live == 0 && len(w.recorder.Events) == recorded && result.RequeueAfter >= time.Minute {
			quiet++
		} else if quiet > 0 {
			t.Fatalf("after %d quiet passes: %d writes, %d live reads, %d events, next look in %s",
				quiet, w.writes, w.live, len(w.recorder.Events)-recorded, result.RequeueAfter)
		}
		if quiet == calm {
			w.healthy(t, name)
			return
		}
		w.kubelet(t)
	}
	t.Fatalf("not quiet after %d passes: %d writes, %d live reads in the last", passes, w.writes, w.live)
}

// cluster creates one of three members.
func (w *idleWorld) cluster(t *testing.T, name types.NamespacedName) {
	t.Helper()
	must(t, w.api.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
		Spec:       v1beta2.EtcdClusterSpec{Size: 3},
	}))
}

// idleWorld is an API server without a network, and etcd servers that run nothing.
type idleWorld struct {
	// api is the kubelet's and the test's; the operator's own client counts.
	api      client.Client
	operator *etcdcluster.Reconciler
	recorder *events.FakeRecorder
	// writes and live are the operator's requests: what it changed, and what it read past the cache.
	writes, live int
	// servers are those that have started, by pod.
	servers   map[string]*stillEtcd
	addresses map[string]string
	auth      stillAuth
}

func newIdleWorld(t *testing.T) *idleWorld {
	t.Helper()
	w := &idleWorld{recorder: events.NewFakeRecorder(1000), servers: map[string]*stillEtcd{}, addresses: map[string]string{}}
	api := fake.NewClientBuilder().WithScheme(testenv.Scheme(t)).
		WithStatusSubresource(&v1beta2.EtcdCluster{}, &corev1.Pod{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				o.SetUID(uuid.NewUUID())
				o.SetCreationTimestamp(metav1.Now())
				return c.Create(ctx, o, opts...)
			},
		}).Build()
	w.api = api
	pool := etcd.NewPool()
	t.Cleanup(pool.Close)
	own := interceptor.NewClient(api, w.counting())
	w.operator = &etcdcluster.Reconciler{
		Client: own, Reservations: controllertest.Keeper(controllertest.Ours, own, w.recorder, clock.RealClock{}), Live: interceptor.NewClient(api, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
				opts ...client.GetOption,
			) error {
				w.live++
				return c.Get(ctx, key, o, opts...)
			},
			List: func(ctx context.Context, c client.WithWatch, o client.ObjectList, opts ...client.ListOption) error {
				w.live++
				return c.List(ctx, o, opts...)
			},
		}),
		Recorder: w.recorder, Etcd: pool, Clock: clock.RealClock{}, OperatorImage: "operator:test",
	}
	return w
}

// counting counts every verb that changes anything.
func (w *idleWorld) counting() interceptor.Funcs {
	type object = client.Object
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o object, opts ...client.CreateOption) error {
			w.writes++
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o object, opts ...client.UpdateOption) error {
			w.writes++
			return c.Update(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o object, p client.Patch, opts ...client.PatchOption) error {
			w.writes++
			return c.Patch(ctx, o, p, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o object, opts ...client.DeleteOption) error {
			w.writes++
			return c.Delete(ctx, o, opts...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			w.writes++
			return c.Apply(ctx, o, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o object,
			opts ...client.SubResourceUpdateOption,
		) error {
			w.writes++
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o object, p client.Patch,
			opts ...client.SubResourcePatchOption,
		) error {
			w.writes++
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}
}

// kubelet runs the pods, and etcd in those that have a permit, except in those that miss it.
func (w *idleWorld) kubelet(t *testing.T, missing ...string) {
	t.Helper()
	pods := &corev1.PodList{}
	must(t, w.api.List(t.Context(), pods))
	for i := range pods.Items {
		pod := &pods.Items[i]
		pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, w.address(pod.Name)
		must(t, w.api.Status().Update(t.Context(), pod))
		text := pod.Annotations[member.PermitAnnotation]
		if text == "" || w.servers[pod.Name] != nil || slices.Contains(missing, pod.Name) {
			continue
		}
		permit, err := member.ParsePermit(text)
		must(t, err)
		w.servers[pod.Name] = startStill(t, pod, permit, &w.auth, w.security(t, pod)...)
	}
}

// address is where the server of that pod is, also after the pod was created again.
func (w *idleWorld) address(pod string) string {
	if w.addresses[pod] == "" {
		w.addresses[pod] = controllertest.Loopback(len(w.addresses))
	}
	return w.addresses[pod]
}

func (w *idleWorld) healthy(t *testing.T, name types.NamespacedName) {
	t.Helper()
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), name, c))
	if len(c.Status.Members.Ready) != 3 || c.Status.Phase != v1beta2.ClusterPhaseRunning {
		t.Errorf("it is quiet, and not healthy: %+v", c.Status)
	}
}
