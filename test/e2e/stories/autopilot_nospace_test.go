package stories

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// resumesWithin is how long etcd may take no writes once there is history to give up.
const resumesWithin = time.Minute

// TestNoSpace overwrites keys until a small quota is reached, and leaves the rest to the operator: writes are taken again, and none that was
// acknowledged is lost.
func TestNoSpace(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.5.35", "3.6.16", "3.7.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := begin(t, "nospace-"+strings.ReplaceAll(version, ".", "-"), smallQuota(version))
			s.settled()
			s.client()
			s.ages(24)
			began := s.exhausts()
			took := s.writesAgain(began)
			s.measures("NOSPACE, until a write is taken again", fmt.Sprintf("%.1f s", took.Seconds()))
			s.says(v1beta2.ConditionAvailable, v1beta2.ReasonHasQuorum)
			s.healthy("there is room")
			s.report("a client saw")
			s.toldOnce(v1beta2.ReasonAlarmDisarmed)
		})
	}
}

// TestNoSpaceLeft is where the operator must not act: keys that nobody has overwritten, and a member that does not answer.
func TestNoSpaceLeft(t *testing.T) {
	t.Parallel()
	t.Run("live keys", func(t *testing.T) {
		t.Parallel()
		editions(t, fullOfLiveKeys)
	})
	t.Run("a frozen voter", func(t *testing.T) {
		t.Parallel()
		editions(t, fullWithFrozenVoter)
	})
}

func fullOfLiveKeys(t *testing.T, etcd edition) {
	s := etcd.begin(t, "live-keys", smallQuota(string(etcd)))
	s.settled()
	s.client()
	s.fillsUntilHeld()
	s.says(v1beta2.ConditionAvailable, v1beta2.ReasonNoSpace)
	acts := s.acts()
	s.never("an act of Auto Pilot that makes no room", quietFor, func(context.Context) (bool, error) { return s.acts() > acts, nil })
	s.report("a client that may only read in the end saw")
}

func fullWithFrozenVoter(t *testing.T, etcd edition) {
	spec := smallQuota(string(etcd))
	spec.Autopilot = &v1beta2.AutopilotSpec{Defragment: &v1beta2.AutopilotFeature{Mode: v1beta2.AutopilotOff}}
	s := etcd.begin(t, "frozen-voter", spec)
	s.settled()
	s.ages(16)
	frozen := s.Namespace + "/" + s.Name + "-2/etcd"
	thaw := func() { _ = nodes.Faults().ThawContainer(context.Background(), frozen) }
	t.Cleanup(thaw)
	s.client()
	must(t, nodes.Faults().FreezeContainer(t.Context(), frozen))
	s.exhausts()
	s.look("full")
	s.isHeld("noSpace", v1beta2.ReasonDefragmentationHeld, "healthy")
	s.never("room is made although a voter is frozen", quietFor, func(context.Context) (bool, error) { return s.acts() > 0, nil })
	began := time.Now()
	thaw()
	s.writesAgain(began)
	s.report("a client saw")
}

// quietFor is for how long nothing is done where nothing helps.
const quietFor = 90 * time.Second

// historyKept is how old history is that the operator may give up, and the time to the look that shows it.
const historyKept = 5*time.Minute + 80*time.Second

// smallQuota is a cluster whose databases are full soon.
func smallQuota(version string) v1beta2.EtcdClusterSpec {
	quota, spec := resource.MustParse("32Mi"), onVolumes(3)
	spec.Version, spec.Etcd = version, &v1beta2.EtcdOptions{QuotaBackendBytes: &quota}
	return spec
}

// ages overwrites so many MiB, and waits until that is history that the operator may give up.
func (s *story) ages(mebi int) {
	s.t.Helper()
	s.overwrites(mebi)
	s.look("old")
	time.Sleep(historyKept)
}

// overwrites writes so many MiB, under a few keys.
func (s *story) overwrites(mebi int) {
	s.t.Helper()
	for i := range mebi {
		must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
			_, err := etcd.Put(ctx, fmt.Sprintf("over/%d", i%4), strings.Repeat("x", 1<<20))
			return err
		}))
	}
}

