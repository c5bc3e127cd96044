package etcdcluster

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// watched is a pass over a cluster of five voters, of which the last down are, and a learner.
func watched(down int) *pass {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "watched", Name: "c", UID: "u"}}
	c.Status.ClusterID, c.Status.CurrentVersion, c.Status.UpdatedMembers = "a", "3.6.16", 4
	for i, name := range []string{"c-0", "c-1", "c-2", "c-3", "c-4"} {
		c.Status.MemberStatuses = append(c.Status.MemberStatuses, v1beta2.MemberStatus{
			Name: name, Role: v1beta2.MemberRoleVoter, Ready: i < 5-down,
		})
	}
	c.Status.MemberStatuses = append(c.Status.MemberStatuses, v1beta2.MemberStatus{Name: "c-5", Role: v1beta2.MemberRoleLearner},
		v1beta2.MemberStatus{Name: "c-6", Role: v1beta2.MemberRoleNone})
	c.Status.Conditions = []metav1.Condition{
		{Type: v1beta2.ConditionAvailable, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonHasQuorum},
		{Type: v1beta2.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonSpecReached},
	}
	p := &pass{cluster: c}
	p.observed = plan.Observed{Now: noon}
	p.observed.Cluster.Size, p.observed.Cluster.Version = 5, "3.7.3"
	p.observed.Etcd.Contact = plan.ContactQuorum
	for i := range 5 - down {
		p.observed.Etcd.Answers = append(p.observed.Etcd.Answers, plan.Answer{MemberID: uint64(i), DBSize: 100, DBSizeInUse: int64(50 + i)})
	}
	return p
}

// TestQuorumMargin counts the voters that may still fail.
func TestQuorumMargin(t *testing.T) {
	for _, c := range []struct {
		name    string
		down    int
		contact plan.Contact
		want    int
	}{
		{"all well", 0, plan.ContactQuorum, 2},
		{"one down", 1, plan.ContactQuorum, 1},
		{"as few as can be", 2, plan.ContactQuorum, 0},
		{"a quorum answers while pods terminate", 3, plan.ContactQuorum, 0},
		{"a minority answers", 3, plan.ContactMinority, -1},
		{"nobody answers", 5, plan.ContactNone, -1},
	} {
		p := watched(c.down)
		p.observed.Etcd.Contact = c.contact
		if got := p.exported(); got.Margin != c.want || !got.Up {
			t.Errorf("%s: %d, want %d", c.name, got.Margin, c.want)
		}
	}
	p := watched(0)
	if p.cluster.Status.ClusterID = ""; p.exported().Up {
		t.Error("a cluster that was never up has a margin")
	}
}

// TestExportedCluster shows what was observed, and nothing of a cluster that is gone.
func TestExportedCluster(t *testing.T) {
	p := watched(1)
	p.assessment.Alarms = []plan.Alarm{{Kind: plan.AlarmCorrupt}, {Kind: plan.AlarmNoSpace, Member: 2}, {Kind: plan.AlarmNoSpace, Member: 3}}
	got := p.exported()
	if got.Ready != 4 || got.Unready != 1 || got.Learners != 1 || got.Size != 5 || got.Updated != 4 {
		t.Errorf("members: %+v", got)
	}
	if got.Version != "3.6.16" || got.TargetVersion != "3.7.3" || got.Reason != v1beta2.ReasonSpecReached {
		t.Errorf("versions and reason: %+v", got)
	}
	if got.Conditions != [6]metrics.Condition{0, metrics.ConditionTrue, metrics.ConditionFalse, 0, 0} {
		t.Errorf("conditions: %v", got.Conditions)
	}
	if got.NoSpace != 2 || got.Corrupt != 1 || !got.Judged {
		t.Errorf("alarms: %+v", got)
	}
	if len(got.Databases) != 4 || got.Databases[3] != (metrics.Database{Size: 100, InUse: 53, Quota: 2 << 30}) {
		t.Errorf("databases: %v", got.Databases)
	}
}

// TestExportedKeptVolumes tells evidence from what a restore has replaced.
func TestExportedKeptVolumes(t *testing.T) {
	p := watched(0)
	p.cluster.Status.KeptVolumes = []v1beta2.KeptVolume{{Name: "c-0", Restore: "monday"}, {Name: "c-1"}, {Name: "c-2", Restore: "monday"}}
	if got := p.exported(); got.Replaced != 2 || got.Diverged != 1 {
		t.Errorf("%d that a restore has replaced, and %d of members whose data differed", got.Replaced, got.Diverged)
	}
}

// TestHeldThatWaits tells what waits for the time to do it from what nobody has given any time.
func TestHeldThatWaits(t *testing.T) {
	for title, c := range map[string]struct {
		reason string
		window bool
		want   bool
	}{
		"a window":   {v1beta2.ReasonWaitingForWindow, true, true},
		"no window":  {v1beta2.ReasonWaitingForWindow, false, false},
		"its turn":   {v1beta2.ReasonWaitingForBrake, false, true},
		"a trial":    {v1beta2.ReasonPatchOnTrial, false, true},
		"not safely": {v1beta2.ReasonDefragmentationHeld, true, false},
	} {
		p := watched(0)
		p.cluster.Status.Autopilot = &v1beta2.AutopilotStatus{Held: []v1beta2.HeldAct{{Feature: "defragment", Reason: c.reason}}}
		p.observed.Cluster.Autopilot.Window.Set = c.window
		if got := p.exported().Held[0].Waits; got != c.want {
			t.Errorf("%s: %t", title, got)
		}
	}
}
