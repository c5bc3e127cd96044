package status

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/anomaly"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
)

// setAnomaly says whether a member deviates from what it was like in the last day. Without a quorum nothing new is known, so it stays until it is
// too old to be believed.
func setAnomaly(s *v1beta2.EtcdClusterStatus, in Input) {
	told := in.Observed.Cluster.Autopilot.Anomaly != plan.ModeOff && hasClusterID(s) && !hibernates(s)
	if !told {
		meta.RemoveStatusCondition(&s.Conditions, v1beta2.ConditionAnomaly)
		return
	}
	if in.Habits == nil || in.Observed.Etcd.Contact != plan.ContactQuorum && !in.Habits.Blind {
		return
	}
	c := anomalyOf(*in.Habits)
	if before := meta.FindStatusCondition(s.Conditions, v1beta2.ConditionAnomaly); before != nil && c.Status == metav1.ConditionUnknown {
		c = notForgotten(*before, c)
	}
	c.Type, c.ObservedGeneration, c.LastTransitionTime = v1beta2.ConditionAnomaly, in.Cluster.Generation, now(in.Observed)
	setCondition(&s.Conditions, c)
}

// anomalyOf has no number that changes while nothing else does, so that status is not written with every sample.
func anomalyOf(r anomaly.Report) metav1.Condition {
	switch {
	case r.Blind:
		return metav1.Condition{
			Status: metav1.ConditionUnknown, Reason: v1beta2.ReasonNotSampled,
			Message: "for an hour no member could be compared with what it was like in the day before",
		}
	case len(r.Deviations) > 0:
		var all []string
		for _, d := range r.Deviations {
			all = append(all, d.Member+": "+deviation(d.Deviation))
		}
		return metav1.Condition{
			Status: metav1.ConditionTrue, Reason: v1beta2.ReasonDeviating,
			Message: "not as in the day before: " + strings.Join(all, "; ") + unseen(r),
		}
	case len(r.Known) == 0:
		c := metav1.Condition{
			Status: metav1.ConditionUnknown, Reason: v1beta2.ReasonLearning, Message: "too little is known of the last day of every member",
		}
		if !r.Until.IsZero() {
			c.Message = "no member is known for a day before " + r.Until.UTC().Format(time.RFC3339)
		}
		return c
	}
	c := metav1.Condition{
		Status: metav1.ConditionFalse, Reason: v1beta2.ReasonAsUsual, Message: "all members are as they were in the last day",
	}
	if len(r.Learning)+len(r.Unseen) > 0 {
		c.Message = strings.Join(r.Known, ", ") + ": as in the last day"
	}
	c.Message += unknown(r)
	return c
}

// unknown is of whom nothing, or not all, can be said.
func unknown(r anomaly.Report) (text string) {
	if len(r.Learning) > 0 {
		text += "; not known for a day yet: " + strings.Join(r.Learning, ", ")
	}
	text += unseen(r)
	for s := range anomaly.Signals {
		var of []string
		for _, scarce := range r.Scarce {
			if scarce.Signal == s {
				of = append(of, scarce.Member)
			}
		}
		if len(of) > 0 {
			text += "; too seldom to be compared: " + nouns[s] + " of " + strings.Join(of, ", ")
		}
	}
	return text
}

// unseen is of whom nobody knows how they are now.
func unseen(r anomaly.Report) string {
	if len(r.Unseen) == 0 {
		return ""
	}
	return "; not sampled for an hour: " + strings.Join(r.Unseen, ", ")
}

// nouns name the signals.
var nouns = [anomaly.Signals]string{
	anomaly.Flush: "flushes of the log", anomaly.RoundTrip: "probes of other members", anomaly.Apply: "requests",
	anomaly.Growth: "growth of the database", anomaly.Elections: "changes of the leader",
}

// notForgotten is what is not known now, after that condition: one that told of an anomaly says so until more is known, across restarts of the
// operator, too.
func notForgotten(before, now metav1.Condition) metav1.Condition {
	switch {
	case before.Reason == v1beta2.ReasonDeviatedBefore:
		now.Reason, now.Message = before.Reason, before.Message
	case before.Status == metav1.ConditionTrue:
		now.Reason = v1beta2.ReasonDeviatedBefore
		now.Message = "whether this goes on is not known (" + now.Message + "): since " +
			before.LastTransitionTime.UTC().Format(time.RFC3339) + " " + before.Message
	}
	return now
}

// deviation is what is unusual, in words.
func deviation(d anomaly.Deviation) string {
	const mebi, day = 1 << 20, 24 * time.Hour
	seconds := func(v float64) time.Duration {
		took := time.Duration(v * float64(time.Second))
		if took < time.Millisecond {
			return took.Round(10 * time.Microsecond)
		}
		return took.Round(100 * time.Microsecond)
	}
	took := func(what string) string {
		return fmt.Sprintf("%s took %s on average, and %s usually", what, seconds(d.Value), seconds(d.Usual))
	}
	switch d.Signal {
	case anomaly.Flush:
		return took("a flush of its log")
	case anomaly.RoundTrip:
		return took("a probe of another member")
	case anomaly.Apply:
		return took("to apply a request")
	case anomaly.Growth:
		return fmt.Sprintf("what is in use of its database grew as by %.0f MiB a day, and by %.0f MiB usually",
			d.Value*day.Seconds()/mebi, d.Usual*day.Seconds()/mebi)
	case anomaly.Elections, anomaly.Signals:
	}
	return fmt.Sprintf("it saw %.1f changes of the leader in five minutes, and %.1f usually", d.Value, d.Usual)
}

// timers is what is advised of etcd's times, which the operator never changes by itself.
func timers(in Input) []plan.HeldAct {
	if in.Habits == nil || in.Habits.Trips == nil || in.Observed.Cluster.Autopilot.Timers == plan.ModeOff {
		return nil
	}
	want, due := in.Habits.Trips.Advice(timersOf(in.Cluster))
	if !due {
		return nil
	}
	return []plan.HeldAct{{
		Feature: plan.FeatureTimers, Reason: v1beta2.ReasonTimersTooShort,
		Message: fmt.Sprintf("in each hour of the last day three of four probes that a member sent another one took longer than %s: set "+
			"spec.etcd.heartbeatInterval to %s and spec.etcd.electionTimeout to %s, by hand, when the members may be updated one after the other",
			want.Longer.Round(time.Millisecond), want.Heartbeat, want.Election),
	}}
}

// timersOf are the times that the spec gives etcd, in whichever of its fields, or etcd's own.
func timersOf(c *v1beta2.EtcdCluster) anomaly.Timers {
	options, _ := resources.Options(c, "") // those with problems are reported elsewhere
	given := func(option string, byDefault time.Duration) time.Duration {
		if n, err := strconv.ParseInt(options[option], 10, 64); err == nil {
			return time.Duration(n) * time.Millisecond
		}
		return byDefault
	}
	return anomaly.Timers{
		Heartbeat: given("heartbeat-interval", 100*time.Millisecond), Election: given("election-timeout", time.Second),
	}
}
