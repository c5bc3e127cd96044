package controllers_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/internal/plan/claim"
	"github.com/etcdpilot/etcd-operator/internal/testenv"
)

const (
	// glance is the time between two looks at an object that is another operator's.
	glance = 15 * time.Second
	// former and present are the namespaces of two operators.
	former, present = "rival-a", "rival-b"
)

// TestTwoOperators has several operators reconcile one object of each kind.
func TestTwoOperators(t *testing.T) {
	config := testenv.Start(t)
	admin := testenv.Client(t, config)
	controllertest.InstallRoles(t, admin)
	for name, test := range map[string]func(*testing.T, *rivals){
		"left-alone":   leftAlone,
		"gone":         operatorGone,
		"race":         firstClaims,
		"forbidden":    leaseForbidden,
		"no-lease":     withoutLease,
		"unreadable":   leaseUnreadable,
		"old-schema":   olderDefinition,
		"looks-seldom": looksSeldom,
		"squatted":     leaseSquatted,
		"made-again":   leaseMadeAgain,
		"other-name":   leaseOfAnotherName,
	} {
		for kind, one := range ofKinds() {
			t.Run(name+"/"+kind, func(t *testing.T) {
				namespace := strings.ToLower("two-" + name + "-" + kind)
				r := &rivals{admin, config, clocktesting.NewFakePassiveClock(time.Now()), namespace, one, 0}
				r.create(t)
				test(t, r)
			})
		}
	}
	t.Run("stale cache", func(t *testing.T) {
		r := &rivals{admin, config, clocktesting.NewFakePassiveClock(time.Now()), "two-stale-cache", ofKinds()["EtcdCluster"], 0}
		r.create(t)
		staleClaim(t, r)
	})
}

// leftAlone wants an operator to write nothing where another one acts, however long, and to say so once an hour.
func leftAlone(t *testing.T, r *rivals) {
	a, b := r.plain(t, former), r.plain(t, present)
	r.settle(t, a)
	r.claimed(t, a.Operator)
	before := r.all(t)
	if len(before) == r.given && !r.written(t) {
		t.Fatalf("the first one has written nothing but %v", before)
	}
	for range 20 {
		r.renews(t, a.Operator)
		result, err := r.pass(t, b)
		controllertest.Must(t, err)
		if result.RequeueAfter < glance || result.RequeueAfter > time.Minute {
			t.Fatalf("the next look is in %s", result.RequeueAfter)
		}
		r.later(glance)
	}
	if now := r.all(t); !maps.Equal(now, before) {
		t.Errorf("there was %v, and there is %v", before, now)
	}
	recorded := b.recordedEvents()
	if len(recorded) != 1 || !strings.HasPrefix(recorded[0], "Warning OperatedByAnother the operator that has the Lease "+a.String()) {
		t.Fatalf("it said %q", recorded)
	}
	if got := r.leftToOthers(t); got != 1 {
		t.Errorf("the metric is %v", got)
	}
	r.later(time.Hour - 20*glance)
	r.renews(t, a.Operator)
	_, err := r.pass(t, b)
	controllertest.Must(t, err)
	if recorded = b.recordedEvents(); len(recorded) != 0 {
		t.Errorf("within the hour it said %q", recorded)
	}
	r.later(2 * glance)
	r.renews(t, a.Operator)
	_, err = r.pass(t, b)
	controllertest.Must(t, err)
	if recorded = b.recordedEvents(); len(recorded) != 1 {
		t.Errorf("after the hour it said %q", recorded)
	}
	r.remove(t)
	_, err = r.pass(t, b)
	controllertest.Must(t, err)
	if got := r.leftToOthers(t); got != 0 {
		t.Errorf("it is gone, and the metric is %v", got)
	}
}

func (r *rivals) leftToOthers(t *testing.T) float64 {
	t.Helper()
	return controllertest.Metrics(t, r.namespace)["etcd_operator_operated_by_another"]
}

// remove deletes the object, whatever keeps it.
func (r *rivals) remove(t *testing.T) {
	t.Helper()
	o := r.read(t)
	o.SetFinalizers(nil)
	controllertest.Must(t, r.Update(t.Context(), o))
	controllertest.Must(t, client.IgnoreNotFound(r.Delete(t.Context(), o)))
}

