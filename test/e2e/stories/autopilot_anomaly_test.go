package stories

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	// pace is how many times as quick the operator is with what takes a day: it asks members for their metrics every three seconds, knows one
	// after a quarter of an hour, and tells of what lasts for nine seconds.
	pace = 100
	// aDay is how long it takes until members are known, with time for them to settle, and stillFor how long a quiet hour lasts.
	aDay     = anomaly.Day/pace + 3*time.Minute
	stillFor = time.Minute
)

// TestAnomaly tells of what deviates from the last day, and of nothing else. No other story runs meanwhile, because the operator looks more often
// than usual.
func TestAnomaly(t *testing.T) {
	ready(t)
	quickened(t, pace)
	editionDisks(t, "anomaly")
	t.Run("a-slow-disk", func(t *testing.T) {
		t.Parallel()
		editions(t, toldOfDisk)
	})
	t.Run("nothing", func(t *testing.T) {
		t.Parallel()
		editions(t, toldOfNothing)
	})
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		editions(t, func(t *testing.T, etcd edition) { quiet(t, etcd, "idle-day", false, anomaly.Day/pace) })
	})
}

// toldOfDisk makes the disk of one member slow that was quick for a day, as slow as etcd bears: the member is told of while that lasts, and nothing
// is done to it.
func toldOfDisk(t *testing.T, etcd edition) {
	s := etcd.begin(t, "anomaly", onDisks())
	s.client()
	s.says(v1beta2.ConditionAnomaly, v1beta2.ReasonLearning)
	s.isKnown()
	before, slow := s.starts(), s.followerPod()
	s.slow(*slow, alertFlush)
	began := time.Now()
	s.says(v1beta2.ConditionAnomaly, v1beta2.ReasonDeviating)
	t.Logf("told after %s", time.Since(began).Round(time.Second))
	if said := s.anomaly().Message; !strings.Contains(said, slow.Name+": a flush of its log took") {
		t.Errorf("%s is slow, and it says: %s", slow.Name, said)
	}
	s.toldOnce(v1beta2.ReasonDeviating)
	must(t, nodes.Disks().Fast(t.Context(), s.disk(*slow)))
	s.says(v1beta2.ConditionAnomaly, v1beta2.ReasonAsUsual)
	if after := s.starts(); after != before {
		t.Errorf("the pods were %s, and are %s", before, after)
	}
	s.report("a client saw")
}

// toldOfNothing is what deviates and is no anomaly: an hour without clients, and an update of all members.
func toldOfNothing(t *testing.T, etcd edition) {
	s := etcd.begin(t, "no-anomaly", withWindow(onVolumes(3)))
	s.client()
	since := metav1.Now()
	s.isKnown()
	s.silentSince(since)
	s.report("a client saw")
	must(t, s.writer.Stop(t.Context()))
	time.Sleep(stillFor) // it is the time itself that is tested
	s.client()
	must(t, s.Edit(t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
		spec.Etcd = &v1beta2.EtcdOptions{HeartbeatInterval: &metav1.Duration{Duration: 110 * time.Millisecond}}
	}))
	s.settled()
	s.report("the members were updated")
	time.Sleep(stillFor)
	s.says(v1beta2.ConditionAnomaly, v1beta2.ReasonAsUsual)
	s.unsaid(v1beta2.ReasonDeviating)
}

// isKnown waits until all members are known for what is a day to the operator.
func (s *story) isKnown() {
	s.t.Helper()
	must(s.t, harness.Await(s.t.Context(), "all members are known", aDay, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		c := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionAnomaly)
		return harness.Words(object), c != nil && c.Reason == v1beta2.ReasonAsUsual && !strings.Contains(c.Message, "not known")
	}))
}

// anomaly is the condition.
func (s *story) anomaly() metav1.Condition {
	s.t.Helper()
	object, err := s.Cluster.Get(s.t.Context())
	must(s.t, err)
	c := meta.FindStatusCondition(object.Status.Conditions, v1beta2.ConditionAnomaly)
	if c == nil {
		s.t.Fatal("there is no condition Anomaly")
	}
	return *c
}

// onKnownDisks is a cluster on disks of its own that is known for a day, under a client at work.
func (s *alerted) onKnownDisks() {
	quickened(s.t, pace)
	s.withDisks()
	s.clings(s.leader())
	s.isKnown()
}

// slowsKnownDisk makes the disk of a follower slow.
func (s *alerted) slowsKnownDisk() {
	leader := s.leader()
	s.takes("a follower", func(pod corev1.Pod, _ []corev1.Pod) bool { return pod.Name != leader.Name })
	s.healsAtEnd(s.pod.Spec.NodeName)
	must(s.t, nodes.Disks().Slow(s.t.Context(), s.disk(s.pod), alertFlush))
}

// isSilenced has the operator not tell of it.
func (s *alerted) isSilenced() { s.runs(`"mode":"Off"`, "") }
