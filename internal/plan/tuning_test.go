package plan

import (
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

const gibi = 1 << 30

// filled is a cluster on Auto Pilot with the quota of etcd's default, of which that much is in use in member 1's database.
func filled(inUse int64, changes ...func(*Observed)) Observed {
	o := edit(healthyCluster(3, true), func(o *Observed) {
		o.Cluster.Autopilot.Grow, o.Cluster.Autopilot.MaxQuota, o.MayDisturb = ModeOn, defaultMaxQuota, true
		o.Cluster.Quota, o.Cluster.SpecQuota = 2*gibi, 2*gibi
		for i := range o.Etcd.Answers {
			o.Etcd.Answers[i].Quota, o.Etcd.Answers[i].DBSize, o.Etcd.Answers[i].DBSizeInUse = 2*gibi, 2*gibi, gibi
		}
		o.Etcd.Answers[1].DBSizeInUse = inUse
		for i := range o.Volumes {
			o.Volumes[i].Requested = 8 * gibi
		}
		o.Cluster.VolumeSize = 8 * gibi
	})
	for _, change := range changes {
		o = edit(o, change)
	}
	return o
}

// raised is a quota instead of the spec's.
func raised(quota, insteadOf int64) Tuned { return Tuned{Quota: quota, InsteadOf: insteadOf} }

// exhausted is a cluster that takes no writes, and in which no room can be made.
func exhausted(changes ...func(*Observed)) Observed {
	return edit(full(func(o *Observed) { o.Etcd.PastRevision, o.Etcd.Databases[1].Compacted = 100, 100 }), append(changes, func(o *Observed) {
		o.Cluster.Autopilot.Grow, o.Cluster.Autopilot.MaxQuota = ModeOn, defaultMaxQuota
		o.Cluster.Quota, o.Cluster.SpecQuota = o.Etcd.Answers[0].Quota, o.Etcd.Answers[0].Quota
		for i := range o.Volumes {
			o.Volumes[i].Requested = 8 * gibi
		}
		o.Cluster.VolumeSize = 8 * gibi
	})...)
}

// TestGrowQuota raises the quota once more than four fifths of it are in use, and says why not where it does not.
func TestGrowQuota(t *testing.T) {
	const much = 1700 << 20
	more := raised(1504<<20, 1000<<20)
	young := func(o *Observed) { o.Etcd.PastRevision, o.Etcd.Databases[1].Compacted = 90, 90 }
	holey := func(o *Observed) { sized(o, 1, 1000, 850) }
	tuned := func(quota int64) func(*Observed) {
		return func(o *Observed) {
			o.Cluster.Quota, o.Cluster.Tuned = quota, raised(quota, 2*gibi)
			for i := range o.Etcd.Answers {
				o.Etcd.Answers[i].Quota, o.Etcd.Answers[i].DBSizeInUse = quota, quota/10*9
			}
		}
	}
	for title, c := range map[string]struct {
		o    Observed
		want Tuned // zero for nothing
		// held is the reason, empty for none.
		held, says string
	}{
		"four fifths are not in use": {filled(1600 << 20), Tuned{}, "", ""},
		"more than that are":         {filled(much), raised(3*gibi, 2*gibi), "", ""},
		"it was raised before": {
			filled(much, tuned(3*gibi), func(o *Observed) { // of 4.5Gi twice and 1Gi
				for i := range o.Volumes {
					o.Volumes[i].Requested = 10 * gibi
				}
			}), raised(4608<<20, 2*gibi), "", "",
		},
		"volumes have no room": {
			filled(much, func(o *Observed) { o.Volumes[2].Requested = 6 * gibi }), Tuned{}, v1beta2.ReasonQuotaHeld, "7168Mi or more",
		},
		"a volume has not grown yet": {
			filled(much, func(o *Observed) { o.Volumes[1].Expanding = true }), Tuned{}, v1beta2.ReasonQuotaHeld, "c-1 is being expanded",
		},
		"pods have no room": {
			filled(much, func(o *Observed) {
				for i := range o.Pods {
					o.Pods[i].Persistent, o.Pods[i].StorageLimit = false, 4*gibi
				}
				o.Cluster.Persistent, o.Volumes = false, nil
			}), Tuned{}, v1beta2.ReasonQuotaHeld, "ephemeral-storage",
		},
		"nobody knows how much room pods have": {
			filled(much, func(o *Observed) {
				for i := range o.Pods {
					o.Pods[i].Persistent = false
				}
				o.Cluster.Persistent, o.Volumes = false, nil
			}), Tuned{}, v1beta2.ReasonQuotaHeld, "ephemeral-storage",
		},
		"it is at the maximum": {
			filled(much, func(o *Observed) { o.Cluster.Autopilot.MaxQuota = 2 * gibi }), Tuned{}, v1beta2.ReasonQuotaHeld, "spec.autopilot.quota.max",
		},
		"the maximum is near": {
			filled(much, func(o *Observed) { o.Cluster.Autopilot.MaxQuota = 2500 << 20 }), raised(2500<<20, 2*gibi), "", "",
		},
		"there is no limit":    {filled(much, func(o *Observed) { o.Cluster.Quota, o.Cluster.SpecQuota = 0, 0 }), Tuned{}, "", ""},
		"the mode is Off":      {filled(much, func(o *Observed) { o.Cluster.Autopilot.Grow = ModeOff }), Tuned{}, "", ""},
		"the mode is Advise":   {filled(much, func(o *Observed) { o.Cluster.Autopilot.Grow = ModeAdvise }), Tuned{}, v1beta2.ReasonAutopilotAdvises, "3072Mi"},
		"the window is closed": {filled(much, func(o *Observed) { o.Cluster.Autopilot.Window.Set = true }), Tuned{}, v1beta2.ReasonWaitingForWindow, "window"},
		"others come first":    {filled(much, func(o *Observed) { o.MayDisturb = false }), Tuned{}, v1beta2.ReasonWaitingForBrake, "fewer clusters"},
		"a voter is down":      {silent(filled(much), 2), Tuned{}, "", ""},
		"there is no space, and nothing is known of it yet": {alarmed(filled(much), Alarm{AlarmNoSpace, id(1)}), Tuned{}, "", ""},
		"there is no space, and no room to be made":         {exhausted(), more, "", ""},
		"there is no space, and the history is too young": {
			exhausted(young, func(o *Observed) { o.Cluster.Autopilot.Window.Set, o.MayDisturb = true, false }), more, "", "",
		},
		"there is no space, and nobody knows how old the history is": {
			exhausted(young, func(o *Observed) { o.Etcd.PastRevision, o.Etcd.Databases[1].Compacted = 0, 0 }), Tuned{}, "", "",
		},
		"there is no space, the history is too young, and a snapshot is being taken": {
			exhausted(young, func(o *Observed) { o.Cluster.BackingUp = "EtcdBackup nightly" }), Tuned{}, "", "",
		},
		"there is no space, and a snapshot is read": { // there is room to be made once it is
			exhausted(holey, inDatabase(1, func(d *Database) { d.Copied = true })), Tuned{}, "", "",
		},
		"there is no space, and room is only advised": {
			exhausted(young, holey, func(o *Observed) { o.Cluster.Autopilot.NoSpace = ModeAdvise }), Tuned{}, "", "",
		},
		"there is no space, and the window is closed": {
			exhausted(func(o *Observed) { o.Cluster.Autopilot.Window.Set, o.MayDisturb = true, false }), more, "", "",
		},
		"there is no space, and data differs": {alarmed(exhausted(), Alarm{AlarmNoSpace, id(1)}, Alarm{AlarmCorrupt, id(1)}), Tuned{}, "", ""},
		"a member has another quota": {
			filled(much, func(o *Observed) { o.Etcd.Answers[2].Quota = gibi }), Tuned{}, "", "",
		},
	} {
		t.Run(title, func(t *testing.T) {
			action, known := Decide(c.o)
			got, _ := action.(CommitTuning)
			if got.Tuned != c.want {
				t.Errorf("Next() = %#v, want %+v", action, c.want)
			}
			held := ""
			for _, h := range known.Held {
				if h.Feature == FeatureQuota {
					held = h.Reason + " " + h.Message
				}
			}
			if !strings.HasPrefix(held, c.held) || !strings.Contains(held, c.says) || c.held == "" && held != "" {
				t.Errorf("held: %q, want %s: %s", held, c.held, c.says)
			}
		})
	}
}

// TestTunedIsAdopted: where the status was lost, the members say what their quota was raised to, or their pods do.
func TestTunedIsAdopted(t *testing.T) {
	adopted := func(change func(*Observed)) Tuned {
		o := edit(filled(100<<20), func(o *Observed) { o.Etcd.Answers[1].Quota = 3 * gibi }, change)
		return Record{}.adopt(Adopt{ClusterID: o.Cluster.ID}, o).Tuned
	}
	// old is a cluster of members before etcd 3.6, which do not tell, and of whose pods one was started with more.
	old := func(changes ...func(*Observed)) func(*Observed) {
		return func(o *Observed) {
			for i := range o.Etcd.Answers {
				o.Etcd.Answers[i].Quota, o.Pods[i].Quota = 0, 2*gibi
			}
			o.Pods[1].Quota = 3 * gibi
			for _, change := range changes {
				change(o)
			}
		}
	}
	want := raised(3*gibi, 2*gibi)
	for title, c := range map[string]struct {
		change func(*Observed)
		want   Tuned
	}{
		"a pod says it":                     {old(), want},
		"a pod says it, and nobody answers": {old(func(o *Observed) { o.Etcd.Answers = nil }), want},
		"a pod says more than the maximum":  {old(func(o *Observed) { o.Cluster.Autopilot.MaxQuota = 2560 << 20 }), raised(2560<<20, 2*gibi)},
		"a pod never started etcd":          {old(func(o *Observed) { o.Pods[1].Permit = nil }), Tuned{}},
		"a pod is of another cluster":       {old(func(o *Observed) { o.Pods[1].Permit = &member.Permit{ClusterID: 0xbad} }), Tuned{}},
		"a pod is about to go":              {old(func(o *Observed) { o.Pods[1].Deleting = true }), Tuned{}},
		"one was raised":                    {func(*Observed) {}, want},
		"no more than the maximum":          {func(o *Observed) { o.Cluster.Autopilot.MaxQuota = 2560 << 20 }, raised(2560<<20, 2*gibi)},
		"the spec has more":                 {func(o *Observed) { o.Cluster.SpecQuota = 4 * gibi }, Tuned{}},
		"the mode is Off":                   {func(o *Observed) { o.Cluster.Autopilot.Grow = ModeOff }, Tuned{}},
		"it is of another cluster":          {func(o *Observed) { o.Etcd.Answers[1].ClusterID = 0xbad }, Tuned{}},
		"no member tells its quota":         {func(o *Observed) { o.Etcd.Answers[1].Quota = 0 }, Tuned{}},
	} {
		if got := adopted(c.change); got != c.want {
			t.Errorf("%s: %+v, want %+v", title, got, c.want)
		}
	}
}

// TestTunedIsRecorded keeps the quota until the spec has another one than it was raised from.
func TestTunedIsRecorded(t *testing.T) {
	o := filled(1700 << 20)
	r := o.Cluster.Apply(Next(o), o)
	if r.Tuned != raised(3*gibi, 2*gibi) {
		t.Fatalf("recorded is %+v", r.Tuned)
	}
	o.Cluster.Record = r
	off := edit(o, func(o *Observed) { o.Cluster.Autopilot = Autopilot{} })
	if kept := off.Cluster.Apply(nil, off); kept.Tuned != r.Tuned {
		t.Errorf("with Auto Pilot off it is %+v", kept.Tuned)
	}
	edited := edit(o, func(o *Observed) { o.Cluster.SpecQuota = 4 * gibi })
	if dropped := edited.Cluster.Apply(nil, edited); dropped.Tuned != (Tuned{}) {
		t.Errorf("with another quota in the spec it is %+v", dropped.Tuned)
	}
	broken := edit(o, func(o *Observed) { o.Cluster.SpecQuota, o.Cluster.Invalid = 2<<40, &failure.Problem{} })
	if kept := broken.Cluster.Apply(nil, broken); kept.Tuned != r.Tuned {
		t.Errorf("while the spec is wrong it is %+v", kept.Tuned)
	}
	restore := CommitBootstrap{Bootstrap: Bootstrap{Restore: "restore", Incarnation: 2}}
	if kept := o.Cluster.Apply(restore, o); kept.Tuned != r.Tuned || kept.Previous == nil {
		t.Errorf("after a restore it is %+v", kept.Tuned)
	}
}
