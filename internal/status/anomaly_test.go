package status_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// habitual is a cluster with a quorum and an ID, of whose members that is known.
func habitual(r *anomaly.Report) status.Input {
	in := status.Input{
		Cluster: &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Generation: 2}}, Action: plan.Idle{}, Habits: r,
		OperatorMode: v1beta2.AutopilotOn,
	}
	in.Cluster.Status.ClusterID = "000000000000002a"
	in.Observed.Now = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	in.Observed.Etcd.Contact = plan.ContactQuorum
	in.Observed.Cluster.Autopilot = plan.AutopilotOf(&v1beta2.EtcdClusterSpec{}, v1beta2.AutopilotOn, in.Observed.Now)
	return in
}

func TestAnomaly(t *testing.T) {
	t.Parallel()
	flush := anomaly.MemberDeviation{Member: "c-1", Deviation: anomaly.Deviation{Signal: anomaly.Flush, Value: 0.3, Usual: 0.0021}}
	growth := anomaly.MemberDeviation{Member: "c-2", Deviation: anomaly.Deviation{Signal: anomaly.Growth, Value: 1 << 20, Usual: 0}}
	elections := anomaly.MemberDeviation{Member: "c-2", Deviation: anomaly.Deviation{Signal: anomaly.Elections, Value: 3, Usual: 0}}
	for name, c := range map[string]struct {
		report anomaly.Report
		status metav1.ConditionStatus
		reason string
		says   []string
	}{
		"nothing sampled": {anomaly.Report{Learning: []string{"c-0"}}, metav1.ConditionUnknown, v1beta2.ReasonLearning, []string{"too little"}},
		"learning": {
			anomaly.Report{Learning: []string{"c-0"}, Until: time.Date(2026, 11, 28, 11, 0, 0, 0, time.UTC)},
			metav1.ConditionUnknown, v1beta2.ReasonLearning,
			[]string{"before 2026-11-28T11:00:00Z"},
		},
		"too little":              {anomaly.Report{Learning: []string{"c-0"}}, metav1.ConditionUnknown, v1beta2.ReasonLearning, []string{"too little is known"}},
		"blind":                   {anomaly.Report{Unseen: []string{"c-0"}, Blind: true}, metav1.ConditionUnknown, v1beta2.ReasonNotSampled, []string{"for an hour"}},
		"blind, and one deviated": {anomaly.Report{Unseen: []string{"c-1"}, Blind: true, Deviations: []anomaly.MemberDeviation{flush}}, metav1.ConditionUnknown, v1beta2.ReasonNotSampled, []string{"for an hour"}},
		"one is not sampled":      {anomaly.Report{Known: []string{"c-0"}, Unseen: []string{"c-1"}}, metav1.ConditionFalse, v1beta2.ReasonAsUsual, []string{"c-0: as in the last day; not sampled for an hour: c-1"}},
		"some is scarce": {
			anomaly.Report{Known: []string{"c-0", "c-1"}, Scarce: []anomaly.MemberSignal{{Member: "c-0", Signal: anomaly.Flush}, {Member: "c-1", Signal: anomaly.Flush}}},
			metav1.ConditionFalse, v1beta2.ReasonAsUsual,
			[]string{"all members are as they were in the last day; too seldom to be compared: flushes of the log of c-0, c-1"},
		},
		"as usual":     {anomaly.Report{Known: []string{"c-0"}}, metav1.ConditionFalse, v1beta2.ReasonAsUsual, []string{"all members"}},
		"one is new":   {anomaly.Report{Known: []string{"c-0", "c-2"}, Learning: []string{"c-3"}}, metav1.ConditionFalse, v1beta2.ReasonAsUsual, []string{"c-0, c-2:", "yet: c-3"}},
		"one deviates": {anomaly.Report{Known: []string{"c-1"}, Learning: []string{"c-3"}, Deviations: []anomaly.MemberDeviation{flush}}, metav1.ConditionTrue, v1beta2.ReasonDeviating, []string{"c-1: a flush of its log took 300ms on average, and 2.1ms usually"}},
		"two deviate":  {anomaly.Report{Known: []string{"c-2"}, Deviations: []anomaly.MemberDeviation{growth, elections}}, metav1.ConditionTrue, v1beta2.ReasonDeviating, []string{"by 86400 MiB a day", "; c-2: it saw 3.0 changes of the leader in five minutes"}},
	} {
		s := status.Compute(habitual(&c.report))
		got := meta.FindStatusCondition(s.Conditions, v1beta2.ConditionAnomaly)
		if got == nil || got.Status != c.status || got.Reason != c.reason || got.ObservedGeneration != 2 {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for _, words := range c.says {
			if !strings.Contains(got.Message, words) {
				t.Errorf("%s: no %q in %q", name, words, got.Message)
			}
		}
	}
}

// TestAnomalyStays wants the condition to stay while nothing is known, and to go once nobody is to be told.
func TestAnomalyStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		becomes func(*status.Input)
		stays   bool
	}{
		"no quorum, and nothing sampled": {func(in *status.Input) { in.Observed.Etcd.Contact, in.Habits.Blind = plan.ContactNone, true }, true},
		"no quorum":                      {func(in *status.Input) { in.Observed.Etcd.Contact = plan.ContactNone }, true},
		"off":                            {func(in *status.Input) { in.Observed.Cluster.Autopilot.Anomaly = plan.ModeOff }, false},
		"paused": {func(in *status.Input) {
			in.Observed.Cluster.Autopilot, in.Habits = plan.AutopilotOf(&v1beta2.EtcdClusterSpec{Paused: true}, "", in.Observed.Now), nil
		}, false},
	} {
		in := habitual(&anomaly.Report{Known: []string{"c-0"}})
		in.Cluster.Status = status.Compute(in)
		if c.becomes(&in); (meta.FindStatusCondition(status.Compute(in).Conditions, v1beta2.ConditionAnomaly) != nil) != c.stays {
			t.Errorf("%s: want it to stay: %t", name, c.stays)
		}
	}
}

