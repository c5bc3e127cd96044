package status

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// calm is a cluster that is as its spec asks, and has been for a day.
func calm(change func(*v1beta2.EtcdCluster)) v1beta2.EtcdCluster {
	c := v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}
	c.Spec.Size, c.Status.Size = 3, 3
	c.Status.ClusterID, c.Status.CurrentVersion = "c1", "3.6.16"
	says(&c, metav1.ConditionFalse, v1beta2.ReasonSpecReached, 24*time.Hour)
	change(&c)
	return c
}

func says(c *v1beta2.EtcdCluster, progressing metav1.ConditionStatus, reason string, since time.Duration) {
	c.Status.Conditions = []metav1.Condition{{
		Type: v1beta2.ConditionProgressing, Status: progressing, Reason: reason, LastTransitionTime: metav1.NewTime(at.Add(-since)),
	}}
}

func does(c *v1beta2.EtcdCluster, reason string) { says(c, metav1.ConditionTrue, reason, time.Minute) }

func rolls(c *v1beta2.EtcdCluster) {
	c.Status.FormerSpec = &runtime.RawExtension{Raw: []byte("{}")}
	does(c, v1beta2.ReasonWaitingForMember)
}

func grows(c *v1beta2.EtcdCluster) {
	c.Spec.Size = 5
	does(c, v1beta2.ReasonWaitingForPods)
}

func starts(c *v1beta2.EtcdCluster) {
	c.Status = v1beta2.EtcdClusterStatus{TargetVersion: "3.6.16"}
	does(c, v1beta2.ReasonBootstrapping)
}

func restarts(c *v1beta2.EtcdCluster) {
	starts(c)
	c.Status.Restores = []v1beta2.RestoreRecord{{UID: "r"}}
	does(c, v1beta2.ReasonRestoring)
}

func TestUpgradeable(t *testing.T) {
	blocked := func(c *v1beta2.EtcdCluster, reason string) { says(c, metav1.ConditionFalse, reason, time.Minute) }
	for title, c := range map[string]struct {
		change func(*v1beta2.EtcdCluster)
		want   string // of the message, empty if upgradeable
	}{
		"calm":        {func(*v1beta2.EtcdCluster) {}, ""},
		"new":         {func(c *v1beta2.EtcdCluster) { c.Status = v1beta2.EtcdClusterStatus{} }, ""},
		"first start": {starts, ""},
		"restored":    {restarts, "is being restored"},
		"restored before": {func(c *v1beta2.EtcdCluster) {
			c.Status.Restores = []v1beta2.RestoreRecord{{CompletionTime: &metav1.Time{}}}
		}, ""},
		"called off": {func(c *v1beta2.EtcdCluster) {
			c.Status.Restores = []v1beta2.RestoreRecord{{CalledOff: &v1beta2.RestoreCalledOff{CompletionTime: &metav1.Time{}}}}
		}, ""},
		"going back from a restore": {func(c *v1beta2.EtcdCluster) {
			c.Status.Restores = []v1beta2.RestoreRecord{{CalledOff: &v1beta2.RestoreCalledOff{}}}
			does(c, v1beta2.ReasonResuming)
		}, "is being restored"},
		"rolled": {rolls, "is being updated"},
		"between two members, serving again": {
			func(c *v1beta2.EtcdCluster) { rolls(c); does(c, v1beta2.ReasonServing) }, "is being updated",
		},
		"the last member of a roll": {func(c *v1beta2.EtcdCluster) { does(c, v1beta2.ReasonWaitingForMember) }, "is still being reconciled"},
		"a member is down":          {func(c *v1beta2.EtcdCluster) { does(c, v1beta2.ReasonMemberDown) }, ""},
		"another version": {func(c *v1beta2.EtcdCluster) {
			c.Status.TargetVersion = "3.7.3"
			does(c, v1beta2.ReasonWaitingForVersion)
		}, "is being updated"},
		"grows":               {grows, "is adding or removing members"},
		"is to grow":          {func(c *v1beta2.EtcdCluster) { c.Spec.Size = 5 }, "is adding or removing members"},
		"replaces a member":   {func(c *v1beta2.EtcdCluster) { c.Status.Size = 2; does(c, v1beta2.ReasonCreating) }, "is adding or removing members"},
		"has a learner":       {func(c *v1beta2.EtcdCluster) { learner(c); does(c, v1beta2.ReasonWaitingForLearner) }, "is adding or removing members"},
		"repairs a pod":       {func(c *v1beta2.EtcdCluster) { does(c, v1beta2.ReasonRepairing) }, "is still being reconciled"},
		"restored, no volume": {func(c *v1beta2.EtcdCluster) { restarts(c); does(c, v1beta2.ReasonPodCannotStart) }, ""},
		"roll refused":        {func(c *v1beta2.EtcdCluster) { rolls(c); does(c, v1beta2.ReasonWriteRefused) }, ""},
		"roll stopped":        {func(c *v1beta2.EtcdCluster) { rolls(c); does(c, v1beta2.ReasonUpdateStopped) }, ""},
		"version refused": {func(c *v1beta2.EtcdCluster) {
			c.Status.TargetVersion = "3.8.0"
			blocked(c, v1beta2.ReasonVersionRefused)
		}, ""},
		"paused":       {func(c *v1beta2.EtcdCluster) { rolls(c); blocked(c, v1beta2.ReasonPaused) }, ""},
		"no quorum":    {func(c *v1beta2.EtcdCluster) { grows(c); does(c, v1beta2.ReasonQuorumLost) }, ""},
		"refused pods": {func(c *v1beta2.EtcdCluster) { grows(c); does(c, v1beta2.ReasonActionFailed) }, ""},
		"a pod that is refused": {func(c *v1beta2.EtcdCluster) {
			grows(c)
			meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
				Type: v1beta2.ConditionDegraded, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonMemberDown,
				Message: "member c-1 is not healthy; the API server refuses to create Pod c-1: exceeded quota",
			})
		}, ""},
		"hours": {func(c *v1beta2.EtcdCluster) {
			grows(c)
			says(c, metav1.ConditionTrue, v1beta2.ReasonWaitingForPods, workLimit)
		}, ""},
		"goes": {func(c *v1beta2.EtcdCluster) {
			rolls(c)
			c.DeletionTimestamp = &metav1.Time{Time: at}
		}, ""},
	} {
		ok, reason, message := Upgradeable([]v1beta2.EtcdCluster{calm(c.change)}, nil, at)
		wantReason := v1beta2.ReasonAsExpected
		if c.want != "" {
			wantReason = v1beta2.ReasonClustersBusy
		}
		if ok != (c.want == "") || reason != wantReason || c.want != "" && !strings.Contains(message, "EtcdCluster ns/c "+c.want) {
			t.Errorf("%s: got %v, %s, %q", title, ok, reason, message)
		}
	}
}

