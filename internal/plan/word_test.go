package plan

import (
	"reflect"
	"testing"
)

// says has a server say which version it is.
func says(i int, version string) func(*Observed) {
	return func(o *Observed) { o.Etcd.Answers[i].Version = version }
}

// lowering has servers say that etcd's downgrade to 3.5 is enabled.
func lowering(members ...int) func(*Observed) {
	return func(o *Observed) {
		for _, i := range members {
			o.Etcd.Answers[i].Downgrade = "3.5"
		}
	}
}

// have has members run a version, as their pods and their servers say.
func have(version string, members ...int) func(*Observed) {
	return func(o *Observed) {
		for _, i := range members {
			o.Pods[i].Version, o.Volumes[i].Version, o.Etcd.Answers[i].Version = version, version, version
		}
	}
}

// TestOneServersWord has one server say what is not so: nothing is decided, and nothing recorded, but what would be anyway.
func TestOneServersWord(t *testing.T) {
	due := edit(healthyCluster(3, true), to("3.6.17"))
	five := edit(healthyCluster(3, false), func(o *Observed) { o.Cluster.Size = 5 })
	old := edit(healthyCluster(3, true), to("3.5.35"), have("3.5.35", 0, 1, 2))
	for title, c := range map[string]struct {
		o   Observed
		lie func(*Observed)
	}{
		"a version that is too old":                 {due, says(1, "3.4.0")},
		"a version that none is":                    {due, says(1, "")},
		"a version that is too new":                 {due, says(1, "3.9.0")},
		"an earlier patch release, as others join":  {five, says(1, "3.6.0")},
		"an earlier version that the cluster ran":   {edit(five, func(o *Observed) { o.Cluster.LowestVersion = "3.6.15" }), says(1, "3.6.15")},
		"a downgrade, as an update is due":          {due, lowering(1)},
		"a downgrade, as others join":               {five, lowering(1)},
		"a downgrade, as one of two that answer":    {silent(due, 2), lowering(1)},
		"a downgrade of a cluster of 3.5, and 3.6":  {edit(old, to("3.5.36")), func(o *Observed) { says(2, "3.6.16")(o); lowering(2)(o) }},
		"a downgrade, as does one that is replaced": {quarantined(due, 1), lowering(0, 1)},
	} {
		lied := edit(c.o, c.lie)
		want, got := Next(c.o), Next(lied)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: Next() = %#v\nwithout it %#v", title, got, want)
		}
		if got, want := Assess(lied).Versions, Assess(c.o).Versions; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: versions %+v, without it %+v", title, got, want)
		}
		if got, want := lied.Cluster.Apply(got, lied).LowestVersion, c.o.Cluster.Apply(want, c.o).LowestVersion; got != want || got == "" && len(c.o.Etcd.Answers) == 3 {
			t.Errorf("%s: %q is recorded, without it %q", title, got, want)
		}
	}
}

// TestDowngradeIsTold says on whose word a downgrade is canceled.
func TestDowngradeIsTold(t *testing.T) {
	due := edit(healthyCluster(3, true), to("3.6.17"))
	last := edit(withLearner(edit(healthyCluster(3, true), to("3.5.35"), have("3.5.35", 0, 1)), 3), func(o *Observed) { o.Cluster.Size, o.Pods[3].Version = 4, "3.5.35" })
	for title, c := range map[string]struct {
		o    Observed
		want bool
	}{
		"two of three say it":                           {edit(due, lowering(0, 1)), true},
		"the last one on 3.6, and a learner is to join": {edit(last, lowering(2)), true},
		"the last one, whose container is about to end": {
			edit(last, lowering(2), func(o *Observed) { o.Pods[2].Version, o.Pods[2].Restarting = "3.5.35", true }), true,
		},
		"one that says it runs 3.6, and does not": {edit(last, have("3.5.35", 2), says(2, "3.6.16"), lowering(2)), false},
		"they say different ones":                 {edit(due, lowering(0), func(o *Observed) { o.Etcd.Answers[1].Downgrade = "3.4" }), false},
	} {
		if got := Next(c.o); reflect.DeepEqual(got, CancelDowngrade{Version: "3.5"}) != c.want {
			t.Errorf("%s: Next() = %#v", title, got)
		}
	}
}

// TestRuns says whose word about a version counts.
func TestRuns(t *testing.T) {
	updated := edit(healthyCluster(3, true), to("3.6.17"), have("3.6.17", 0, 1, 2), func(o *Observed) { o.Cluster.LowestVersion = "3.6.16" })
	restarting := func(o *Observed) { o.Pods[2].Restarting = true }
	unnamed := func(o *Observed) { o.Pods[2].Version = "" }
	for title, c := range map[string]struct {
		o    Observed
		want string
	}{
		"its pod's":                       {updated, "3.6.17"},
		"not one that ran before":         {edit(updated, says(2, "3.6.16")), "3.6.17"},
		"but until its container is gone": {edit(updated, restarting, says(2, "3.6.16")), "3.6.16"},
		"if that is one which was given":  {edit(updated, restarting, says(2, "3.4.0")), "3.6.17"},
		"or can be, if status was lost":   {edit(updated, restarting, says(2, "3.5.35"), func(o *Observed) { o.Cluster.LowestVersion = "" }), "3.5.35"},
		"an image without a version":      {edit(updated, unnamed), "3.6.17"},
		"and a version of none":           {edit(updated, unnamed, says(2, "3.4.0")), ""},
		"a pod that is another one":       {edit(updated, func(o *Observed) { o.Pods[2].UID = "other" }), ""},
	} {
		if got := c.o.Runs(c.o.Etcd.Answers[2]); got != c.want {
			t.Errorf("%s: %q, want %q", title, got, c.want)
		}
	}
	o := edit(updated, unnamed, says(2, "3.4.0"))
	if got := o.Cluster.Apply(Next(o), o).LowestVersion; got != "3.6.16" {
		t.Errorf("while that of one is not known, %q is recorded", got)
	}
	first := edit(healthyCluster(3, true), says(0, "3.4.0"))
	if got := first.Cluster.Apply(RecordClusterID{ClusterID: recordedID}, first).LowestVersion; got != "3.6.16" {
		t.Errorf("once it is up, %q is recorded", got)
	}
}
