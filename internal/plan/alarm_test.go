package plan

import (
	"slices"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// alarmed has every member tell these alarms.
func alarmed(o Observed, alarms ...Alarm) Observed {
	return edit(o, func(o *Observed) {
		for i := range o.Etcd.Answers {
			o.Etcd.Answers[i].Alarms = alarms
		}
	})
}

// TestAlarms is about whom an alarm is blamed on: each server tells those of all members.
func TestAlarms(t *testing.T) {
	const quota = 2 << 30
	all := func(alarms ...Alarm) Observed { return alarmed(healthyCluster(3, true), alarms...) }
	full := func(size, inUse, quota int64, members ...int) Observed {
		var alarms []Alarm
		for _, i := range members {
			alarms = append(alarms, Alarm{AlarmNoSpace, id(i)})
		}
		return edit(all(alarms...), func(o *Observed) {
			for _, i := range members {
				o.Etcd.Answers[i].DBSize, o.Etcd.Answers[i].DBSizeInUse, o.Etcd.Answers[i].Quota = size, inUse, quota
			}
		})
	}
	for title, c := range map[string]struct {
		observed Observed
		reason   string
		says     []string
		never    []string
	}{
		"the member that the alarm names": {
			all(Alarm{AlarmCorrupt, id(2)}), v1beta2.ReasonCorrupt,
			[]string{"names c-2 (00000000000000a2)", "hashkv", "Only if c-2 alone differs from two or more others that agree"},
			[]string{"c-0", "c-1", "Auto Pilot"},
		},
		"two members: no one can be told to be wrong alone": {
			all(Alarm{AlarmCorrupt, id(1)}, Alarm{AlarmCorrupt, id(2)}), v1beta2.ReasonCorrupt,
			[]string{"names c-1 (00000000000000a1), c-2 (00000000000000a2)", "hashkv", "Restore a backup if no majority agrees"},
			[]string{"c-0", "delete"},
		},
		"one of two: there is no majority that agrees": {
			alarmed(healthyCluster(2, true), Alarm{AlarmCorrupt, id(1)}), v1beta2.ReasonCorrupt,
			[]string{"names c-1 (00000000000000a1)", "hashkv", "Restore a backup if no majority agrees"},
			[]string{"c-0", "delete"},
		},
		"Auto Pilot looks for the member that is wrong": {
			edit(all(Alarm{AlarmCorrupt, id(2)}), func(o *Observed) { o.Cluster.Autopilot.Diverged = ModeOn }), v1beta2.ReasonCorrupt,
			[]string{"names c-2", "Auto Pilot replaces a member that a majority proves wrong, and disarms the alarm, unless status.autopilot.held", "by hand"},
			nil,
		},
		"nobody, where etcd cannot tell": {
			all(Alarm{AlarmCorrupt, 0}), v1beta2.ReasonCorrupt,
			[]string{"cannot tell which", "hashkv"},
			[]string{"c-0", "c-1", "c-2", "delete"},
		},
		"one that has left": {
			all(Alarm{AlarmCorrupt, 7}), v1beta2.ReasonCorrupt,
			[]string{"names 0000000000000007, which is no longer a member", "hashkv", "disarm"},
			[]string{"c-0", "delete"},
		},
		"no space": {
			full(quota, quota/2, quota, 1), v1beta2.ReasonNoSpace,
			[]string{"At its quota: c-1 (2048Mi of 2048Mi, 50% of it free)", "quotaBackendBytes", "defrag", "alarm disarm"},
			[]string{"c-0", "c-2", "room again"},
		},
		"no space in two members": {
			full(quota-1, quota-1, quota, 1, 2), v1beta2.ReasonNoSpace,
			[]string{"c-1 (2048Mi of 2048Mi, 0% of it free), c-2 (2048Mi of 2048Mi, 0% of it free)", "quotaBackendBytes"},
			[]string{"c-0"},
		},
		"etcd 3.5 does not tell its quota": {
			full(quota, quota, 0, 1), v1beta2.ReasonNoSpace, []string{"c-1 (2048Mi, 0% of it free)", "quotaBackendBytes"}, []string{"room again"},
		},
		"etcd 3.5 has the quota of the spec": {
			edit(full(quota-1, quota-1, 0, 1), func(o *Observed) { o.Cluster.Quota = 2 * quota }), v1beta2.ReasonNoSpace,
			[]string{"c-1 (2048Mi of 4096Mi", "There is room again: run etcdctl alarm disarm"},
			[]string{"quotaBackendBytes"},
		},
		"there is room again": {
			full(quota-1, quota-1, 2*quota, 1), v1beta2.ReasonNoSpace,
			[]string{"c-1 (2048Mi of 4096Mi", "There is room again: run etcdctl alarm disarm"},
			[]string{"quotaBackendBytes"},
		},
		"no space in one that does not answer": {
			edit(full(quota, quota, quota, 1), func(o *Observed) { o.Etcd.Answers = slices.Delete(o.Etcd.Answers, 1, 2) }), v1beta2.ReasonMemberDown,
			nil, nil,
		},
		"corrupt data before no space": {
			all(Alarm{AlarmNoSpace, id(1)}, Alarm{AlarmCorrupt, id(2)}), v1beta2.ReasonCorrupt, []string{"c-2"}, []string{"c-1"},
		},
		"a word that etcd has not yet": {all(Alarm{"WHATEVER", id(1)}), v1beta2.ReasonSpecReached, nil, nil},
		"who follows nobody may be behind": {
			edit(healthyCluster(3, true), func(o *Observed) {
				o.Etcd.Answers[2].Alarms, o.Etcd.Answers[2].Leader = []Alarm{{AlarmNoSpace, id(1)}}, 0
			}), v1beta2.ReasonMemberDown, nil, []string{"NOSPACE"},
		},
	} {
		t.Run(title, func(t *testing.T) {
			got := Describe(Next(c.observed))
			if got.Reason != c.reason {
				t.Errorf("Next() = %+v, want reason %s", got, c.reason)
			}
			for _, part := range c.says {
				if !strings.Contains(got.Message, part) {
					t.Errorf("it does not say %q: %s", part, got.Message)
				}
			}
			for _, part := range c.never {
				if strings.Contains(got.Message, part) {
					t.Errorf("it says %q: %s", part, got.Message)
				}
			}
		})
	}
}

// TestAlarmKeepsWhatARestoreReplaced: as long as the restored data is in doubt the old data is not deleted, with Skip neither.
func TestAlarmKeepsWhatARestoreReplaced(t *testing.T) {
	o := edit(healthyCluster(3, true), func(o *Observed) {
		b := *o.Cluster.Bootstrap
		b.Incarnation, b.Restore = 2, "r"
		o.Cluster.Bootstrap, o.Cluster.SafetySkipped, o.Cluster.ReplacedID = &b, true, 1
		for i := range o.Pods {
			o.Pods[i].Incarnation, o.Volumes[i].Incarnation = 2, 2
		}
		o.Volumes = append(o.Volumes, Volume{Name: "c-7", UID: "old", Owned: true, Incarnation: 1, ClusterID: 1, MemberID: 1})
	})
	if got := Next(o); got != (DeleteVolume{Name: "c-7", UID: "old", Why: v1beta2.ReasonRestored}) {
		t.Fatalf("without an alarm: %#v", got)
	}
	if got := Describe(Next(alarmed(o, Alarm{AlarmCorrupt, id(1)}))); got.Reason != v1beta2.ReasonCorrupt {
		t.Errorf("with one: %+v", got)
	}
}

// TestConfirmedAlarms are those that most of the voters know of who answer and follow a leader.
func TestConfirmedAlarms(t *testing.T) {
	full, corrupt := Alarm{AlarmNoSpace, id(1)}, Alarm{AlarmCorrupt, id(2)}
	told := func(size int, alarms ...[]Alarm) Observed {
		return edit(healthyCluster(size, true), func(o *Observed) {
			for i := range alarms {
				o.Etcd.Answers[i].Alarms = alarms[i]
			}
		})
	}
	one := []Alarm{full}
	for title, c := range map[string]struct {
		o    Observed
		want []Alarm
	}{
		"none":                                 {told(3), nil},
		"all, the most severe one first":       {told(3, []Alarm{full, corrupt}, []Alarm{corrupt, full}, []Alarm{full, corrupt}), []Alarm{corrupt, full}},
		"one of three makes it up":             {told(3, []Alarm{corrupt}), nil},
		"one says it often":                    {told(3, []Alarm{full, full, full}), nil},
		"two of five make it up":               {told(5, one, one), nil},
		"one of three is behind":               {told(3, one, one), one},
		"two blame different members":          {told(3, []Alarm{{AlarmCorrupt, id(0)}}, []Alarm{{AlarmCorrupt, id(1)}}), nil},
		"one of two, which may be a liar":      {told(2, one), nil},
		"the only one":                         {told(1, one), one},
		"two of the two that answer, of three": {edit(told(3, one, one), func(o *Observed) { o.Etcd.Answers = o.Etcd.Answers[:2] }), one},
		"one that follows nobody is not counted": {
			edit(told(3, one, one), func(o *Observed) { o.Etcd.Answers[2].Leader, o.Etcd.Answers[1].Alarms = 0, one }), one,
		},
		"without a quorum": {edit(told(3, one, one, one), func(o *Observed) { o.Etcd.Contact = ContactMinority }), nil},
		"a learner's word": {edit(withLearner(told(3), 3), func(o *Observed) {
			o.Etcd.Answers = append(o.Etcd.Answers, Answer{Pod: name(3), PodUID: "p3", MemberID: id(3), ClusterID: recordedID, Leader: id(0), Learner: true, Alarms: one})
		}), nil},
	} {
		if got := Assess(c.o).Alarms; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", title, got, c.want)
		}
	}
}
