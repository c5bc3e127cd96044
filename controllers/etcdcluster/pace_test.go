package etcdcluster_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestServerThatChangesNothing has the server of one cluster say that it has removed a member, and list it still, or another
// one: that cluster is left alone for longer and longer, and the only worker serves another one meanwhile.
func TestServerThatChangesNothing(t *testing.T) {
	for title, c := range map[string]struct {
		fleeting bool
		most     uint64
	}{
		"the same one":          {false, 12},
		"another one each time": {true, 110},
	} {
		t.Run(title, func(t *testing.T) {
			w := newIdleWorld(t)
			liar := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: "liar"}}
			other := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: "other"}}
			queue := priorityqueue.New[ctrl.Request](t.Name())
			t.Cleanup(queue.ShutDown)
			w.single(t, liar)
			queue.Add(liar)
			for !w.runs(t, liar) {
				w.work(t, queue)
			}
			server := w.servers["liar-0"]
			server.fleeting.Store(c.fleeting)
			server.stray.Store(99)
			queue.Add(liar)
			begun := time.Now()
			for server.asked.Load() == 0 {
				w.work(t, queue)
			}
			w.single(t, other)
			queue.Add(other)
			passes := map[ctrl.Request]int{}
			for !w.runs(t, other) || server.asked.Load() < 2 {
				passes[w.work(t, queue)]++
				most := c.most + uint64(time.Since(begun)/time.Second) // one a second is allowed, however long it goes on
				if asked := server.asked.Load(); asked > most || uint64(passes[liar]) > most+most/2+2 {
					t.Fatalf("the other cluster has had %d passes, and the liar %d; it was asked %d times to remove a member",
						passes[other], passes[liar], asked)
				}
			}
		})
	}
}

func (w *idleWorld) single(t *testing.T, of ctrl.Request) {
	t.Helper()
	must(t, w.api.Create(t.Context(), &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name},
		Spec:       v1beta2.EtcdClusterSpec{Size: 1},
	}))
}

func (w *idleWorld) runs(t *testing.T, cluster ctrl.Request) bool {
	t.Helper()
	c := &v1beta2.EtcdCluster{}
	must(t, w.api.Get(t.Context(), cluster.NamespacedName, c))
	return len(c.Status.Members.Ready) == 1 && c.Status.Phase == v1beta2.ClusterPhaseRunning
}

// work does what a worker does with the cluster that is next.
func (w *idleWorld) work(t *testing.T, queue priorityqueue.PriorityQueue[ctrl.Request]) ctrl.Request {
	t.Helper()
	request, _ := queue.Get()
	result, err := w.operator.Reconcile(t.Context(), request)
	must(t, err)
	queue.AddWithOpts(priorityqueue.AddOpts{After: result.RequeueAfter, Priority: result.Priority}, request)
	queue.Done(request)
	w.kubelet(t)
	return request
}
