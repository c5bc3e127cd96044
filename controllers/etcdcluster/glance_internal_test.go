package etcdcluster

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestGlances has a cluster be reconciled if a glance finds something, by the glance that was set last and by no other.
func TestGlances(t *testing.T) {
	queue := workqueue.NewTypedRateLimitingQueue(reconcile.RateLimiter())
	t.Cleanup(queue.ShutDown)
	g, cluster := &glances{}, types.NamespacedName{Namespace: "ns", Name: "c"}
	if err := g.start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	asked, finds := make(chan string), make(chan bool)
	look := func(title string) func() bool {
		return func() bool { asked <- title; return <-finds }
	}
	never := func() bool { t.Error("a glance that is over is taken"); return true }

	g.set(cluster, time.Hour, never)
	g.set(cluster, time.Millisecond, look("calm"))
	if got := <-asked; got != "calm" {
		t.Fatalf("it takes the glance %q", got)
	}
	finds <- false
	g.set(cluster, time.Millisecond, look("alarm"))
	<-asked
	finds <- true
	request, _ := queue.Get()
	if request != (ctrl.Request{NamespacedName: cluster}) {
		t.Errorf("%v is reconciled", request)
	}
	if queue.Done(request); queue.Len() > 0 {
		t.Error("a cluster in which nothing was found is reconciled, too")
	}
	g.set(cluster, time.Hour, never)
	if g.forget(cluster); len(g.due) > 0 {
		t.Errorf("it remembers %v", g.due)
	}
}

// TestGlanceAtRest glances at clusters that are looked at rarely, and at no others.
func TestGlanceAtRest(t *testing.T) {
	r := &Reconciler{}
	p := &pass{cluster: &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}}
	p.observed.Etcd.Contact = plan.ContactQuorum
	glances := func(next time.Duration) bool {
		r.glance(p, next)
		return len(r.glances.due) > 0
	}
	if !glances(reconcile.Heartbeat) {
		t.Error("it does not glance at one at rest")
	}
	if glances(quotaInterval) {
		t.Error("it glances at one that is looked at often")
	}
	if p.observed.Etcd.Contact = plan.ContactMinority; glances(reconcile.Heartbeat) {
		t.Error("it glances at one without a quorum")
	}
	r.glances.forget(types.NamespacedName{Namespace: "ns", Name: "c"})
}
