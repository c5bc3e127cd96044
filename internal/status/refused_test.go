package status

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

func refusing(in *Input, names ...string) {
	for _, name := range names {
		in.Observed.Refused = append(in.Observed.Refused, plan.Refusal{
			Target: plan.Target{Verb: "create", Kind: plan.KindPod, Name: name}, Message: "exceeded quota", Since: at, RetryAt: at,
		})
	}
}

// TestRefused wants every refusal to be named in Degraded, whatever else is wrong, and Ready to be false.
func TestRefused(t *testing.T) {
	const first, second = "the API server refuses to create Pod m-0: exceeded quota", "the API server refuses to create Pod m-1: exceeded quota"
	for title, c := range map[string]struct {
		in              func() Input
		reason, message string
	}{
		"all is well otherwise": {allAnswer, v1beta2.ReasonWriteRefused, first + "; " + second},
		"a member is down": {
			threeMembers, v1beta2.ReasonMemberDown,
			"member m-2 is not healthy: etcd does not answer; check its log: kubectl logs m-2 -c etcd; " + first + "; " + second,
		},
		"a Service is rejected, too": {func() Input {
			in := allAnswer()
			in.Rejected = &failure.Problem{Reason: v1beta2.ReasonInvalidService, Message: "spec.services"}
			return in
		}, v1beta2.ReasonInvalidService, "spec.services; " + first + "; " + second},
		"not up yet": {func() Input {
			in := allAnswer()
			in.Cluster.Status.ClusterID, in.Observed.Etcd = "", plan.Etcd{}
			in.Action = plan.Wait{Reason: v1beta2.ReasonWaitingForPods, Message: "m-0"}
			return in
		}, v1beta2.ReasonWriteRefused, first + "; " + second},
		"no quorum, and the planner has said so": {func() Input {
			in := allAnswer()
			in.Observed.Etcd = plan.Etcd{Contact: plan.ContactNone}
			in.Action = plan.Wait{Reason: v1beta2.ReasonQuorumLost, Message: "1 of 3; " + first}
			return in
		}, v1beta2.ReasonQuorumLost, "1 of 3; " + first + "; " + second},
	} {
		t.Run(title, func(t *testing.T) {
			in := c.in()
			refusing(&in, "m-0", "m-1")
			s := compute(in)
			got := meta.FindStatusCondition(s.Conditions, v1beta2.ConditionDegraded)
			if got == nil || got.Status != metav1.ConditionTrue || got.Reason != c.reason || got.Message != c.message {
				t.Errorf("Degraded is %+v, want %s %q", got, c.reason, c.message)
			}
			ready := meta.FindStatusCondition(s.Conditions, v1beta2.ConditionReady)
			if ready == nil || ready.Status != metav1.ConditionFalse || !strings.Contains(ready.Message, second) {
				t.Errorf("Ready is %+v", ready)
			}
		})
	}
}

// TestIncomplete wants nothing of an action to be recorded of which a write was refused, and everything of what was observed.
func TestIncomplete(t *testing.T) {
	for _, incomplete := range []bool{false, true} {
		in := allAnswer()
		in.Action, in.Incomplete = plan.CommitVoters{Voters: []string{"m-0", "m-1"}}, incomplete
		s := compute(in)
		if recorded := len(s.NextVoters) > 0; recorded == incomplete {
			t.Errorf("incomplete %v: the next voters are %q", incomplete, s.NextVoters)
		}
		progress := meta.FindStatusCondition(s.Conditions, v1beta2.ConditionProgressing)
		if progress == nil || progress.Reason != v1beta2.ReasonScaling || s.ReadyMembers != 3 {
			t.Errorf("incomplete %v: %+v, %d ready", incomplete, progress, s.ReadyMembers)
		}
	}
}