// exhausts overwrites keys until etcd takes no writes, and returns since when it does not.
func (s *story) exhausts() time.Time {
	s.t.Helper()
	const most = 100
	full := false
	for i := 0; i < most && !full; i++ {
		must(s.t, s.Ask(s.t.Context(), func(ctx context.Context, etcd *clientv3.Client) error {
			_, err := etcd.Put(ctx, fmt.Sprintf("over/%d", i%4), strings.Repeat("x", 1<<20))
			if full = errors.Is(err, rpctypes.ErrNoSpace); full {
				return nil
			}
			return err
		}))
	}
	if !full {
		s.t.Fatalf("there is room for %d MiB", most)
	}
	return time.Now()
}

// fillsUntilHeld writes keys that stay until Auto Pilot knows of no more room to make: while the first were written, pages were freed.
func (s *story) fillsUntilHeld() {
	s.t.Helper()
	s.fillsUntil("what is in use fills the quota", func(ctx context.Context) (string, bool) {
		return s.heldFor(ctx, "noSpace", v1beta2.ReasonSpaceExhausted, "delete keys")
	})
}

// fillsUntil writes keys that stay until etcd takes no more and something else is so. What etcd refuses may be in its log all the same, of which
// it keeps thousands of entries in memory: so a small key finds out whether it goes on. It returns since when etcd has taken none.
func (s *story) fillsUntil(what string, holds func(context.Context) (string, bool)) (refused time.Time) {
	s.t.Helper()
	written, large := 0, true
	must(s.t, harness.Await(s.t.Context(), what, 2*historyKept, func(ctx context.Context) (string, bool) {
		size := 1
		if large {
			size = 1 << 20
		}
		err := s.Ask(ctx, func(ctx context.Context, etcd *clientv3.Client) error {
			_, err := etcd.Put(ctx, fmt.Sprintf("big/%d", written), strings.Repeat("x", size))
			return err
		})
		if err == nil {
			if large {
				written++
			}
			large, refused = true, time.Time{}
			return fmt.Sprintf("%d MiB are written", written), false
		}
		if large = false; refused.IsZero() {
			refused = time.Now()
		}
		text, is := holds(ctx)
		return fmt.Sprintf("%d MiB are written, the next one is answered %v; %s", written, err, text), is
	}))
	s.t.Logf("%d MiB are in use", written)
	return refused
}

// acts is how many events tell of room that is made.
func (s *story) acts() int {
	s.t.Helper()
	return len(s.said(v1beta2.ReasonMakingRoom)) + len(s.said(v1beta2.ReasonDefragmenting))
}

// writesAgain waits until a write is taken, returns how long after that moment it was, and wants that to be within a minute.
func (s *story) writesAgain(since time.Time) time.Duration {
	s.t.Helper()
	took := s.writesTaken(since)
	if took > resumesWithin {
		s.t.Errorf("no writes were taken for %s", took)
	}
	return took
}

// writesTaken waits until a write is taken, and returns how long after that moment it was.
func (s *story) writesTaken(since time.Time) time.Duration {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "a write is taken", limit, func(ctx context.Context) (string, bool) {
		err := s.Ask(ctx, func(ctx context.Context, etcd *clientv3.Client) error {
			_, err := etcd.Put(ctx, "after", "all")
			return err
		})
		return fmt.Sprint(err), err == nil
	}))
	took := time.Since(since)
	s.t.Logf("writes are taken after %.1f s", took.Seconds())
	return took
}

// isHeld waits until something of Auto Pilot is held for that reason, with a message that says so.
func (s *story) isHeld(feature, reason, says string) {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), feature+" is held for "+reason, limit, func(ctx context.Context) (string, bool) {
		return s.heldFor(ctx, feature, reason, says)
	}))
}

// heldFor reports whether something of Auto Pilot is held for that reason, with a message that says so, and what is held.
func (s *story) heldFor(ctx context.Context, feature, reason, says string) (string, bool) {
	object, err := s.Cluster.Get(ctx)
	if err != nil {
		return err.Error(), false
	}
	if object.Status.Autopilot == nil {
		return "nothing is held", false
	}
	return inJSON(object.Status.Autopilot), held(object, feature, reason, says)
}

// held reports whether status says that something of a feature is held, for that reason and in these words.
func held(c *v1beta2.EtcdCluster, feature, reason, says string) bool {
	return c.Status.Autopilot != nil && slices.ContainsFunc(c.Status.Autopilot.Held, func(h v1beta2.HeldAct) bool {
		return h.Feature == feature && h.Reason == reason && strings.Contains(h.Message, says)
	})
}
