package reconcile_test

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
	"github.com/etcdpilot/etcd-operator/controllers/internal/reconcile"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

// deed is a pass that changes something, or nothing.
type deed struct{ name, incomplete string }

func (d deed) Mutates() bool { return d.name != "" }

func (d deed) Deed() reconcile.Deed {
	return reconcile.Deed{Action: d.name, Reason: "Testing", Incomplete: d.incomplete}
}

type held time.Duration

func (h held) Left() time.Duration { return time.Duration(h) }

// TestDeedsAreCounted counts each action once, with what has come of it and of the status write.
func TestDeedsAreCounted(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{}, "c", errors.New("written since"))
	for _, c := range []struct {
		name                       string
		pass                       deed
		lease                      time.Duration
		failure, written           error
		done, refused, stale, fail float64
	}{
		{name: "nothing", pass: deed{}, lease: time.Minute},
		{name: "carried out", pass: deed{name: "TestDone"}, lease: time.Minute, done: 1},
		{name: "in part", pass: deed{"TestRefused", metrics.OutcomeRefused}, lease: time.Minute, refused: 1},
		{name: "an error", pass: deed{name: "TestFailed"}, lease: time.Minute, failure: errors.New("broken"), fail: 1},
		{name: "out of date", pass: deed{name: "TestStale"}, lease: time.Minute, failure: conflict, stale: 1},
		{name: "not recorded", pass: deed{name: "TestUnrecorded"}, lease: time.Minute, written: conflict, stale: 1},
		{name: "another process may act", pass: deed{name: "TestNoLease"}, stale: 1},
	} {
		fence := reconcile.Fence{Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)), Begun: time.Unix(0, 0), Lease: held(c.lease)}
		tried, err := fence.Act(t.Context(), c.pass, func(context.Context) error { return c.failure })
		_, _ = reconcile.Finish(t.Context(), reconcile.Ending{
			WriteStatus:  func(context.Context, error) error { return c.written },
			RecordEvents: func(context.Context, error) {},
			Again:        func() ctrl.Result { return ctrl.Result{} },
			Deed:         tried,
		}, err)
		for outcome, want := range map[string]float64{"done": c.done, "refused": c.refused, "stale": c.stale, "failed": c.fail} {
			labels := map[string]string{"action": c.pass.name, "reason": "Testing", "outcome": outcome}
			if got := controllertest.Sample(t, "etcd_operator_actions_total", labels); got != want {
				t.Errorf("%s: %v are counted as %s, want %v", c.name, got, outcome, want)
			}
		}
		timed := c.done + c.refused + c.stale + c.fail
		if got := controllertest.Sample(t, "etcd_operator_action_duration_seconds", map[string]string{"action": c.pass.name}); got != timed {
			t.Errorf("%s: %v durations", c.name, got)
		}
	}
}
