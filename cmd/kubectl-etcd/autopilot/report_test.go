package autopilot_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/autopilot"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/documented"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
)

var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// cluster is one without a word about Auto Pilot, with changes.
func cluster(changes ...func(*v1beta2.EtcdCluster)) *v1beta2.EtcdCluster {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "demo"}}
	for _, change := range changes {
		change(c)
	}
	return c
}

// held is one of which two things are due and not done.
func held(c *v1beta2.EtcdCluster) {
	c.Spec.MaintenanceWindow = &v1beta2.MaintenanceWindow{
		Schedule: "0 2 * * 0", TimeZone: "Europe/Berlin", Duration: metav1.Duration{Duration: 2 * time.Hour},
	}
	c.Spec.Autopilot = &v1beta2.AutopilotSpec{
		NoSpace: &v1beta2.NoSpaceAutopilot{AutopilotFeature: v1beta2.AutopilotFeature{Mode: v1beta2.AutopilotAdvise}},
	}
	c.Status.Autopilot = &v1beta2.AutopilotStatus{Held: []v1beta2.HeldAct{
		{
			Feature: "defragment", Reason: v1beta2.ReasonWaitingForWindow, Since: metav1.NewTime(now.Add(-3 * time.Hour)),
			Message: "defragmenting would give free pages back to the disk (demo-2): that waits for the maintenance window",
		},
		{
			Feature: "noSpace", Reason: v1beta2.ReasonAutopilotAdvises, Since: metav1.NewTime(now.Add(-20 * time.Minute)),
			Message: "Auto Pilot would act, were its mode On: defragment demo-0",
		},
	}}
}

func event(reason, message string, ago time.Duration) autopilot.Event {
	return autopilot.Event{Time: now.Add(-ago), Reason: reason, Message: message}
}