func learner(c *v1beta2.EtcdCluster) {
	c.Status.MemberStatuses = []v1beta2.MemberStatus{{Name: "c-0", Role: v1beta2.MemberRoleVoter}, {Name: "c-1", Role: v1beta2.MemberRoleLearner}}
}

func TestUpgradeableRestores(t *testing.T) {
	none := func(*v1beta2.EtcdCluster) {}
	lost := func(c *v1beta2.EtcdCluster) { does(c, v1beta2.ReasonQuorumLost) }
	paused := func(c *v1beta2.EtcdCluster) { says(c, metav1.ConditionFalse, v1beta2.ReasonPaused, time.Minute) }
	run := &v1beta2.AgentRun{Pod: "p"}
	for title, c := range map[string]struct {
		cluster func(*v1beta2.EtcdCluster)
		restore v1beta2.EtcdRestoreStatus
		ok      bool
	}{
		"reads":              {none, v1beta2.EtcdRestoreStatus{Phase: v1beta2.RestoreVerifying, Run: run}, false},
		"saves":              {none, v1beta2.EtcdRestoreStatus{Phase: v1beta2.RestoreSaving, Run: run}, false},
		"of what is lost":    {lost, v1beta2.EtcdRestoreStatus{Phase: v1beta2.RestoreVerifying, Run: run}, false},
		"waits":              {none, v1beta2.EtcdRestoreStatus{Phase: v1beta2.RestoreVerifying}, true},
		"replaces":           {none, v1beta2.EtcdRestoreStatus{Phase: v1beta2.RestoreReplacing}, false},
		"is not to replace":  {paused, v1beta2.EtcdRestoreStatus{Phase: v1beta2.RestoreReplacing}, true},
		"failed, pod stays":  {none, v1beta2.EtcdRestoreStatus{Phase: v1beta2.RestoreFailed, Run: run, CompletionTime: &metav1.Time{}}, true},
		"earlier operator's": {none, v1beta2.EtcdRestoreStatus{Succeeded: true}, true},
	} {
		restore := v1beta2.EtcdRestore{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "r"}, Status: c.restore}
		restore.Spec.EtcdCluster.Name = "c"
		if ok, _, message := Upgradeable([]v1beta2.EtcdCluster{calm(c.cluster)}, []v1beta2.EtcdRestore{restore}, at); ok != c.ok {
			t.Errorf("%s: %v, %s", title, ok, message)
		}
		restore.Namespace = "other"
		if ok, _, message := Upgradeable([]v1beta2.EtcdCluster{calm(c.cluster)}, []v1beta2.EtcdRestore{restore}, at); !ok {
			t.Errorf("%s in another namespace: %s", title, message)
		}
	}
}

// TestUpgradeableNamesFew holds that the message says the same whatever order the clusters come in, and fits.
func TestUpgradeableNamesFew(t *testing.T) {
	var clusters []v1beta2.EtcdCluster
	for i := range 1000 {
		clusters = append(clusters, calm(func(c *v1beta2.EtcdCluster) { c.Name = fmt.Sprintf("c%03d", 999-i); grows(c) }))
	}
	_, _, message := Upgradeable(clusters, nil, at)
	if !strings.HasPrefix(message, "EtcdCluster ns/c000 ") || !strings.Contains(message, "EtcdCluster ns/c009 is adding or removing members; 990 more: ") {
		t.Errorf("it says %q", message)
	}
}
