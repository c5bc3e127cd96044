package stories

import (
	"context"
	"regexp"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

const (
	// timersPace is how many times as quick the operator is with the day after which it advises: it takes a quarter of an hour. Much more is in vain:
	// etcd observes four probes of each way a minute, whatever the operator's pace.
	timersPace = 100
	// advisedWithin is how long it takes at most until each hour of a day is known, each of which may be a quarter longer, with time to settle.
	advisedWithin = anomaly.Day/timersPace*5/4 + 3*time.Minute
	// farTrip is how long a round trip over the slow link takes.
	farTrip = 2 * alertLatency
)

// TestTimersAdvised has a member be far from the others for a day: longer times are advised, by the round trips that etcd has measured, nothing is
// done, and who follows the advice is given no more. A cluster that is as busy as a client can make it, on nodes that are near each other, is
// advised nothing. No other story runs meanwhile, because the operator looks more often than usual, and a node is far from all others.
func TestTimersAdvised(t *testing.T) {
	ready(t)
	quickened(t, timersPace)
	node := farNode(t)
	editions(t, func(t *testing.T, etcd edition) { timersAdvised(t, etcd, node) })
}

func timersAdvised(t *testing.T, etcd edition, node string) {
	near, far := etcd.begin(t, "timers-near", awayFrom(node, etcd.named("timers-near"))), etcd.begin(t, "timers-far", onVolumes(3))
	near.settled()
	far.settled()
	if pods := far.memberPods(); !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Spec.NodeName == node }) {
		t.Fatalf("no member is on %s, which is far from the others", node)
	}
	near.client("--interval", "2ms")
	far.client()
	before, nearBefore, began := far.starts(), near.starts(), time.Now()
	said := ""
	must(t, harness.Await(t.Context(), "longer times are advised", advisedWithin, func(ctx context.Context) (_ string, held bool) {
		said, held = far.heldFor(ctx, "timers", v1beta2.ReasonTimersTooShort, "spec.etcd.heartbeatInterval")
		return said, held
	}))
	t.Logf("advised after %s", time.Since(began).Round(time.Second))
	far.toldOnce(v1beta2.ReasonTimersTooShort)
	if after := far.starts(); after != before {
		t.Errorf("the pods were %s, and are %s", before, after)
	}
	far.report("a client of the members of which one is far saw")

	near.never("longer times are advised where all are near", 2*time.Hour/timersPace, func(ctx context.Context) (bool, error) { // its day began a little earlier
		object, err := near.Cluster.Get(ctx)
		return err == nil && held(object, "timers", v1beta2.ReasonTimersTooShort, ""), err
	})
	near.unsaid(v1beta2.ReasonTimersTooShort)
	if c := near.anomaly(); c.Reason != v1beta2.ReasonAsUsual && c.Reason != v1beta2.ReasonDeviating {
		t.Errorf("its members are not known for a day: %s, %s", c.Reason, c.Message)
	}
	if after := near.starts(); after != nearBefore {
		t.Errorf("the pods were %s, and are %s", nearBefore, after)
	}
	near.report("a client of members that are near each other saw")
	far.follows(said)
}

// farNode is a node without the operator, which is far from all others until the test ends.
func farNode(t *testing.T) string {
	t.Helper()
	pods, err := operators(t.Context())
	must(t, err)
	all := nodes.Nodes()
	i := slices.IndexFunc(all, func(node string) bool {
		return !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Spec.NodeName == node })
	})
	if i < 0 {
		t.Fatalf("the operator is on each of %v", all)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := nodes.Faults().FastLink(ctx, all[i]); err != nil {
			t.Error(err)
		}
	})
	must(t, nodes.Faults().SlowLink(t.Context(), all[i], alertLatency, 0))
	return all[i]
}

// awayFrom is the cluster of that name, whose members are spread over all nodes but one.
func awayFrom(node, name string) v1beta2.EtcdClusterSpec {
	spec := onVolumes(3)
	spec.Pod.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpNotIn, Values: []string{node},
			}},
		}}},
	}}
	spec.Pod.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: resources.ClusterSelector(name)},
	}}
	return spec
}

// advice is where the message has the times.
var advice = regexp.MustCompile(`spec\.etcd\.heartbeatInterval to (\S+) and spec\.etcd\.electionTimeout to (\S+),`)

// follows sets what was advised, which has to fit the round trips, and wants nothing to be advised any more. Status may not say it now: where the
// machine is busy, an hour of so short a day may lack its samples.
func (s *story) follows(said string) {
	s.t.Helper()
	times := advice.FindStringSubmatch(said)
	if times == nil {
		s.t.Fatalf("it says %s", said)
	}
	heartbeat, err := time.ParseDuration(times[1])
	must(s.t, err)
	election, err := time.ParseDuration(times[2])
	must(s.t, err)
	s.t.Logf("round trips take %s, and advised are a heartbeat interval of %s and an election timeout of %s", farTrip, heartbeat, election)
	if heartbeat < farTrip || heartbeat > 2*farTrip || election != 10*heartbeat {
		s.t.Errorf("that does not fit the round trips")
	}
	must(s.t, s.Edit(s.t.Context(), func(spec *v1beta2.EtcdClusterSpec) {
		spec.Etcd = &v1beta2.EtcdOptions{
			HeartbeatInterval: &metav1.Duration{Duration: heartbeat}, ElectionTimeout: &metav1.Duration{Duration: election},
		}
	}))
	s.settled()
	must(s.t, harness.Await(s.t.Context(), "nothing more is advised", limit, func(ctx context.Context) (string, bool) {
		object, err := s.Cluster.Get(ctx)
		if err != nil {
			return err.Error(), false
		}
		return inJSON(object.Status.Autopilot), !held(object, "timers", v1beta2.ReasonTimersTooShort, "")
	}))
	s.saidOnce(v1beta2.ReasonNoLongerHeld, "autopilot.timers:")
	s.report("the members were updated to longer times")
}
