package etcdcluster

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// TestAnomalyIsRecorded once for each thing that people should know, also that nobody knows any more whether a member deviates.
func TestAnomalyIsRecorded(t *testing.T) {
	type told struct {
		status          metav1.ConditionStatus
		reason, message string
	}
	const unknown, yes, no = metav1.ConditionUnknown, metav1.ConditionTrue, metav1.ConditionFalse
	for title, c := range map[string]struct {
		before, now told
		want        []string
	}{
		"learning":                  {told{}, told{unknown, v1beta2.ReasonLearning, "later"}, nil},
		"learned":                   {told{unknown, v1beta2.ReasonLearning, "later"}, told{no, v1beta2.ReasonAsUsual, "fine"}, nil},
		"deviates":                  {told{no, v1beta2.ReasonAsUsual, "fine"}, told{yes, v1beta2.ReasonDeviating, "slow"}, []string{"Warning Deviating slow"}},
		"deviates on":               {told{yes, v1beta2.ReasonDeviating, "slow"}, told{yes, v1beta2.ReasonDeviating, "slow"}, nil},
		"deviates in another":       {told{yes, v1beta2.ReasonDeviating, "slow"}, told{yes, v1beta2.ReasonDeviating, "large"}, []string{"Warning Deviating large"}},
		"is over":                   {told{yes, v1beta2.ReasonDeviating, "slow"}, told{no, v1beta2.ReasonAsUsual, "fine"}, []string{"Normal AsUsual fine"}},
		"is not known any more":     {told{yes, v1beta2.ReasonDeviating, "slow"}, told{unknown, v1beta2.ReasonDeviatedBefore, "slow?"}, []string{"Warning DeviatedBefore slow?"}},
		"is still not known":        {told{unknown, v1beta2.ReasonDeviatedBefore, "slow?"}, told{unknown, v1beta2.ReasonDeviatedBefore, "slow?"}, nil},
		"deviates, as is known now": {told{unknown, v1beta2.ReasonDeviatedBefore, "slow?"}, told{yes, v1beta2.ReasonDeviating, "slow"}, []string{"Warning Deviating slow"}},
	} {
		recorder := events.NewFakeRecorder(2)
		r, p := &Reconciler{Recorder: recorder}, &pass{cluster: &v1beta2.EtcdCluster{}, before: &v1beta2.EtcdClusterStatus{}}
		for all, t := range map[*[]metav1.Condition]told{&p.before.Conditions: c.before, &p.cluster.Status.Conditions: c.now} {
			if t.status != "" {
				*all = []metav1.Condition{{Type: v1beta2.ConditionAnomaly, Status: t.status, Reason: t.reason, Message: t.message}}
			}
		}
		r.recordAnomaly(p)
		close(recorder.Events)
		var got []string
		for event := range recorder.Events {
			got = append(got, event)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", title, got, c.want)
		}
	}
}

// TestOffAsksNobody: without Auto Pilot nothing is sampled, and so nothing remembered. The pass has no session to ask anybody by.
func TestOffAsksNobody(t *testing.T) {
	r, p := &Reconciler{Etcd: etcd.NewPool()}, &pass{cluster: &v1beta2.EtcdCluster{}}
	p.observed.Cluster.Autopilot = plan.AutopilotOf(&p.cluster.Spec, v1beta2.AutopilotOff, time.Now())
	r.sample(t.Context(), p)
	if r.observeHabits(t.Context(), p); p.habits != nil {
		t.Errorf("%+v", p.habits)
	}
}

// TestOffComparesWhatIsInDoubt: with the mode Off, what was found of the members' data can end only if it is compared, whoever has told of it.
func TestOffComparesWhatIsInDoubt(t *testing.T) {
	for title, c := range map[string]struct {
		recorded v1beta2.InternalStatus
		alarms   []plan.Alarm
		marked   uint64
		want     bool
	}{
		"nothing is recorded":              {},
		"its quota is reached":             {alarms: []plan.Alarm{{Kind: plan.AlarmNoSpace, Member: 10}}},
		"etcd's alarm has just been seen":  {alarms: []plan.Alarm{{Kind: plan.AlarmCorrupt, Member: 10}}, want: true},
		"only etcd's alarm has told of it": {recorded: v1beta2.InternalStatus{Doubt: &v1beta2.DataDoubt{}}, want: true},
		"a member's volume is marked":      {marked: 10, want: true},
		"that of a former member is":       {marked: 11},
		"no majority agrees":               {recorded: v1beta2.InternalStatus{Doubt: &v1beta2.DataDoubt{Split: true}}, want: true},
		"a member is replaced": {recorded: v1beta2.InternalStatus{Quarantined: &v1beta2.QuarantinedMember{
			MemberID: "000000000000000a", Name: "c-1",
		}}, want: true},
	} {
		p := &pass{cluster: &v1beta2.EtcdCluster{}}
		p.observed.Etcd.Answers = []plan.Answer{{Pod: "c-0"}, {Pod: "c-1", Alarms: c.alarms}}
		p.observed.Etcd.Members = []plan.Member{{ID: 10, Name: "c-1"}}
		p.observed.Volumes = []plan.Volume{{Name: "c-1", MemberID: c.marked, Quarantined: c.marked != 0}}
		p.cluster.Status.InternalStatus = c.recorded
		p.observed.Cluster.Record = status.RecordOf(&p.cluster.Status)
		p.observed.Cluster.Autopilot = plan.AutopilotOf(&p.cluster.Spec, v1beta2.AutopilotOff, time.Now())
		if got := p.comparesData(); got != c.want {
			t.Errorf("%s: compares: %t", title, got)
		}
	}
}
