package status

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// threeMembers is a running cluster of three, of which m-2 is down.
func threeMembers() Input {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "m", Generation: 7}}
	c.Spec.Size = 3
	c.Status.ClusterID, c.Status.CurrentVersion = "00000000000000c1", "3.6.16"
	o := plan.Observed{Now: at, Cluster: plan.Cluster{Version: "3.6.16"}}
	o.Etcd = plan.Etcd{Contact: plan.ContactQuorum, ClusterID: 0xc1, Revision: 5000}
	for i, name := range []string{"m-0", "m-1", "m-2"} {
		id := uint64(i + 1)
		o.Pods = append(o.Pods, plan.Pod{
			Name: name, UID: name, Node: "n", Version: "3.6.16", Phase: plan.Running, Permit: &member.Permit{}, IP: "10.0.0.1",
		})
		o.Etcd.Members = append(o.Etcd.Members, plan.Member{ID: id, Name: name, Published: true})
		if i < 2 {
			o.Etcd.Answers = append(o.Etcd.Answers, plan.Answer{
				Pod: name, PodUID: name, MemberID: id, ClusterID: 0xc1, Leader: 2, Version: "3.6.16", DBSize: 1,
			})
		}
	}
	return Input{
		Cluster: c, Observed: o, Action: plan.Wait{Reason: v1beta2.ReasonMemberDown, Message: "m-2 does not answer"},
	}
}

// compute has a pass assess what it has observed.
func compute(in Input) v1beta2.EtcdClusterStatus {
	in.Observed.Cluster.Record = RecordOf(&in.Cluster.Status)
	in.Assessment = plan.Assess(in.Observed)
	return Compute(in)
}

func reason(t *testing.T, s v1beta2.EtcdClusterStatus, kind string, want metav1.ConditionStatus) string {
	t.Helper()
	c := meta.FindStatusCondition(s.Conditions, kind)
	if c == nil || c.Status != want {
		t.Fatalf("condition %s is %+v, want %s", kind, c, want)
	}
	return c.Reason
}

func TestMembersAreJoinedByIdentity(t *testing.T) {
	s := compute(threeMembers())
	if got := []any{s.Members.Ready, s.Members.Unready, s.Leader, s.ReadyMembers, s.ReadySummary, s.Size, s.Phase}; !reflect.DeepEqual(got,
		[]any{[]string{"m-0", "m-1"}, []string{"m-2"}, "m-1", int32(2), "2/3", int32(3), v1beta2.ClusterPhaseRunning}) {
		t.Errorf("ready, unready, leader, counts, phase: %v", got)
	}
	if m := s.MemberStatuses[2]; m.ID != "0000000000000003" || m.Ready || m.Message != "etcd does not answer; check its log: kubectl logs m-2 -c etcd" {
		t.Errorf("m-2: %+v", m)
	}
	if got := reason(t, s, v1beta2.ConditionAvailable, metav1.ConditionTrue); got != v1beta2.ReasonHasQuorum {
		t.Errorf("Available: %s", got)
	}
	if got := reason(t, s, v1beta2.ConditionDegraded, metav1.ConditionTrue); got != v1beta2.ReasonMemberDown {
		t.Errorf("Degraded: %s", got)
	}
	if s.ObservedGeneration != 7 || s.Revision != 5000 {
		t.Errorf("generation %d, revision %d", s.ObservedGeneration, s.Revision)
	}
}

func TestQuorumLostKeepsTheMembersAndTheTime(t *testing.T) {
	in := threeMembers()
	in.Cluster.Status = compute(in)
	in.Observed.Etcd = plan.Etcd{Contact: plan.ContactNone}
	in.Action = plan.Wait{Reason: v1beta2.ReasonQuorumLost, Message: "2 of 3 voters are needed"}
	lost := compute(in)
	if lost.QuorumLostSince == nil || !lost.QuorumLostSince.Time.Equal(at) || lost.Phase != v1beta2.ClusterPhaseUnavailable {
		t.Fatalf("since %v, phase %s", lost.QuorumLostSince, lost.Phase)
	}
	if got := Voters(lost.MemberStatuses); !reflect.DeepEqual(got, []string{"m-0", "m-1", "m-2"}) {
		t.Errorf("voters %v", got)
	}
	in.Cluster.Status, in.Observed.Now = lost, at.Add(time.Hour)
	if again := compute(in); !again.QuorumLostSince.Time.Equal(at) {
		t.Errorf("the time moved to %v", again.QuorumLostSince)
	}
}