// TestWrite compares what a person sees with what was looked at, and found to be good.
func TestWrite(t *testing.T) {
	none := []autopilot.Event{}
	several := []autopilot.Event{
		event(v1beta2.ReasonWaitingForWindow, "autopilot.defragment: defragmenting would give free pages back to the disk (demo-2): that waits for the maintenance window", 3*time.Hour),
		event(v1beta2.ReasonScaling, "adding learner demo-3", time.Hour),
		event(v1beta2.ReasonNoLongerHeld, "autopilot.noSpace: no longer held for AutopilotAdvises", time.Minute),
	}
	open := func(c *v1beta2.EtcdCluster) {
		c.Spec.Version = "3.6"
		c.Spec.MaintenanceWindow = &v1beta2.MaintenanceWindow{Schedule: "@hourly", Duration: metav1.Duration{Duration: 30 * time.Minute}}
	}
	bounded := func(c *v1beta2.EtcdCluster) {
		c.Spec.Autopilot = &v1beta2.AutopilotSpec{Mode: v1beta2.AutopilotOn, Defragment: &v1beta2.AutopilotFeature{Mode: v1beta2.AutopilotOff}}
		c.Spec.MaintenanceWindow = &v1beta2.MaintenanceWindow{Schedule: "@daily", TimeZone: "Europe/Berln", Duration: metav1.Duration{Duration: time.Hour}}
		c.Status.Autopilot = &v1beta2.AutopilotStatus{OperatorMode: v1beta2.AutopilotAdvise}
	}
	sized := func(mode v1beta2.AutopilotMode) func(*v1beta2.EtcdCluster) {
		return func(c *v1beta2.EtcdCluster) {
			cpu := resource.MustParse("2")
			c.Spec.Autopilot = &v1beta2.AutopilotSpec{Resources: &v1beta2.ResourcesAutopilot{
				AutopilotFeature: v1beta2.AutopilotFeature{Mode: mode}, Max: &v1beta2.ResourceBounds{CPU: &cpu},
			}}
		}
	}
	lost := func(c *v1beta2.EtcdCluster) {
		c.Status.Recovery = &v1beta2.RecoveryStatus{Plan: &v1beta2.RecoveryPlan{
			Hash: "0123456789ab", Survivor: "demo-1", Revision: 42, Silent: []string{"demo-0", "demo-2"},
			Message: "what demo-1 holds, up to revision 42, can be made the cluster's data; writes that were acknowledged after that revision are lost then",
		}}
	}
	begun := func(c *v1beta2.EtcdCluster) {
		c.Status.Autopilot = &v1beta2.AutopilotStatus{UnderWay: []v1beta2.BegunAct{{Feature: "quota", To: "3Gi", Since: metav1.NewTime(now.Add(-4 * time.Minute))}}}
	}
	tidies := func(c *v1beta2.EtcdCluster) {
		c.Status.Conditions = []metav1.Condition{
			{Type: v1beta2.ConditionAvailable, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonHasQuorum, Message: "a quorum of the voters answers"},
			{
				Type: v1beta2.ConditionProgressing, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonDefragmenting,
				Message: "member demo-1 is being defragmented, and serves nobody until that is done: nothing else is disrupted",
			},
		}
	}
	room := func(c *v1beta2.EtcdCluster) {
		c.Status.Conditions = []metav1.Condition{
			{Type: v1beta2.ConditionAvailable, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonNoSpace, Message: "etcd takes no writes: demo-0 is at its quota"},
			{
				Type: v1beta2.ConditionProgressing, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonMakingRoom,
				Message: "compacting the history of keys up to revision 90",
			},
		}
	}
	rests := func(c *v1beta2.EtcdCluster) {
		open(c)
		c.Status.Conditions = []metav1.Condition{
			{Type: v1beta2.ConditionAvailable, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonHasQuorum},
			{Type: v1beta2.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonSpecReached},
			{Type: v1beta2.ConditionAnomaly, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonAsUsual, Message: "no member deviates"},
		}
	}
	anomaly := func(status metav1.ConditionStatus, reason, message string) func(*v1beta2.EtcdCluster) {
		return func(c *v1beta2.EtcdCluster) {
			c.Status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionAnomaly, Status: status, Reason: reason, Message: message}}
		}
	}
	deviates := anomaly(metav1.ConditionTrue, v1beta2.ReasonDeviating, "fsyncs of demo-1 take longer than usual")
	deviated := anomaly(metav1.ConditionUnknown, v1beta2.ReasonDeviatedBefore, "fsyncs of demo-1 took longer than usual")
	wrote := []autopilot.Event{
		event(v1beta2.ReasonAlarmDisarmed, "etcd takes writes again", time.Minute),
		event(v1beta2.ReasonMakingRoom, "defragmenting demo-0", 2*time.Minute),
		event(v1beta2.ReasonNoSpace, "etcd takes no writes: demo-0 is at its quota", 3*time.Minute),
		event(v1beta2.ReasonUpdating, "updating demo-0", 4*time.Minute),
	}
	for name, r := range map[string]*autopilot.Report{
		"tidies":  autopilot.Of(cluster(tidies), none, nil, now),
		"room":    autopilot.Of(cluster(room), none, nil, now),
		"wrote":   autopilot.Of(cluster(), wrote, nil, now),
		"lost":    autopilot.Of(cluster(lost), none, nil, now),
		"begun":   autopilot.Of(cluster(begun), none, nil, now),
		"sized":   autopilot.Of(cluster(sized("")), none, nil, now),
		"advised": autopilot.Of(cluster(sized(v1beta2.AutopilotAdvise)), none, nil, now),
		"at-rest": autopilot.Of(cluster(rests), none, nil, now),

		"deviates": autopilot.Of(cluster(deviates), none, nil, now),
		"deviated": autopilot.Of(cluster(deviated), none, nil, now),

		"held":    autopilot.Of(cluster(held), several, nil, now),
		"bounded": autopilot.Of(cluster(bounded), nil, []string{"what it did lately is not known: list events: forbidden"}, now),
		"paused":  autopilot.Of(cluster(func(c *v1beta2.EtcdCluster) { c.Spec.Paused = true }), none, nil, now),
	} {
		t.Run(name, func(t *testing.T) {
			var out, coloured strings.Builder
			must(t, r.Write(&out, false))
			must(t, r.Write(&coloured, true))
			documented.Golden(t, name, out.String())
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(line); n > terminal.Columns+1 && !strings.Contains(line, "https://") { // what is copied is in one piece
					t.Errorf("a line of %d columns: %s", n, line)
				}
			}
			if coloured.Len() <= out.Len() {
				t.Error("there are no colours")
			}
		})
	}
}

// TestDocumented compares what a person sees with what the document shows.
func TestDocumented(t *testing.T) {
	c := cluster(held)
	c.Status.Autopilot.Held = c.Status.Autopilot.Held[:1]
	var out strings.Builder
	must(t, autopilot.Of(c, []autopilot.Event{}, nil, now).Write(&out, false))
	documented.Shows(t, "kubectl etcd autopilot demo", out.String())
}

// TestJSON holds the names of fields that programs read.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(autopilot.Of(cluster(held), []autopilot.Event{event(v1beta2.ReasonWaitingForBrake, "m", time.Hour)}, nil, now))
	must(t, err)
	for _, want := range []string{
		`{"namespace":"app","name":"demo","features":[{"name":"noSpace","mode":"Advise","by":"spec.autopilot.noSpace.mode"},{"name":"defragment","mode":"On"}`,
		`"window":{"schedule":"0 2 * * 0","duration":"2h0m0s","timeZone":"Europe/Berlin","open":false,"next":"2026-11-29T01:00:00Z"}`,
		`"held":[{"feature":"defragment","reason":"WaitingForWindow"`,
		`"events":[{"time":"2026-11-24T11:00:00Z","reason":"WaitingForBrake","message":"m"}]`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
