package plan

import (
	"slices"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// resumed is a cluster of three that a restore was to replace which was canceled: its pods are gone, its volumes are there,
// and so is what the attempt has left.
func resumed(changes ...func(*Observed)) Observed {
	o := replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod)
	o.Cluster.Record = o.Cluster.goBack()
	return edit(o, changes...)
}

func TestCallOff(t *testing.T) {
	why := failure.Problem{Reason: v1beta2.ReasonRestoreCalledOff, Message: "it was deleted"}
	off := func(o *Observed) { o.Cluster.CancelReason = &why }
	terminal := &failure.Problem{Reason: v1beta2.ReasonSnapshotDamaged, Terminal: true}
	passing := &failure.Problem{Reason: v1beta2.ReasonStorageUnreachable}
	second := newView(replacedBySnapshot(true)).newBootstrap(3, []string{"c-4"}, "second")
	gaveIt := func(o *Observed) {
		answersRestored(o)
		o.Volumes[3].MemberID, o.Volumes[3].ClusterID = uint64(lastPod(o).Permit.MemberID), o.Cluster.Bootstrap.ClusterID
	}
	crashed := func(o *Observed) { o.Etcd = Etcd{} }
	isUp := RecordClusterID{ClusterID: newView(replacedBySnapshot(true)).Cluster.Bootstrap.ClusterID, KeptVolumes: []string{"c-0", "c-1", "c-2"}}
	var permits []NewPod
	for i := range 3 {
		permits = append(permits, NewPod{
			Name: name(i), Incarnation: 1, Persistent: true, Version: "3.6.16",
			Permit: &member.Permit{Mode: member.ModeResume, ClusterID: member.ID(recordedID), MemberID: member.ID(id(i))},
		})
	}
	check(t, map[string]planCase{
		"before anything was done":     {replacedBySnapshot(true, off), CancelRestore{Why: why, ClusterID: recordedID}},
		"once the old members stopped": {replacedBySnapshot(true, oldIsGone, off), CancelRestore{Why: why, ClusterID: recordedID}},
		"while the snapshot is read": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, off), CancelRestore{Why: why, ClusterID: recordedID},
		},
		"of a cluster that never ran": {
			replacedBySnapshot(true, off, func(o *Observed) { o.Cluster.Previous = &Record{} }), CancelRestore{Why: why},
		},
		"not of one that was not begun by this record": {
			replacedBySnapshot(true, off, func(o *Observed) { o.Cluster.Previous = nil }), RemoveFromService{Pod: "c-0", UID: "p0"},
		},
		"not once the cluster ID is recorded": {
			edit(healthyCluster(3, true), off, func(o *Observed) { o.Cluster.Bootstrap.Restore = "restore" }),
			Idle{Reason: v1beta2.ReasonSpecReached},
		},
		"not of one that is paused": {
			replacedBySnapshot(true, off, func(o *Observed) { o.Cluster.Paused = true }), Idle{Reason: v1beta2.ReasonPaused},
		},
		"the snapshot cannot be restored for good": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, func(o *Observed) { lastPod(o).RestoreFailure = terminal }),
			CancelRestore{Why: *terminal, ClusterID: recordedID},
		},
		"the snapshot cannot be restored now": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, func(o *Observed) {
				lastPod(o).RestoreFailure, lastPod(o).Phase = passing, Pending
			}),
			Wait{Reason: passing.Reason},
		},
		"not once the restored cluster answers: clients may have written to it": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, gaveIt, off), isUp,
		},
		"nor does a later restore take its place then": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, gaveIt, func(o *Observed) { o.Cluster.Restore = "second" }), isUp,
		},
		"it may have answered before": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, gaveIt, crashed, off),
			CancelRestore{Why: why, ClusterID: recordedID, KeptVolumes: []string{"c-3"}},
		},
		"so it may where a later restore takes its place": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, gaveIt, crashed, off, func(o *Observed) { o.Cluster.Restore = "second" }),
			CommitBootstrap{Bootstrap: second},
		},
		"and its volume stays": {
			resumed(func(o *Observed) { o.Pods, o.Volumes[3].MemberID = nil, 1 }), CreatePods{Pods: permits},
		},
		"a first start does not take the name of a volume that is kept": {
			edit(emptyCluster(1, true), func(o *Observed) {
				o.Cluster.Incarnations = Incarnations{Last: 1, FirstRestore: 1}
				o.Volumes = []Volume{{Name: "c-0", UID: "v0", Incarnation: 1, Owned: true, ClusterID: 5, MemberID: 6}}
			}),
			CommitBootstrap{Bootstrap: newView(emptyCluster(1, true)).newBootstrap(2, []string{"c-1"}, "")},
		},
		"nor one that was written down before, while nobody could start yet": {
			edit(bootstrapped(1, true), func(o *Observed) {
				o.Cluster.Incarnations, o.Cluster.KeptUIDs = Incarnations{Last: 2, FirstRestore: 2}, []string{"v"}
				o.Pods = nil
				o.Volumes = []Volume{{Name: "c-0", UID: "v", Incarnation: 2, Owned: true, ClusterID: 5, MemberID: 6}}
			}),
			CommitBootstrap{Bootstrap: newView(emptyCluster(1, true)).newBootstrap(3, []string{"c-1"}, "")},
		},
		"a later restore takes its place": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, off, func(o *Observed) { o.Cluster.Restore = "second" }),
			CommitBootstrap{Bootstrap: second},
		},
		"and what it has left goes": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, func(o *Observed) {
				o.Cluster.Incarnations = o.Cluster.incarnationsAfter(second)
				o.Cluster.Bootstrap = &second
			}),
			DeletePod{Name: "c-3", UID: "p3", Why: v1beta2.ReasonClearingAttempt},
		},
		"but not a volume on which etcd was let start, by whatever attempt follows": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, func(o *Observed) {
				o.Volumes[3].MemberID = 3
				again := newView(*o).newBootstrap(3, []string{"c-4"}, "restore")
				o.Cluster.Record = o.Cluster.Apply(CommitBootstrap{Bootstrap: again}, *o)
			}),
			CreateVolumes{Names: []string{"c-4"}, Incarnation: 3},
		},
		"the attempt's pod goes first": {resumed(), DeletePod{Name: "c-3", UID: "p3", Why: v1beta2.ReasonClearingAttempt}},
		"then its volume": {
			resumed(func(o *Observed) { o.Pods = nil }),
			DeleteVolume{Name: "c-3", UID: "v3", Why: v1beta2.ReasonClearingAttempt},
		},
		"the former members come back on their volumes": {
			resumed(func(o *Observed) { o.Pods, o.Volumes = nil, o.Volumes[:3] }), CreatePods{Pods: permits},
		},
		"the attempt is not waited for": {
			resumed(func(o *Observed) { o.Pods[0].Deleting, o.Volumes[3].Deleting = true, true }), CreatePods{Pods: permits},
		},
		"it says why the cluster is not up": {
			edit(noContact(healthyCluster(3, true)), func(o *Observed) { o.Cluster.Resuming = "EtcdRestore r is canceled" }),
			Wait{Reason: v1beta2.ReasonResuming},
		},
		"a cluster whose EtcdRestore has failed says so": {
			edit(emptyCluster(3, true), func(o *Observed) { o.Cluster.WaitsForRestore, o.Cluster.WaitFailed = "c-restore", "damaged" }),
			Blocked{Reason: v1beta2.ReasonRestoreFailed},
		},
		"no number is used again": {
			resumed(func(o *Observed) { o.Pods, o.Volumes, o.Cluster.Restore = nil, o.Volumes[:3], "second" }),
			CommitBootstrap{
				Bootstrap: newView(replacedBySnapshot(true)).newBootstrap(3, []string{"c-3"}, "second"), UnsavedReason: "there is no safety snapshot",
			},
		},
		"what is replaced is named as the cluster ID is recorded": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, answersRestored, func(o *Observed) { o.Volumes[1].Deleting = true }),
			RecordClusterID{ClusterID: isUp.ClusterID, KeptVolumes: []string{"c-0", "c-2"}},
		},
		"and whether it is saved": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, answersRestored, func(o *Observed) { o.Cluster.Unsaved = true }),
			RecordClusterID{ClusterID: isUp.ClusterID, KeptVolumes: []string{"c-0", "c-1", "c-2"}, Unsaved: true},
		},
		"but not with Skip, unless it is of another cluster": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, answersRestored, func(o *Observed) {
				o.Cluster.SafetySkipped, o.Volumes[2].ClusterID = true, 0xc0
			}),
			RecordClusterID{ClusterID: isUp.ClusterID, KeptVolumes: []string{"c-2"}},
		},
	})
}