// TestAnomalyIsNotForgotten: a new process of the operator, and one that cannot see the members any more, say what was told before and since when,
// until they know more.
func TestAnomalyIsNotForgotten(t *testing.T) {
	t.Parallel()
	flush := anomaly.MemberDeviation{Member: "c-1", Deviation: anomaly.Deviation{Signal: anomaly.Flush, Value: 0.3, Usual: 0.0021}}
	deviates, usual := anomaly.Report{Known: []string{"c-1"}, Deviations: []anomaly.MemberDeviation{flush}}, anomaly.Report{Known: []string{"c-1"}}
	for name, unknown := range map[string]anomaly.Report{
		"restart": {Learning: []string{"c-1"}}, "blind": {Unseen: []string{"c-1"}, Deviations: deviates.Deviations, Blind: true},
	} {
		in := habitual(nil)
		told := func(r anomaly.Report) metav1.Condition {
			in.Observed.Now, in.Habits = in.Observed.Now.Add(time.Minute), &r
			in.Cluster.Status = status.Compute(in)
			return *meta.FindStatusCondition(in.Cluster.Status.Conditions, v1beta2.ConditionAnomaly)
		}
		if c := told(unknown); c.Reason == v1beta2.ReasonDeviatedBefore {
			t.Errorf("%s: nothing deviated, and it says %s", name, c.Message)
		}
		told(deviates)
		first := told(unknown)
		if first.Status != metav1.ConditionUnknown || first.Reason != v1beta2.ReasonDeviatedBefore ||
			!strings.Contains(first.Message, "since 2026-11-27T12:02:00Z not as in the day before: c-1: a flush") {
			t.Errorf("%s: %+v", name, first)
		}
		later := unknown
		later.Until = in.Observed.Now.Add(time.Hour)
		if again := told(later); again != first {
			t.Errorf("%s: later %+v", name, again)
		}
		if c := told(usual); c.Reason != v1beta2.ReasonAsUsual {
			t.Errorf("%s: once it is as usual: %+v", name, c)
		}
	}
}

// TestTimers advises longer times where round trips are slow, unless the spec has them or nobody is to be advised.
func TestTimers(t *testing.T) {
	t.Parallel()
	trips, slow := &anomaly.Trips{}, anomaly.Probes{Sum: 55}
	for i := 11; i < len(slow.Took); i++ {
		slow.Took[i] = 200 // from 102 to 205 ms, and 275 ms on average with those that connect first
	}
	for hour := range 25 {
		trips.Note(map[anomaly.Way]anomaly.Probes{{}: slow}, time.Date(2026, 11, 26, hour, 0, 0, 0, time.UTC), anomaly.Every)
	}
	report := &anomaly.Report{Trips: trips}
	in := habitual(report)
	a := status.Compute(in).Autopilot
	if a == nil || len(a.Held) != 1 || a.Held[0].Feature != plan.FeatureTimers || a.Held[0].Reason != v1beta2.ReasonTimersTooShort ||
		!strings.Contains(a.Held[0].Message, "took longer than 102ms: set spec.etcd.heartbeatInterval to 200ms and spec.etcd.electionTimeout to 2s") {
		t.Errorf("held is %+v", a)
	}
	for name, long := range map[string]v1beta2.EtcdClusterSpec{
		"fields": {Etcd: &v1beta2.EtcdOptions{
			HeartbeatInterval: &metav1.Duration{Duration: 300 * time.Millisecond}, ElectionTimeout: &metav1.Duration{Duration: 3 * time.Second},
		}},
		"extraArgs": {Etcd: &v1beta2.EtcdOptions{ExtraArgs: map[string]string{"heartbeat-interval": "300", "election-timeout": "3000"}}},
		"etcdEnv": {Pod: &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{
			{Name: "ETCD_HEARTBEAT_INTERVAL", Value: "300"}, {Name: "ETCD_ELECTION_TIMEOUT", Value: "3000"},
		}}},
	} {
		in.Cluster.Spec = long
		if a := status.Compute(in).Autopilot; a != nil {
			t.Errorf("%s: times that are long enough are advised against: %+v", name, a.Held)
		}
	}
	in.Cluster.Spec = v1beta2.EtcdClusterSpec{}
	if in.Observed.Cluster.Autopilot.Timers = plan.ModeOff; status.Compute(in).Autopilot != nil {
		t.Error("advised although nobody is to be")
	}
}
