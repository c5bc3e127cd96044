package stories

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// TestAutopilotModes has a quota be reached by history that could be given up. With Off nothing is done and nothing is held, but that etcd takes no
// writes is said all the same; with Advise it is said what would be done; with On it is done, and no acknowledged write is lost by any of that.
func TestAutopilotModes(t *testing.T) {
	t.Parallel()
	editions(t, autopilotModes)
}

func autopilotModes(t *testing.T, etcd edition) {
	spec := smallQuota(string(etcd))
	spec.Autopilot = &v1beta2.AutopilotSpec{Mode: v1beta2.AutopilotOff}
	s := etcd.begin(t, "modes", spec)
	s.settled()
	s.client()
	s.ages(24)
	s.exhausts()
	s.look("full")
	s.says(v1beta2.ConditionAvailable, v1beta2.ReasonNoSpace)
	s.says(v1beta2.ConditionDegraded, v1beta2.ReasonNoSpace)
	s.looksOn()
	s.unsaid(v1beta2.ReasonAutopilotAdvises)
	object, err := s.Cluster.Get(t.Context())
	must(t, err)
	if a := object.Status.Autopilot; a != nil && len(a.Held) > 0 {
		t.Errorf("with Off it holds %s", inJSON(a.Held))
	}

	s.looks(func(spec *v1beta2.EtcdClusterSpec) { spec.Autopilot.Mode = v1beta2.AutopilotAdvise })
	s.isHeld("noSpace", v1beta2.ReasonAutopilotAdvises, "Auto Pilot would act, were its mode On")
	s.toldOnce(v1beta2.ReasonAutopilotAdvises)
	s.looksOn()
	s.says(v1beta2.ConditionAvailable, v1beta2.ReasonNoSpace)

	began := time.Now()
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) { spec.Autopilot.Mode = v1beta2.AutopilotOn }))
	s.writesAgain(began)
	s.says(v1beta2.ConditionAvailable, v1beta2.ReasonHasQuorum)
	s.healthy("there is room")
	s.report("a client saw")
	s.toldOnce(v1beta2.ReasonAlarmDisarmed)
	if s.acts() == 0 {
		t.Error("nothing is told of the room that was made")
	}
}

// looksOn has the operator look again, more often than it takes it to act, and wants no room to be made, nor writes to be taken.
func (s *story) looksOn() {
	s.t.Helper()
	for range 3 {
		for _, mode := range []v1beta2.AutopilotMode{v1beta2.AutopilotOff, v1beta2.AutopilotOn} { // of what has nothing to do with room
			s.looks(func(spec *v1beta2.EtcdClusterSpec) { spec.Autopilot.Anomaly = &v1beta2.AutopilotFeature{Mode: mode} })
		}
	}
	if n := s.acts(); n > 0 {
		s.t.Errorf("%d events tell of room that is made", n)
	}
	var answer error
	must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
		if _, answer = etcd.Put(ctx, "no", "room"); errors.Is(answer, rpctypes.ErrNoSpace) {
			return nil
		}
		return answer
	}))
	if answer == nil {
		s.t.Error("a write is taken, and no room was to be made")
	}
}

// looks edits the spec, and waits until the operator has looked at the cluster since.
func (s *story) looks(edit func(*v1beta2.EtcdClusterSpec)) {
	s.t.Helper()
	must(s.t, s.Edit(s.t.Context(), edit))
	must(s.t, harness.Await(s.t.Context(), "the operator has looked at the edit", limit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		seen := object.Status.ObservedGeneration
		return fmt.Sprintf("it has seen generation %d of %d", seen, object.Generation), seen == object.Generation
	}))
}