func lastPod(o *Observed) *Pod { return &o.Pods[len(o.Pods)-1] }

// answersRestored has the restored member answer as a cluster of its own.
func answersRestored(o *Observed) {
	b, p := o.Cluster.Bootstrap, lastPod(o)
	ids, _ := IDs(b.Token, newView(*o).Cluster.peerURLs(b.Members))
	p.Permit = &member.Permit{Mode: member.ModeResume, ClusterID: member.ID(b.ClusterID), MemberID: member.ID(ids[p.Name])}
	a := answerOf(3)
	a.MemberID, a.ClusterID, a.Leader = ids[p.Name], b.ClusterID, ids[p.Name]
	o.Etcd = Etcd{
		Contact: ContactQuorum, ClusterID: b.ClusterID, Revision: 100, Answers: []Answer{a},
		Members: []Member{{ID: ids[p.Name], Name: p.Name, PeerURL: o.Cluster.PeerURL(p.Name), Published: true}},
	}
}

// TestCurrent tells what belongs to the cluster after a restore was canceled, and after it was not.
func TestCurrent(t *testing.T) {
	one, three := &Bootstrap{Incarnation: 1}, &Bootstrap{Incarnation: 3, Restore: "r"}
	for title, c := range map[string]struct {
		record             Record
		current, attempted []int
	}{
		"a first start":            {Record{Bootstrap: one}, []int{1, 2, 3, 4}, nil},
		"adopted":                  {Record{}, []int{0, 1, 2, 3, 4}, nil},
		"resumed":                  {Record{Bootstrap: one, Incarnations: Incarnations{Last: 3, FirstRestore: 2}}, []int{1, 4}, []int{2, 3}},
		"adopted and resumed":      {Record{Incarnations: Incarnations{Last: 3, FirstRestore: 2}}, []int{0, 1, 4}, []int{2, 3}},
		"a second attempt":         {Record{Bootstrap: three, Previous: &Record{}, Incarnations: Incarnations{Last: 3, FirstRestore: 2}}, []int{3, 4}, []int{2}},
		"restored at last":         {Record{Bootstrap: three, Incarnations: Incarnations{Last: 3, FirstRestore: 2}}, []int{3, 4}, []int{2}},
		"a first start after that": {Record{Bootstrap: &Bootstrap{Incarnation: 3}, Incarnations: Incarnations{Last: 3, FirstRestore: 2}}, []int{3, 4}, []int{2}},
	} {
		var current, attempted []int
		for n := range 5 {
			if c.record.Current(n) {
				current = append(current, n)
			}
			if c.record.abandoned(n) {
				attempted = append(attempted, n)
			}
		}
		if !slices.Equal(current, c.current) || !slices.Equal(attempted, c.attempted) {
			t.Errorf("%s: current %v, want %v; attempted %v, want %v", title, current, c.current, attempted, c.attempted)
		}
	}
}
