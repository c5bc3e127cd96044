package restore

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

func TestReplacing(t *testing.T) {
	paused, doing, going, other, moved := up, up, up, up, up
	other.Other, moved.Moved = true, true
	paused.Paused, doing.Doing, going.Deleting = true, "one learner", true
	stranded := doing
	stranded.Stranded = true
	empty := paused
	empty.Held = false
	again := up
	again.Again = true
	old := func(c Cluster) Observed {
		o := replacing(c, nil)
		o.Saved, o.SavedAt = true, noon.Add(-plan.SafetyAge-time.Second)
		return o
	}
	table(t, map[string]row{
		"not taken up":        {replacing(doing, nil), Wait{Reason: v1beta2.ReasonRestoring}},
		"taken up":            {replacing(doing, &Record{}), Wait{Reason: v1beta2.ReasonRestoring}},
		"paused":              {replacing(paused, nil), SaveAgain{}},
		"paused, and empty":   {replacing(empty, nil), Wait{Reason: v1beta2.ReasonPaused}},
		"paused too late":     {replacing(paused, &Record{}), Wait{Reason: v1beta2.ReasonPaused}},
		"done":                {replacing(up, &Record{Completed: true}), Succeed{}},
		"done, and gone":      {replacing(going, &Record{Completed: true}), Succeed{}},
		"done, and replaced":  {replacing(up, &Record{Completed: true, Superseded: true}), Succeed{}},
		"superseded":          {replacing(up, &Record{Superseded: true}), Fail{Reason: v1beta2.ReasonRestoreSuperseded}},
		"the cluster goes":    {replacing(going, &Record{}), Fail{Reason: v1beta2.ReasonClusterDeleted}},
		"the cluster is gone": {replacing(Cluster{}, nil), Fail{Reason: v1beta2.ReasonClusterDeleted}},
		"nowhere to go":       {replacing(stranded, &Record{Failure: &full}), Blocked{Reason: v1beta2.ReasonRestoreFailed}},
		"deleted, and nowhere to go": {
			deleted(replacing(stranded, &Record{CancelDeclined: "no"})), Blocked{Reason: v1beta2.ReasonRestoreFailed},
		},
		"deleted, and going on": {
			deleted(replacing(doing, &Record{CancelDeclined: "no", Failure: &full})), Wait{Reason: v1beta2.ReasonRestoreContinues},
		},
		"gone on": {
			deleted(replacing(doing, &Record{CancelDeclined: "no", ClusterIDRecorded: true})), Wait{Reason: v1beta2.ReasonRestoring},
		},
		"deleted meanwhile":                  {deleted(replacing(doing, &Record{})), Wait{Reason: v1beta2.ReasonRestoreCalledOff}},
		"deleted too late":                   {deleted(replacing(doing, &Record{ClusterIDRecorded: true})), Wait{Reason: v1beta2.ReasonRestoring}},
		"deleted in time":                    {deleted(replacing(doing, nil)), Fail{Reason: v1beta2.ReasonRestoreCalledOff}},
		"called off":                         {replacing(up, &Record{Canceled: &damaged, Superseded: true}), Fail{Reason: damaged.Reason}},
		"it cannot restore":                  {replacing(doing, &Record{Failure: &full}), Wait{Reason: full.Reason}},
		"another cluster":                    {replacing(other, nil), Fail{Reason: v1beta2.ReasonClusterReplaced}},
		"saved again":                        {replacing(moved, nil), SaveAgain{}},
		"saved long ago, and about to begin": {old(again), SaveAgain{}},
		"saved long ago, and kept waiting":   {old(up), Wait{Reason: v1beta2.ReasonRestoring}},
		"saved just now":                     {replacing(again, nil), Wait{Reason: v1beta2.ReasonRestoring}},
		"taken up, and moved":                {replacing(moved, &Record{}), Wait{Reason: v1beta2.ReasonRestoring}},
		"a later one": {
			func() Observed { o := replacing(up, nil); o.Newer = "r"; return o }(), Fail{Reason: v1beta2.ReasonRestoreSuperseded},
		},
		"kept": {replacing(up, &Record{Completed: true, Kept: []string{"c-0"}}), Succeed{Kept: []string{"c-0"}}},
	})
	for want, r := range map[string]*Record{"one learner": {}, "to start again": nil} {
		if got := Describe(Next(replacing(doing, r))).Message; !strings.Contains(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

func deleted(o Observed) Observed {
	o.Deleting = true
	return o
}
