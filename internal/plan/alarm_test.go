package plan

import (
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestAlarms is about whom an alarm is blamed on: each server tells those of all members.
func TestAlarms(t *testing.T) {
	all := func(alarms ...Alarm) Observed {
		return edit(healthyCluster(3, true), func(o *Observed) {
			for i := range o.Etcd.Answers {
				o.Etcd.Answers[i].Alarms = alarms
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
			[]string{"names c-2 (00000000000000a2)", "hashkv", "Only if c-2 alone differs"},
			[]string{"c-0", "c-1"},
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
			all(Alarm{AlarmNoSpace, id(1)}), v1beta2.ReasonNoSpace,
			[]string{"database of c-1", "quotaBackendBytes", "defrag", "alarm disarm"},
			[]string{"c-0", "c-2"},
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
	o.Etcd.Answers[0].Alarms = []Alarm{{AlarmCorrupt, id(1)}}
	if got := Describe(Next(o)); got.Reason != v1beta2.ReasonCorrupt {
		t.Errorf("with one: %+v", got)
	}
}