func TestStatusDoesNotFlap(t *testing.T) {
	in := threeMembers()
	in.Cluster.Status = compute(in)
	in.Observed.Now = at.Add(time.Minute)
	in.Observed.Etcd.Revision += 999
	in.Observed.Etcd.Answers[0].DBSize += 1000
	if again := compute(in); !reflect.DeepEqual(again, in.Cluster.Status) {
		t.Errorf("status changed from %+v\nto %+v", in.Cluster.Status, again)
	}
}

// TestRevisionSteps wants what is recorded to be close enough for a restore to begin above it.
func TestRevisionSteps(t *testing.T) {
	for _, c := range []struct{ old, now, want int64 }{
		{0, 5, 0},
		{0, 1000, 1000},
		{5000, 5999, 5000},
		{5000, 6000, 6000},
		{6_000_000_000, 6_009_999_999, 6_000_000_000},
		{6_000_000_000, 6_010_000_000, 6_010_000_000},
	} {
		in := threeMembers()
		in.Cluster.Status = compute(in)
		in.Cluster.Status.Revision, in.Observed.Etcd.Revision = c.old, c.now
		if got := compute(in).Revision; got != c.want {
			t.Errorf("after %d, %d is recorded of %d, not %d", c.old, got, c.now, c.want)
		}
	}
}

// TestFormerSpec follows an update: what it has not reached is made from the spec before it, until nothing is left.
func TestFormerSpec(t *testing.T) {
	in := threeMembers()
	outdated := func(members int) {
		for i := range in.Observed.Pods {
			in.Observed.Pods[i].Drift.Template = i < members
		}
	}
	for _, step := range []struct {
		label, former string
		outdated      int
	}{
		{label: "a", outdated: 0},
		{label: "b", outdated: 3, former: "a"},
		{label: "b", outdated: 2, former: "a"},
		{label: "c", outdated: 3, former: "a"},
		{label: "c", outdated: 0},
	} {
		in.Cluster.Spec.Pod = &v1beta2.PodPolicy{Labels: map[string]string{"team": step.label}}
		outdated(step.outdated)
		in.Observed.Cluster.Spec = SpecText(in.Cluster)
		in.Cluster.Status = compute(in)
		accepted, former := in.Cluster.Status.AcceptedSpec, in.Cluster.Status.FormerSpec
		if !strings.Contains(string(accepted.Raw), `"team":"`+step.label) || (former != nil) != (step.former != "") {
			t.Fatalf("%+v: accepted %s, former %v", step, accepted.Raw, former)
		}
		if former != nil && !strings.Contains(string(former.Raw), `"team":"`+step.former) {
			t.Errorf("%+v: former %s", step, former.Raw)
		}
	}
}

// TestAcceptedVersion notes the version that is asked for, and none that there is no way to.
func TestAcceptedVersion(t *testing.T) {
	in := threeMembers()
	for _, step := range []struct{ asked, want string }{
		{"3.6.16", "3.6.16"}, {"3.7.3", "3.7.3"}, {"3.9.0", "3.7.3"}, {"3.4.1", "3.7.3"}, {"3.6.15", "3.6.15"},
	} {
		in.Cluster.Spec.Version = step.asked
		in.Observed.Cluster.Spec = SpecText(in.Cluster)
		in.Cluster.Status = compute(in)
		if text := string(in.Cluster.Status.AcceptedSpec.Raw); !strings.Contains(text, `"version":"`+step.want+`"`) {
			t.Errorf("asked for %s it notes %s, want %s", step.asked, text, step.want)
		}
	}
}

func TestLegacyConditionsGo(t *testing.T) {
	in := threeMembers()
	in.Cluster.Status.Conditions = []metav1.Condition{
		{Type: "Available", Status: "True", Reason: "Cluster available"}, {Type: "Scaling", Status: "False"},
	}
	s := compute(in)
	if len(s.Conditions) != 4 {
		t.Errorf("conditions %+v", s.Conditions)
	}
	for _, c := range s.Conditions {
		if c.LastTransitionTime.IsZero() {
			t.Errorf("%s has no time", c.Type)
		}
	}
}

