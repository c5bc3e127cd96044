package plan

import (
	"slices"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

var unwanted = failure.Problem{Reason: v1beta2.ReasonRestoreCalledOff, Message: "EtcdRestore r was deleted"}

// regretted is a restore that has begun to replace a cluster of three, and that is no longer wanted.
func regretted(persistent bool, changes ...func(*Observed)) Observed {
	return replacedBySnapshot(persistent, append([]func(*Observed){func(o *Observed) { o.Cluster.CancelReason = &unwanted }}, changes...)...)
}

// TestFormerMembers cancels a restore only if a quorum of the previous members can come back.
func TestFormerMembers(t *testing.T) {
	pods := func(change func(*Pod), which ...int) func(*Observed) {
		return func(o *Observed) {
			for _, i := range which {
				change(&o.Pods[i])
			}
		}
	}
	volumes := func(change func(*Volume), which ...int) func(*Observed) {
		return func(o *Observed) {
			for _, i := range which {
				change(&o.Volumes[i])
			}
		}
	}
	leaving, silent := func(p *Pod) { p.Deleting = true }, func(p *Pod) { p.Ready = false }
	ended, refused := func(p *Pod) { p.Phase = Finished }, func(p *Pod) { p.Exit = ExitDataLost }
	lost, going := func(c *Volume) { c.Lost = true }, func(c *Volume) { c.Deleting = true }
	others := func(c *Volume) { c.ClusterID++ }
	unknown := func(o *Observed) { o.Cluster.Previous.Voters = nil }
	next := func(names ...string) func(*Observed) {
		return func(o *Observed) { o.Cluster.Previous.NextVoters = names }
	}
	for title, c := range map[string]struct {
		observed Observed
		off      bool
	}{
		"all run":                            {regretted(false), true},
		"one of them leaves":                 {regretted(false, pods(leaving, 0)), true},
		"two of them leave":                  {regretted(false, pods(leaving, 0, 1)), false},
		"two of them have ended":             {regretted(false, pods(ended, 0, 1)), false},
		"two of them are on silent nodes":    {regretted(false, pods(silent, 0, 1)), false},
		"one of them may have been evicted":  {regretted(false, func(o *Observed) { o.Budget.Settled = false }), false},
		"there is no budget":                 {regretted(false, func(o *Observed) { o.Budget = Budget{} }), true},
		"all have stopped":                   {regretted(false, oldIsGone), false},
		"nobody knows who they were":         {regretted(false, unknown), false},
		"on volumes":                         {regretted(true, oldIsGone), true},
		"on volumes, and all are silent":     {regretted(true, pods(silent, 0, 1, 2)), true},
		"one volume is lost":                 {regretted(true, oldIsGone, volumes(lost, 0)), true},
		"two volumes are lost":               {regretted(true, oldIsGone, volumes(lost, 0, 1)), false},
		"two volumes are going":              {regretted(true, oldIsGone, volumes(going, 0, 1)), false},
		"two volumes are empty":              {regretted(true, pods(refused, 0, 1)), false},
		"two volumes are of another cluster": {regretted(true, oldIsGone, volumes(others, 0, 1)), false},
		"on volumes, adopted":                {regretted(true, oldIsGone, unknown), true},
		"adopted, and two volumes are going": {regretted(true, oldIsGone, unknown, volumes(going, 0, 1)), false},
		"one was to go":                      {regretted(true, oldIsGone, next("c-0", "c-1")), true},
		"one was to go, and others are gone": {regretted(true, oldIsGone, next("c-0", "c-1"), volumes(lost, 0)), false},
	} {
		t.Run(title, func(t *testing.T) {
			a := Next(c.observed)
			if off, ok := a.(CancelRestore); ok != c.off || ok && off.Why != unwanted {
				t.Errorf("the answer is %#v", a)
			}
			if goesOn, ok := a.(ContinueRestore); ok == c.off || ok && goesOn.Why.Reason != v1beta2.ReasonRestoreContinues {
				t.Errorf("the answer is %#v", a)
			}
		})
	}
}

// TestContinueRestore follows a restore that nobody wants, and that cannot be canceled, to its end.
func TestContinueRestore(t *testing.T) {
	noted := func(o *Observed) { o.Cluster.CancelDeclined = true }
	failed := func(o *Observed) {
		lastPod(o).RestoreFailure = &failure.Problem{Reason: v1beta2.ReasonSnapshotDamaged, Terminal: true}
		lastPod(o).Phase = Pending
	}
	gone := func(o *Observed) { o.Cluster.SourceGone = true }
	silent := func(o *Observed) {
		for i := range o.Pods {
			o.Pods[i].Ready = false
		}
	}
	check(t, map[string]planCase{
		"it goes on": {
			regretted(false, oldIsGone, noted),
			CreatePods{Pods: []NewPod{{Name: "c-3", Incarnation: 2, Version: "3.6.16", Restores: true}}},
		},
		"until it is up": {
			regretted(false, oldIsGone, noted, restoredPod, answersRestored),
			RecordClusterID{ClusterID: replacedBySnapshot(false).Cluster.Bootstrap.ClusterID},
		},
		"it can never be": {regretted(false, oldIsGone, noted, restoredPod, failed), Blocked{Reason: v1beta2.ReasonRestoreFailed}},
		"it can never be, and nobody has asked": {
			replacedBySnapshot(false, oldIsGone, restoredPod, failed), Blocked{Reason: v1beta2.ReasonRestoreFailed},
		},
		"another one takes its place": {
			regretted(false, oldIsGone, noted, restoredPod, failed, func(o *Observed) { o.Cluster.Restore = "second" }),
			CommitBootstrap{Bootstrap: newView(replacedBySnapshot(false)).newBootstrap(3, []string{"c-0"}, "second")},
		},
		"nothing says where the snapshot is": {regretted(false, oldIsGone, noted, gone), Blocked{Reason: v1beta2.ReasonRestoreFailed}},
		"nothing says it, and the members may come back": {
			regretted(false, silent, gone), Blocked{Reason: v1beta2.ReasonRestoreFailed},
		},
		"once they can": {regretted(false, gone), CancelRestore{Why: unwanted, ClusterID: recordedID}},
		"the member knows it": {
			regretted(false, oldIsGone, noted, gone, restoredPod, func(o *Observed) { lastPod(o).Phase = Pending }),
			Wait{Reason: v1beta2.ReasonRestoring},
		},
		"the volumes are there": {regretted(true, oldIsGone, noted, gone), CancelRestore{Why: unwanted, ClusterID: recordedID}},
	})
}

// TestWayOut has whoever is left without data be told what is gone, and what to do.
func TestWayOut(t *testing.T) {
	saved := func(o *Observed) { o.Cluster.SafetySnapshot = "42.db" }
	for title, c := range map[string]struct {
		observed Observed
		want     []string
	}{
		"not called off": {regretted(false, oldIsGone, saved), []string{
			unwanted.Message, "the data of c-0, c-1, c-2 is lost", "needs 2 of its 3 voters", "create another EtcdRestore", "42.db",
		}},
		"voters that were declared": {regretted(true, oldIsGone, func(o *Observed) {
			o.Cluster.Previous.NextVoters, o.Volumes[0].Lost = []string{"c-0", "c-1"}, true
		}), []string{"the data of c-0 is lost", "needs 2 of its 2 voters", "there is no safety snapshot of the previous data"}},
		"unknown": {regretted(false, oldIsGone, func(o *Observed) { o.Cluster.Previous.Voters = nil }), []string{"the previous members are unknown"}},
		"damaged": {replacedBySnapshot(false, oldIsGone, saved, restoredPod, func(o *Observed) {
			lastPod(o).RestoreFailure = &failure.Problem{Message: "it has changed", Terminal: true}
			lastPod(o).Phase = Pending
		}), []string{"it has changed", "the data of c-0, c-1, c-2 is lost", "create another EtcdRestore", "42.db"}},
	} {
		message := Describe(Next(c.observed)).Message
		if i := slices.IndexFunc(c.want, func(part string) bool { return !strings.Contains(message, part) }); i >= 0 {
			t.Errorf("%s: it says %q, want %q", title, message, c.want[i])
		}
	}
}
