package etcdcluster

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestRefusedAfterTrial lets an update pass its dry run and refuses it when it is carried out: it is not tried again for longer than other
// writes, because each try costs clients their connections.
func TestRefusedAfterTrial(t *testing.T) {
	set := plan.SetImage{Name: "c-0", UID: "pod", Version: "3.6.99"}
	r, p := onePass(t, set, interceptor.Funcs{
		Patch: func(_ context.Context, _ client.WithWatch, _ client.Object, _ client.Patch, options ...client.PatchOption) error {
			if o := (client.PatchOptions{}); len(o.ApplyOptions(options).DryRun) == 0 {
				return forbidden("policy")
			}
			return nil
		},
	})
	must(t, r.execute(t.Context(), p))
	if got := r.retries(p); got[plan.TargetOfUpdate(set)] != afterTrial {
		t.Errorf("it is tried again in %v", got)
	}
}

// TestRefusedNewPod refuses the pod from the present spec while there is another spec to create it from. Once that pod exists, it is not
// recreated at once, only to be refused again; and if the pod was accepted after all, nothing is left of that.
func TestRefusedNewPod(t *testing.T) {
	again := plan.NewPod{Name: "c-1", Incarnation: 1, Version: "3.6.16", Persistent: true, Permit: &member.Permit{Mode: member.ModeResume}}
	recreate := plan.TargetOfUpdate(plan.Recreate{Name: "c-1"})
	refuses := true
	r, p := onePass(t, plan.CreatePods{Pods: []plan.NewPod{again}}, interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			if refuses {
				return forbidden("policy")
			}
			return nil
		},
	})
	must(t, r.execute(t.Context(), p))
	if got := r.retries(p); len(got) != 1 || got[plan.TargetOf(plan.CreatePod{NewPod: again})] != firstRetry {
		t.Errorf("without another spec it is tried again in %v", got)
	}
	p.previousSpec = p.cluster.DeepCopy()
	must(t, r.execute(t.Context(), p))
	if got := r.retries(p); got[recreate] != afterTrial {
		t.Errorf("it is recreated in %v", got)
	}
	refuses = false
	must(t, r.execute(t.Context(), p))
	if got := r.retries(p); len(got) != 0 {
		t.Errorf("after it was accepted there is %v", got)
	}
}

// TestToldInPart refuses two of three pods: the event names the third, and the metric counts two.
func TestToldInPart(t *testing.T) {
	pods := plan.CreatePods{Pods: []plan.NewPod{{Name: "c-1"}, {Name: "c-2"}, {Name: "c-3"}}}
	r, p := onePass(t, pods, interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			if o.GetName() != "c-2" {
				return forbidden("exceeded quota: q")
			}
			return nil
		},
	})
	told := events.NewFakeRecorder(10)
	refused := func() float64 {
		return controllertest.Sample(t, "etcd_operator_writes_refused_total", map[string]string{"action": "CreatePods"})
	}
	r.Recorder, p.before = told, &v1beta2.EtcdClusterStatus{}
	before := refused()
	must(t, r.execute(t.Context(), p))
	r.recordEvents(t.Context(), p, nil)
	close(told.Events)
	var all []string
	for event := range told.Events {
		all = append(all, event)
	}
	if len(all) != 3 || !strings.HasSuffix(all[2], "creating pods c-2") {
		t.Errorf("told are %q", all)
	}
	if n := refused() - before; n != 2 {
		t.Errorf("%v refusals are counted", n)
	}
}

// retries says when each refused write is tried again.
func (r *Reconciler) retries(p *pass) map[plan.Target]time.Duration {
	all := map[plan.Target]time.Duration{}
	for _, refusal := range r.refusals.of(p.key(), p.cluster.Generation, noon) {
		all[refusal.Target] = refusal.RetryAt.Sub(noon)
	}
	return all
}
