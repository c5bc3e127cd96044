package plan

import (
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// cramped is a cluster whose quota of 2Gi is to be raised, on volumes of 6Gi: a quota of 3Gi needs 7Gi.
func cramped(changes ...func(*Observed)) Observed {
	o := filled(1700<<20, func(o *Observed) {
		o.Cluster.VolumeSize, o.Cluster.SpecVolumeSize = 6*gibi, 6*gibi
		o.Cluster.Autopilot.Enlarge, o.Cluster.Autopilot.MaxVolume = ModeOn, 10*gibi
		for i := range o.Volumes {
			o.Volumes[i].Requested = 6 * gibi
		}
	})
	for _, change := range changes {
		o = edit(o, change)
	}
	return o
}

// TestLargerVolumes gives the members larger volumes before their quota is raised, and says why not where it does not.
func TestLargerVolumes(t *testing.T) {
	larger := Tuned{Volume: 7 * gibi, VolumeInsteadOf: 6 * gibi}
	claims := func(bytes int64) func(*Observed) {
		return func(o *Observed) {
			for i := range o.Volumes {
				o.Volumes[i].Requested = bytes
			}
		}
	}
	decided := func(o *Observed) { o.Cluster.Tuned, o.Cluster.VolumeSize = larger, 7*gibi }
	for title, c := range map[string]struct {
		o            Observed
		want         Tuned
		feature      string // of what is held, empty for nothing
		reason, says string
	}{
		"a higher quota needs them":     {cramped(), larger, "", "", ""},
		"there is no maximum":           {cramped(func(o *Observed) { o.Cluster.Autopilot.Enlarge = ModeOff }), Tuned{}, FeatureQuota, v1beta2.ReasonQuotaHeld, "spec.autopilot.volume.max"},
		"the maximum is too low":        {cramped(func(o *Observed) { o.Cluster.Autopilot.MaxVolume = 6 * gibi }), Tuned{}, FeatureQuota, v1beta2.ReasonQuotaHeld, "7168Mi or more"},
		"the mode is Advise":            {cramped(func(o *Observed) { o.Cluster.Autopilot.Enlarge = ModeAdvise }), Tuned{}, FeatureVolume, v1beta2.ReasonAutopilotAdvises, "7168Mi"},
		"the window is closed":          {cramped(func(o *Observed) { o.Cluster.Autopilot.Window.Set = true }), Tuned{}, FeatureVolume, v1beta2.ReasonWaitingForWindow, "window"},
		"others come first":             {cramped(func(o *Observed) { o.MayDisturb = false }), Tuned{}, FeatureVolume, v1beta2.ReasonWaitingForBrake, "fewer clusters"},
		"the quota is not to be raised": {cramped(func(o *Observed) { o.Cluster.Autopilot.Grow = ModeOff }), Tuned{}, "", "", ""},
		"the quota is at its maximum": {
			cramped(func(o *Observed) { o.Cluster.Autopilot.MaxQuota = 2 * gibi }), Tuned{}, FeatureQuota, v1beta2.ReasonQuotaHeld, "spec.autopilot.quota.max",
		},
		"one is being expanded": {
			cramped(func(o *Observed) { o.Volumes[0].Expanding = true }), Tuned{}, FeatureQuota, v1beta2.ReasonQuotaHeld, "c-0 is being expanded",
		},
		"a webhook has made the claims smaller": {
			cramped(decided, claims(7*gibi), func(o *Observed) { o.Volumes[1].Capped = 5 * gibi }), Tuned{}, FeatureQuota, v1beta2.ReasonQuotaHeld, "7168Mi or more",
		},
		"the claims have it": {
			cramped(decided, claims(7*gibi)), Tuned{Quota: 3 * gibi, InsteadOf: 2 * gibi, Volume: 7 * gibi, VolumeInsteadOf: 6 * gibi}, "", "", "",
		},
	} {
		t.Run(title, func(t *testing.T) {
			action, known := Decide(c.o)
			if got, _ := action.(CommitTuning); got.Tuned != c.want {
				t.Errorf("Next() = %#v, want %+v", action, c.want)
			}
			if c.feature == "" && len(known.Held) == 0 {
				return
			}
			if len(known.Held) != 1 || known.Held[0].Feature != c.feature || known.Held[0].Reason != c.reason || !strings.Contains(known.Held[0].Message, c.says) {
				t.Errorf("held: %+v, want %s %s: %s", known.Held, c.feature, c.reason, c.says)
			}
		})
	}
}

// TestLargerVolumesCount: of what one rule decides, the metrics count the larger volumes as those of volume, and the higher quota as that of quota.
func TestLargerVolumesCount(t *testing.T) {
	for want, o := range map[string]Observed{FeatureVolume: cramped(), FeatureQuota: filled(1700 << 20)} {
		if action, known := Decide(o); known.Feature != want || Explain(o).Assessment.Feature != want {
			t.Errorf("%#v counts for %q, and as it is explained for %q, not for %q", action, known.Feature, Explain(o).Assessment.Feature, want)
		}
	}
}

// TestLargerVolumesAreRecorded: each of the two counts until the spec has another one than it was raised from.
func TestLargerVolumesAreRecorded(t *testing.T) {
	o := cramped()
	o.Cluster.Record = o.Cluster.Apply(Next(o), o)
	both := Tuned{Quota: 3 * gibi, InsteadOf: 2 * gibi, Volume: 7 * gibi, VolumeInsteadOf: 6 * gibi}
	if got := o.Cluster.Tuned; got != (Tuned{Volume: 7 * gibi, VolumeInsteadOf: 6 * gibi}) {
		t.Fatalf("recorded: %+v", got)
	}
	o.Cluster.Tuned = both
	if got := o.Cluster.Apply(nil, o).Tuned; got != both {
		t.Errorf("it becomes %+v", got)
	}
	o.Cluster.SpecVolumeSize = 9 * gibi
	if got := o.Cluster.Apply(nil, o).Tuned; got != raised(3*gibi, 2*gibi) {
		t.Errorf("with another volume in the spec it becomes %+v", got)
	}
	o.Cluster.SpecVolumeSize, o.Cluster.SpecQuota = 6*gibi, 4*gibi
	if got := o.Cluster.Apply(nil, o).Tuned; got != (Tuned{Volume: 7 * gibi, VolumeInsteadOf: 6 * gibi}) {
		t.Errorf("with another quota in the spec it becomes %+v", got)
	}
}

// TestLargerVolumesAreCalledOff: a size that no member's volume has yet is given up once it may not be had any more, and one that a volume has
// is not, because volumes cannot shrink.
func TestLargerVolumesAreCalledOff(t *testing.T) {
	larger := Tuned{Volume: 7 * gibi, VolumeInsteadOf: 6 * gibi}
	tuned := func(o *Observed) { o.Cluster.Tuned, o.Cluster.VolumeSize = larger, 7*gibi }
	given := func(o *Observed) { o.Volumes[1].Requested = 7 * gibi }
	mode := func(m Mode) func(*Observed) { return func(o *Observed) { o.Cluster.Autopilot.Enlarge = m } }
	for title, c := range map[string]struct {
		o    Observed
		kept bool
	}{
		"nothing changes":           {cramped(tuned), true},
		"the mode is Off":           {cramped(tuned, mode(ModeOff)), false},
		"the mode is Advise":        {cramped(tuned, mode(ModeAdvise)), false},
		"the maximum is lower":      {cramped(tuned, func(o *Observed) { o.Cluster.Autopilot.MaxVolume = 6 * gibi }), false},
		"Off, and one has it":       {cramped(tuned, given, mode(ModeOff)), true},
		"Off, and a new one has it": {cramped(tuned, given, mode(ModeOff), func(o *Observed) { o.Volumes[1].MemberID = 0 }), false},
		"Off, and a foreign has it": {cramped(tuned, given, mode(ModeOff), func(o *Observed) { o.Volumes[1].Owned = false }), false},
		"paused":                    {cramped(tuned, mode(ModeOff), func(o *Observed) { o.Cluster.Paused = true }), true},
		"the spec is wrong":         {cramped(tuned, mode(ModeOff), func(o *Observed) { o.Cluster.Invalid = &failure.Problem{} }), true},
		"no volumes in the spec": {
			cramped(tuned, func(o *Observed) { o.Cluster.SpecVolumeSize, o.Cluster.VolumeSize, o.Cluster.Persistent = 0, 0, false }), true,
		},
	} {
		want := Tuned{}
		if c.kept {
			want = larger
		}
		if got := c.o.Cluster.Apply(nil, c.o).Tuned; got != want {
			t.Errorf("%s: %+v, want %+v", title, got, want)
		}
	}
}

// TestLargerVolumesAreAdopted: where the status was lost, the members' claims say what their size was raised to.
func TestLargerVolumesAreAdopted(t *testing.T) {
	given := func(o *Observed) { o.Volumes[1].Requested = 7 * gibi }
	want := Tuned{Volume: 7 * gibi, VolumeInsteadOf: 6 * gibi}
	for title, c := range map[string]struct {
		o    Observed
		want Tuned
	}{
		"nothing was raised":               {cramped(), Tuned{}},
		"one was raised":                   {cramped(given), want},
		"more than the maximum":            {cramped(given, func(o *Observed) { o.Cluster.Autopilot.MaxVolume = 6 * gibi }), Tuned{}},
		"the mode is Off":                  {cramped(given, func(o *Observed) { o.Cluster.Autopilot.Enlarge = ModeOff }), Tuned{}},
		"the spec has more":                {cramped(given, func(o *Observed) { o.Cluster.SpecVolumeSize = 9 * gibi }), Tuned{}},
		"the spec has no volumes":          {cramped(given, func(o *Observed) { o.Cluster.SpecVolumeSize = 0 }), Tuned{}},
		"it is no member's":                {cramped(given, func(o *Observed) { o.Volumes[1].MemberID = 0 }), Tuned{}},
		"it is not provably the cluster's": {cramped(given, func(o *Observed) { o.Volumes[1].Owned = false }), Tuned{}},
		"it is about to go":                {cramped(given, func(o *Observed) { o.Volumes[1].Deleting = true }), Tuned{}},
	} {
		if got := (Record{}).adopt(Adopt{ClusterID: c.o.Cluster.ID}, c.o).Tuned; got != c.want {
			t.Errorf("%s: %+v, want %+v", title, got, c.want)
		}
	}
}
