package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan/schedule"
)

// TestWindowAt opens and closes windows at the minute, also where one begins before the last one ends, or summer time does.
func TestWindowAt(t *testing.T) {
	at := func(text string) time.Time {
		parsed, err := time.Parse("2006-01-02 15:04:05", text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for title, c := range map[string]struct {
		expression, zone string
		stays            time.Duration
		now              string
		// ends is empty if it is closed.
		ends, next string
	}{
		"before it":              {"0 2 * * *", "", 2 * time.Hour, "2026-11-24 01:59:59", "", "2026-11-24 02:00:00"},
		"as it opens":            {"0 2 * * *", "", 2 * time.Hour, "2026-11-24 02:00:00", "2026-11-24 04:00:00", "2026-11-25 02:00:00"},
		"before it closes":       {"0 2 * * *", "", 2 * time.Hour, "2026-11-24 03:59:59", "2026-11-24 04:00:00", "2026-11-25 02:00:00"},
		"as it closes":           {"0 2 * * *", "", 2 * time.Hour, "2026-11-24 04:00:00", "", "2026-11-25 02:00:00"},
		"elsewhere":              {"0 2 * * *", "Asia/Tokyo", time.Hour, "2026-11-24 17:30:00", "2026-11-24 18:00:00", "2026-11-25 17:00:00"},
		"over midnight":          {"0 23 * * 0", "", 3 * time.Hour, "2026-11-23 01:00:00", "2026-11-23 02:00:00", "2026-11-29 23:00:00"},
		"open all the time":      {"0 * * * *", "", 2 * time.Hour, "2026-11-24 12:30:00", "2026-11-24 14:00:00", "2026-11-24 13:00:00"},
		"an hour that is no day": {"30 2 * * *", "Europe/Berlin", time.Hour, "2026-03-29 00:45:00", "", "2026-03-30 00:30:00"},
	} {
		t.Run(title, func(t *testing.T) {
			s, err := schedule.Parse(c.expression, c.zone, schedule.Fields{}, at(c.now))
			if err != nil {
				t.Fatal(err)
			}
			want := Window{Set: true, Open: c.ends != "", Next: at(c.next)}
			if want.Open {
				want.Ends = at(c.ends)
			}
			got := windowAt(s, c.stays, at(c.now))
			if got.Set != want.Set || got.Open != want.Open || !got.Ends.Equal(want.Ends) || !got.Next.Equal(want.Next) {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

// TestModes knows the mode of each feature by its name.
func TestModes(t *testing.T) {
	advised := map[string]Autopilot{
		FeatureNoSpace: {NoSpace: ModeAdvise}, FeatureDefragment: {Defragment: ModeAdvise}, FeatureDiverged: {Diverged: ModeAdvise},
		FeatureQuota: {Grow: ModeAdvise}, FeatureVolume: {Enlarge: ModeAdvise}, FeatureResources: {Resources: ModeAdvise},
		FeaturePatches: {Patches: ModeAdvise}, FeatureRelocation: {Relocation: ModeAdvise},
		FeatureAnomaly: {Anomaly: ModeAdvise}, FeatureTimers: {Timers: ModeAdvise},
	}
	for _, feature := range Features() {
		if a := advised[feature]; a.Mode(feature) != ModeAdvise {
			t.Errorf("%s: %+v", feature, a)
		}
	}
	if len(Features()) != len(advised) {
		t.Errorf("the features are %q, and not those that have a mode here", Features())
	}
	if (Autopilot{NoSpace: ModeOn}).Mode("another") != ModeOff {
		t.Error("a feature that does not exist is not off")
	}
	for rule, feature := range featureOf {
		if on := (Autopilot{NoSpace: ModeOn, Defragment: ModeOn, Diverged: ModeOn, Grow: ModeOn, Resources: ModeOn, Patches: ModeOn, Relocation: ModeOn}); on.Mode(feature) != ModeOn {
			t.Errorf("rule %s is of %q, which has no mode", rule, feature)
		}
	}
}

// TestFeatureOf wants each rule that is Auto Pilot's to be in the lists: under another name it would be nobody's.
func TestFeatureOf(t *testing.T) {
	for rule := range featureOf {
		if !slices.ContainsFunc(Rules(), func(listed string) bool { return strings.HasSuffix(listed, "/"+rule) }) {
			t.Errorf("rule %s is in no list", rule)
		}
	}
}

// TestAutopilotModes wants no feature to go further than the operator, the cluster or its own mode, and none while the cluster is paused.
func TestAutopilotModes(t *testing.T) {
	const off, advise, on = v1beta2.AutopilotOff, v1beta2.AutopilotAdvise, v1beta2.AutopilotOn
	of := func(mode v1beta2.AutopilotMode) *v1beta2.AutopilotFeature {
		return &v1beta2.AutopilotFeature{Mode: mode}
	}
	for title, c := range map[string]struct {
		operator v1beta2.AutopilotMode
		spec     v1beta2.EtcdClusterSpec
		want     Autopilot
	}{
		"nothing is said": {want: Autopilot{Anomaly: ModeOn, Timers: ModeAdvise, NoSpace: ModeOn, Compact: true, Defragment: ModeOn, Diverged: ModeOn, Grow: ModeOn, MaxQuota: 8 << 30, Patches: ModeOn, Relocation: ModeAdvise}},
		"by feature": {
			operator: on, spec: v1beta2.EtcdClusterSpec{Autopilot: &v1beta2.AutopilotSpec{
				Mode: on, NoSpace: &v1beta2.NoSpaceAutopilot{Compaction: v1beta2.CompactionForbidden}, Defragment: of(advise), DivergedMember: of(off), Patches: of(off),
				Relocation: of(on), Anomaly: of(off), Timers: &v1beta2.TimersAutopilot{Mode: off},
				Quota: &v1beta2.QuotaAutopilot{AutopilotFeature: *of(advise), Max: resource.NewQuantity(4<<30, resource.BinarySI)},
			}},
			want: Autopilot{Trusted: true, NoSpace: ModeOn, Defragment: ModeAdvise, Grow: ModeAdvise, MaxQuota: 4 << 30, Relocation: ModeOn},
		},
		"volumes": {
			spec: v1beta2.EtcdClusterSpec{Autopilot: &v1beta2.AutopilotSpec{
				Mode: advise, Volume: &v1beta2.VolumeAutopilot{Max: resource.NewQuantity(20<<30, resource.BinarySI)},
			}},
			want: Autopilot{
				Anomaly: ModeAdvise, Timers: ModeAdvise, NoSpace: ModeAdvise, Compact: true, Defragment: ModeAdvise, Diverged: ModeAdvise, Grow: ModeAdvise, MaxQuota: 8 << 30,
				Enlarge: ModeAdvise, MaxVolume: 20 << 30, Patches: ModeAdvise, Relocation: ModeAdvise,
			},
		},
		"volumes go no further than quotas": {
			spec: v1beta2.EtcdClusterSpec{Autopilot: &v1beta2.AutopilotSpec{
				Quota:  &v1beta2.QuotaAutopilot{AutopilotFeature: *of(advise)},
				Volume: &v1beta2.VolumeAutopilot{Max: resource.NewQuantity(20<<30, resource.BinarySI)},
			}},
			want: Autopilot{
				Anomaly: ModeOn, Timers: ModeAdvise, NoSpace: ModeOn, Compact: true, Defragment: ModeOn, Diverged: ModeOn, Patches: ModeOn, Relocation: ModeAdvise, Grow: ModeAdvise, MaxQuota: 8 << 30,
				Enlarge: ModeAdvise, MaxVolume: 20 << 30,
			},
		},
		"CPU and memory": {
			spec: v1beta2.EtcdClusterSpec{Autopilot: &v1beta2.AutopilotSpec{Resources: &v1beta2.ResourcesAutopilot{
				Min: &v1beta2.ResourceBounds{CPU: resource.NewMilliQuantity(500, resource.DecimalSI)},
				Max: &v1beta2.ResourceBounds{Memory: resource.NewQuantity(4<<30, resource.BinarySI)},
			}}},
			want: Autopilot{
				Anomaly: ModeOn, Timers: ModeAdvise, NoSpace: ModeOn, Compact: true, Defragment: ModeOn, Diverged: ModeOn, Grow: ModeOn, MaxQuota: 8 << 30,
				Patches: ModeOn, Relocation: ModeAdvise, Resources: ModeOn, MinResources: Resources{CPU: 500}, MaxResources: Resources{Memory: 4 << 30},
			},
		},
		"CPU and memory without bounds": {
			spec: v1beta2.EtcdClusterSpec{Autopilot: &v1beta2.AutopilotSpec{Resources: &v1beta2.ResourcesAutopilot{AutopilotFeature: *of(on)}}},
			want: Autopilot{Anomaly: ModeOn, Timers: ModeAdvise, NoSpace: ModeOn, Compact: true, Defragment: ModeOn, Diverged: ModeOn, Grow: ModeOn, MaxQuota: 8 << 30, Patches: ModeOn, Relocation: ModeAdvise},
		},
		"CPU and memory, advised": {
			spec: v1beta2.EtcdClusterSpec{Autopilot: &v1beta2.AutopilotSpec{Mode: advise, Resources: &v1beta2.ResourcesAutopilot{
				AutopilotFeature: *of(on), Max: &v1beta2.ResourceBounds{CPU: resource.NewQuantity(2, resource.DecimalSI)},
			}}},
			want: Autopilot{
				Anomaly: ModeAdvise, Timers: ModeAdvise, NoSpace: ModeAdvise, Compact: true, Defragment: ModeAdvise, Diverged: ModeAdvise, Grow: ModeAdvise, MaxQuota: 8 << 30,
				Patches: ModeAdvise, Relocation: ModeAdvise, Resources: ModeAdvise, MaxResources: Resources{CPU: 2000},
			},
		},
		"volumes without a maximum": {
			spec: v1beta2.EtcdClusterSpec{Autopilot: &v1beta2.AutopilotSpec{Volume: &v1beta2.VolumeAutopilot{}}},
			want: Autopilot{Anomaly: ModeOn, Timers: ModeAdvise, NoSpace: ModeOn, Compact: true, Defragment: ModeOn, Diverged: ModeOn, Grow: ModeOn, MaxQuota: 8 << 30, Patches: ModeOn, Relocation: ModeAdvise},
		},
		"the cluster's": {
			spec: v1beta2.EtcdClusterSpec{Autopilot: &v1beta2.AutopilotSpec{Mode: advise, Defragment: of(on), DivergedMember: of(off)}},
			want: Autopilot{Trusted: true, Anomaly: ModeAdvise, Timers: ModeAdvise, NoSpace: ModeAdvise, Compact: true, Defragment: ModeAdvise, Grow: ModeAdvise, MaxQuota: 8 << 30, Patches: ModeAdvise, Relocation: ModeAdvise},
		},
		"the operator's": {
			operator: advise, spec: v1beta2.EtcdClusterSpec{Autopilot: &v1beta2.AutopilotSpec{Mode: on, Defragment: of(on)}},
			want: Autopilot{
				Anomaly: ModeAdvise, Timers: ModeAdvise, NoSpace: ModeAdvise, Compact: true, Defragment: ModeAdvise, Diverged: ModeAdvise, Grow: ModeAdvise, MaxQuota: 8 << 30, Patches: ModeAdvise, Relocation: ModeAdvise,
			},
		},
		"the operator is off": {operator: off, want: Autopilot{Compact: true, MaxQuota: 8 << 30}},
		"a window that cannot be read": {
			operator: off, spec: v1beta2.EtcdClusterSpec{MaintenanceWindow: &v1beta2.MaintenanceWindow{Schedule: "never"}},
			want: Autopilot{Compact: true, MaxQuota: 8 << 30, Window: Window{Set: true}},
		},
		"paused": {spec: v1beta2.EtcdClusterSpec{Paused: true}},
	} {
		if got := AutopilotOf(&c.spec, c.operator, now); got != c.want {
			t.Errorf("%s: %+v, want %+v", title, got, c.want)
		}
	}
}
