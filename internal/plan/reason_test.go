package plan

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestReasonInContext holds that an event says what a step is for: the same one may scale, update or restore a cluster.
func TestReasonInContext(t *testing.T) {
	three := func(o *Observed) { o.Cluster.Size = 3 }
	surged := started(withLearner(healthyCluster(3, false), 3))
	voting := edit(surged, func(o *Observed) {
		o.Etcd.Members[3].Learner, o.Etcd.Answers[3].Learner = false, false
		o.Pods[3].InService, o.Pods[3].Ready = true, true
	})
	last := func(o *Observed) { o.Cluster.NextVoters = []string{"c-0", "c-1", "c-3"} }
	for title, c := range map[string]struct {
		observed       Observed
		action, reason string
	}{
		"clients leave a member that is one too many": {closed(edit(healthyCluster(5, false), three)), "RemoveFromService", v1beta2.ReasonScaling},
		"clients leave one that is to be restarted": {
			closed(pulledImages(edit(healthyCluster(3, true), to("3.7.3")))), "RemoveFromService", v1beta2.ReasonUpdating,
		},
		"clients leave one that is to be replaced": {
			closed(edit(voting, template(0, 1, 2))), "RemoveFromService", v1beta2.ReasonUpdating,
		},
		"another takes its place":               {closed(edit(surged, template(0, 1, 2))), "Promote", v1beta2.ReasonUpdating},
		"it is written who votes":               {closed(unserved(edit(voting, template(0, 1, 2)), 2)), "CommitVoters", v1beta2.ReasonUpdating},
		"the one replaced goes":                 {closed(unserved(edit(voting, template(0, 1, 2), last), 2)), "RemoveMember", v1beta2.ReasonUpdating},
		"the new one goes instead":              {surged, "RemoveMember", v1beta2.ReasonScaling},
		"clients leave what a restore replaces": {replacedBySnapshot(true), "RemoveFromService", v1beta2.ReasonRestoring},
		"what a restore replaces stops": {
			replacedBySnapshot(true, func(o *Observed) { o.Pods[0].InService = false }), "DeletePod", v1beta2.ReasonRestoring,
		},
		"it is waited for": {
			replacedBySnapshot(true, func(o *Observed) {
				for i := range o.Pods {
					o.Pods[i].InService, o.Pods[i].Deleting, o.Pods[i].Deadline = false, true, now
				}
			}), "Wait", v1beta2.ReasonRestoring,
		},
	} {
		t.Run(title, func(t *testing.T) {
			a, known := Decide(c.observed)
			if got := DescribeIn(c.observed, known, a); got.Action != c.action || got.Reason != c.reason {
				t.Errorf("got %+v, want %s with %s", got, c.action, c.reason)
			}
		})
	}
}
