package restore

import (
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan/retry"
)

// TestSavingPaused: the clients of a paused cluster go on writing, so that it is saved once it is not paused any more.
func TestSavingPaused(t *testing.T) {
	paused := func(o *Observed) { o.Cluster.Paused = true }
	saved := func(o *Observed) { o.Saved = true }
	table(t, map[string]row{
		"not saved yet": {saving(paused), Wait{Reason: v1beta2.ReasonPaused}},
		"saved before":  {saving(both(paused, saved)), SaveAgain{}},
	})
}

// TestSavingCrossed has what is saved belong to what is replaced, whatever happens between the two.
func TestSavingCrossed(t *testing.T) {
	record := func(r Record) func(*Observed) {
		return func(o *Observed) { o.Cluster.Record, o.Cluster.Held = &r, false }
	}
	off := failure.Problem{Reason: v1beta2.ReasonRestoreCalledOff}
	waits := func(o *Observed) { o.Run = &Run{Attempt: 2, Started: noon, RetryAfter: noon} }
	table(t, map[string]row{
		"the cluster has begun with it": {saving(record(Record{})), Wait{Reason: v1beta2.ReasonRestoreCalledOff}},
		"and goes on with it": {
			saving(record(Record{CancelDeclined: "no"})), Wait{Reason: v1beta2.ReasonRestoreContinues},
		},
		"and is up": {saving(record(Record{ClusterIDRecorded: true})), Wait{Reason: v1beta2.ReasonRestoring}},
		"and has done it": {
			saving(both(record(Record{Completed: true}), func(o *Observed) { o.Deleting = true })), Succeed{},
		},
		"and has gone back":              {saving(record(Record{Canceled: &off})), Fail{Reason: off.Reason}},
		"it is of another cluster ID":    {saving(func(o *Observed) { o.Saved, o.Outdated = true, true }), SaveAgain{}},
		"the pod of before is there yet": {saving(func(o *Observed) { o.OrphanedPods = []retry.Pod{{Deleting: true, Deadline: noon}} }), Wait{Reason: v1beta2.ReasonWaitingForPods}},
		"another one has stopped the members between two tries": {
			saving(both(waits, func(o *Observed) { o.Cluster.Held, o.Cluster.Unsaved, o.HasFinalizer = false, "not saved", true })),
			Replace{Unsaved: "not saved", Keep: true},
		},
	})
}

// TestLoses has nothing replaced that is on an emptyDir and may be nowhere else.
func TestLoses(t *testing.T) {
	volatile := func(o *Observed) { o.HasFinalizer, o.Cluster.Volatile = true, []string{"c-1", "c-2"} }
	saved := func(o *Observed) { o.Saved = true }
	stale := func(o *Observed) { o.Saved, o.Stale = true, true }
	skip := func(o *Observed) { o.Skip = true }
	asked := func(changes ...func(*Observed)) Observed {
		o := replacing(up, nil)
		both(changes...)(&o)
		return o
	}
	begun := func(o *Observed) { o.Cluster.Record = &Record{} }
	moved := func(o *Observed) { o.Cluster.Moved = true }
	table(t, map[string]row{
		"without a quorum":                     {saving(both(stale, volatile)), Fail{Reason: v1beta2.ReasonStaleBackup}},
		"without a quorum, and nobody minds":   {saving(both(stale, volatile, skip)), Replace{}},
		"without a quorum, of volumes":         {saving(both(stale, func(o *Observed) { o.HasFinalizer = true })), Replace{}},
		"with a quorum":                        {saving(both(saved, volatile)), Replace{}},
		"asked for, without a quorum":          {asked(stale, volatile), Fail{Reason: v1beta2.ReasonStaleBackup}},
		"asked for, and it was not there then": {asked(volatile), SaveAgain{}},
		"asked for, of what came up since":     {asked(volatile, moved), SaveAgain{}},
		"asked for, and nobody minds":          {asked(stale, volatile, skip), Wait{Reason: v1beta2.ReasonRestoring}},
		"asked for, with a quorum":             {asked(saved, volatile), Wait{Reason: v1beta2.ReasonRestoring}},
		"begun":                                {asked(stale, volatile, begun), Wait{Reason: v1beta2.ReasonRestoring}},
	})
}