func TestVerdicts(t *testing.T) {
	fresh := func(in *Input) { in.Cluster.Status.ClusterID, in.Observed.Etcd = "", plan.Etcd{} }
	for title, c := range map[string]struct {
		edit                             func(*Input)
		available, progressing, degraded string
		phase                            v1beta2.ClusterPhase
	}{
		"blocked before it was up": {
			func(in *Input) {
				fresh(in)
				in.Action = plan.Blocked{Reason: v1beta2.ReasonNameTaken}
			}, v1beta2.ReasonNameTaken, v1beta2.ReasonNameTaken, v1beta2.ReasonNameTaken, v1beta2.ClusterPhaseFailed,
		},
		"creating": {
			func(in *Input) {
				fresh(in)
				in.Action = plan.Wait{Reason: v1beta2.ReasonWaitingForPods}
			}, v1beta2.ReasonWaitingForPods, v1beta2.ReasonWaitingForPods, v1beta2.ReasonCreating,
			v1beta2.ClusterPhaseCreating,
		},
		"its data is being replaced": {
			func(in *Input) {
				fresh(in)
				in.Cluster.Status.Former = &v1beta2.FormerStatus{ClusterID: "c0ffee"}
				in.Action = plan.Wait{Reason: v1beta2.ReasonWaitingForEtcd}
			}, v1beta2.ReasonWaitingForEtcd, v1beta2.ReasonWaitingForEtcd, v1beta2.ReasonRestoring, v1beta2.ClusterPhaseRestoring,
		},
		"its data is being replaced, and a step failed": {
			func(in *Input) {
				fresh(in)
				in.Cluster.Status.Former = &v1beta2.FormerStatus{ClusterID: "c0ffee"}
				in.Err = errors.New("no")
			}, v1beta2.ReasonRestoring, v1beta2.ReasonActionFailed, v1beta2.ReasonRestoring, v1beta2.ClusterPhaseRestoring,
		},
		"a restore into a cluster that has never been up": {
			func(in *Input) {
				fresh(in)
				in.Cluster.Status.Former = &v1beta2.FormerStatus{}
				in.Action = plan.Wait{Reason: v1beta2.ReasonWaitingForEtcd}
			}, v1beta2.ReasonWaitingForEtcd, v1beta2.ReasonWaitingForEtcd, v1beta2.ReasonCreating, v1beta2.ClusterPhaseCreating,
		},
		"a step failed": {
			func(in *Input) { in.Err = errors.New("no") },
			v1beta2.ReasonHasQuorum, v1beta2.ReasonActionFailed, v1beta2.ReasonMemberDown, v1beta2.ClusterPhaseRunning,
		},
		"data lost": {
			func(in *Input) {
				in.Observed.Etcd = plan.Etcd{}
				in.Action = plan.Blocked{Reason: v1beta2.ReasonDataLost}
			}, v1beta2.ReasonQuorumLost, v1beta2.ReasonDataLost, v1beta2.ReasonDataLost, v1beta2.ClusterPhaseFailed,
		},
		"an edit that is not carried out": {
			func(in *Input) {
				in.Observed.Etcd.Members = in.Observed.Etcd.Members[:2]
				in.Observed.Pods = in.Observed.Pods[:2]
				in.Observed.Cluster.Invalid = &failure.Problem{Reason: v1beta2.ReasonInvalidOption}
				in.Action = plan.Wait{Reason: v1beta2.ReasonWaitingForEtcd}
			}, v1beta2.ReasonHasQuorum, v1beta2.ReasonWaitingForEtcd, v1beta2.ReasonInvalidOption,
			v1beta2.ClusterPhaseRunning,
		},
	} {
		t.Run(title, func(t *testing.T) {
			in := threeMembers()
			c.edit(&in)
			s := compute(in)
			got := map[string]string{}
			for _, condition := range s.Conditions {
				got[condition.Type] = condition.Reason
			}
			delete(got, v1beta2.ConditionReady) // TestReady is about it
			want := map[string]string{"Available": c.available, "Progressing": c.progressing, "Degraded": c.degraded}
			if !reflect.DeepEqual(got, want) || s.Phase != c.phase {
				t.Errorf("reasons %v, phase %s; want %v, %s", got, s.Phase, want, c.phase)
			}
		})
	}
}

func TestCoarse(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0", 1: "1Mi", 20480: "1Mi", 9 << 20: "10Mi", 1<<30 + 1: "1280Mi"} {
		if got := coarse(bytes).String(); got != want {
			t.Errorf("coarse(%d) = %s, want %s", bytes, got, want)
		}
	}
}

func TestNoRevisionBeforeTheLatch(t *testing.T) {
	in := threeMembers()
	in.Cluster.Status.ClusterID = ""
	if s := compute(in); s.Revision != 0 {
		t.Errorf("revision %d is recorded of a start that may be given up", s.Revision)
	}
}

// TestLeaderIsWhoMostName has one server that has not heard of an election decide nothing, whoever answers first.
func TestLeaderIsWhoMostName(t *testing.T) {
	in := threeMembers()
	late, third := in.Observed.Etcd.Answers[0], in.Observed.Etcd.Answers[1]
	late.Leader = 1
	third.Pod, third.PodUID, third.MemberID = "m-2", "m-2", 3
	in.Observed.Etcd.Answers = []plan.Answer{late, in.Observed.Etcd.Answers[1], third}
	if s := compute(in); s.Leader != "m-1" || !s.MemberStatuses[1].Leader {
		t.Errorf("the leader is %s of %+v", s.Leader, s.MemberStatuses)
	}
}