// operatorGone wants an operator to be followed a minute after its Lease was last seen to be renewed, in a pass of its own, and
// to find itself followed when it comes back.
func operatorGone(t *testing.T, r *rivals) {
	for name, leaves := range map[string]func(*testing.T, claim.Operator){
		"not renewed": func(*testing.T, claim.Operator) {},
		"released": func(t *testing.T, who claim.Operator) {
			r.lease(t, who, func(s *coordinationv1.LeaseSpec) {
				s.HolderIdentity, s.RenewTime = new(""), new(metav1.NewMicroTime(r.clock.Now()))
			})
		},
		"deleted": r.endsLease,
	} {
		t.Run(name, func(t *testing.T) {
			r.remove(t)
			r.create(t)
			a, b := r.plain(t, former), r.plain(t, present)
			r.settle(t, a)
			r.renews(t, a.Operator)
			r.passes(t, b)
			r.later(glance)
			r.renews(t, a.Operator)
			r.passes(t, b)
			leaves(t, a.Operator)
			before := r.all(t)
			for range 3 {
				r.later(glance)
				r.passes(t, b)
			}
			if now := r.all(t); !maps.Equal(now, before) {
				t.Fatalf("it did not wait: there was %v, and there is %v", before, now)
			}
			r.later(glance)
			was := r.read(t)
			r.passes(t, b)
			r.claimed(t, b.Operator)
			r.onlyClaimed(t, before, was)
			if recorded := b.recordedEvents(); len(recorded) != 2 || !strings.HasPrefix(recorded[1], "Normal TookOver Lease "+a.String()) {
				t.Errorf("it said %q", recorded)
			}
			r.settle(t, b)
			r.renews(t, a.Operator)
			after := r.all(t)
			for range 6 {
				r.later(glance)
				r.renews(t, b.Operator)
				r.passes(t, a)
			}
			if now := r.all(t); !maps.Equal(now, after) {
				t.Errorf("it came back: there was %v, and there is %v", after, now)
			}
		})
	}
}

func (r *rivals) passes(t *testing.T, o *rival) {
	t.Helper()
	_, err := r.pass(t, o)
	controllertest.Must(t, err)
}

// onlyClaimed wants the claim to be all that was written.
func (r *rivals) onlyClaimed(t *testing.T, before map[string]string, was client.Object) {
	t.Helper()
	now, after := r.read(t), r.all(t)
	for what, version := range after {
		if version == now.GetResourceVersion() {
			continue
		}
		if version != before[what] {
			t.Errorf("%s was written with the claim", what)
		}
	}
	if len(after) != len(before) || now.GetGeneration() != was.GetGeneration() || len(now.GetFinalizers()) != len(was.GetFinalizers()) {
		t.Errorf("there was %v, and there is %v", before, after)
	}
}

// firstClaims has operators claim an object at the same time: first one in the middle of the other's pass, then many at once.
func firstClaims(t *testing.T, r *rivals) {
	own, b := r.own(t), r.plain(t, present)
	var quicker sync.Once
	between := interceptor.NewClient(own, interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object,
			opts ...client.SubResourceUpdateOption,
		) error {
			quicker.Do(func() { r.passes(t, b) })
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
	})
	a := r.operator(t, former, between, own)
	r.passes(t, a)
	r.claimed(t, b.Operator)
	before := r.all(t)
	r.settle(t, a)
	if now := r.all(t); !maps.Equal(now, before) || len(now) != r.given {
		t.Errorf("there was %v, and there is %v", before, now)
	}
	r.remove(t)
	r.create(t)
	r.atOnce(t)
}

// atOnce wants one of many to claim the object, and no one to do anything else.
func (r *rivals) atOnce(t *testing.T) {
	t.Helper()
	var all sync.WaitGroup
	won := make(chan time.Duration, 8)
	for i := range cap(won) {
		o := r.plain(t, former+"-"+string(rune('a'+i)))
		all.Go(func() {
			result, err := r.pass(t, o)
			if err != nil {
				t.Error(err)
			}
			won <- result.RequeueAfter
		})
	}
	all.Wait()
	close(won)
	winners := 0
	for next := range won {
		if next < 10*time.Millisecond { // it goes on at once
			winners++
		}
	}
	if now := r.all(t); winners != 1 || len(now) != r.given {
		t.Errorf("%d operators have claimed it, and there is %v", winners, now)
	}
}
