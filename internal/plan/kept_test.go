package plan

import (
	"slices"
	"testing"
)

// TestKeptIsNotDeleted asks for volumes to be deleted in spite of all rules.
func TestKeptIsNotDeleted(t *testing.T) {
	kept := func(o *Observed) {
		o.Cluster.KeptUIDs = []string{"v9"}
		o.Volumes = append(o.Volumes, Volume{Name: "c-9", UID: "v9", Incarnation: 1, Owned: true, ClusterID: recordedID, MemberID: 9})
	}
	again := replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, answersRestored, func(o *Observed) {
		o.Volumes[3].MemberID, o.Etcd = 3, Etcd{}
	})
	for title, c := range map[string]struct {
		observed Observed
		volume   DeleteVolume
		goes     bool
	}{
		"that has the number of the members": {edit(healthyCluster(3, true), kept), DeleteVolume{Name: "c-9", UID: "v9"}, false},
		"that has lost its labels": {edit(healthyCluster(3, true), kept, func(o *Observed) {
			o.Volumes[3] = Volume{Name: "c-9", UID: "v9", Foreign: "it is no member's"}
		}), DeleteVolume{Name: "c-9", UID: "v9"}, false},
		"that a restore is about to replace":     {replacedBySnapshot(true, oldIsGone), DeleteVolume{Name: "c-0", UID: "v0"}, false},
		"on which an attempt has started etcd":   {again, DeleteVolume{Name: "c-3", UID: "v3"}, false},
		"on which an attempt never started it":   {replacedBySnapshot(true, oldIsGone, restoredVolume), DeleteVolume{Name: "c-3", UID: "v3"}, true},
		"of a member that nobody lists any more": {healthyCluster(3, true), DeleteVolume{Name: "c-2", UID: "v2"}, true},
	} {
		v := newView(c.observed)
		a, _ := v.guarded(v.state().guards, c.volume)
		if _, goes := a.(DeleteVolume); goes != c.goes {
			t.Errorf("a volume %s: %#v", title, a)
		}
	}
}

// TestKeptIsNoted has what is to be kept in the record before anything else changes what it was made for.
func TestKeptIsNoted(t *testing.T) {
	up := edit(healthyCluster(3, true), func(o *Observed) {
		o.Cluster.Bootstrap.Restore, o.Cluster.Bootstrap.Incarnation = "restore", 3
		o.Cluster.Incarnations = Incarnations{Last: 3, FirstRestore: 2}
		for i := range o.Volumes {
			o.Volumes[i].Incarnation, o.Pods[i].Incarnation = 3, 3
		}
		o.Volumes = append(o.Volumes,
			Volume{Name: "c-7", UID: "v7", Incarnation: 1, Owned: true, ClusterID: 0xc0, MemberID: 7},
			Volume{Name: "c-8", UID: "v8", Incarnation: 2, Owned: true, ClusterID: 0xd0, MemberID: 8},
			Volume{Name: "c-9", UID: "v9", Incarnation: 1, Owned: true})
	})
	for title, c := range map[string]struct {
		observed Observed
		want     []string
	}{
		"what was replaced, and what an attempt has written": {up, []string{"v7", "v8"}},
		"what an attempt has written, with Skip":             {edit(up, func(o *Observed) { o.Cluster.SafetySkipped, o.Cluster.ReplacedID = true, 0xc0 }), []string{"v8"}},
		"all of another cluster than Skip is said of":        {edit(up, func(o *Observed) { o.Cluster.SafetySkipped, o.Cluster.ReplacedID = true, 0xc1 }), []string{"v7", "v8"}},
		"all if nobody knows what Skip was said of": {edit(up, func(o *Observed) {
			o.Cluster.SafetySkipped, o.Volumes[3].ClusterID = true, 0
		}), []string{"v7", "v8"}},
		"none of somebody else": {edit(up, func(o *Observed) {
			o.Volumes[3].Owned, o.Volumes[4].Foreign = false, "it is a copy"
		}), nil},
		"none that is going":            {edit(up, func(o *Observed) { o.Volumes[3].Deleting = true }), []string{"v8"}},
		"those that are there only":     {edit(up, func(o *Observed) { o.Cluster.KeptUIDs = []string{"v0", "gone"} }), []string{"v0", "v7", "v8"}},
		"those that have lost the rest": {edit(up, func(o *Observed) { o.Cluster.KeptUIDs, o.Volumes[3] = []string{"v7"}, Volume{Name: "c-7", UID: "v7"} }), []string{"v7", "v8"}},
	} {
		if got := c.observed.Cluster.Apply(Wait{}, c.observed).KeptUIDs; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", title, got, c.want)
		}
	}
}

// TestLabelsOfMembers takes the number off a member's pod or volume: it is a member's all the same, for it says of which cluster.
func TestLabelsOfMembers(t *testing.T) {
	restored := func(o *Observed) {
		o.Cluster.Bootstrap.Restore, o.Cluster.Incarnations = "restore", Incarnations{Last: 1, FirstRestore: 1}
	}
	for title, o := range map[string]Observed{
		"a pod's":                         edit(healthyCluster(3, true), func(o *Observed) { o.Pods[1].Incarnation = 0 }),
		"a volume's":                      edit(healthyCluster(3, true), func(o *Observed) { o.Volumes[1].Incarnation = 0 }),
		"a volume's, after a restore":     edit(healthyCluster(3, true), restored, func(o *Observed) { o.Volumes[1].Incarnation = 0 }),
		"a volume's, after one with Skip": edit(healthyCluster(3, true), restored, func(o *Observed) { o.Cluster.SafetySkipped, o.Volumes[1].Incarnation = true, 0 }),
	} {
		a, next := Next(o), o.Cluster.Apply(Wait{}, o)
		if _, idle := a.(Idle); !idle || len(next.KeptUIDs) > 0 {
			t.Errorf("%s: %#v, and %q are kept", title, a, next.KeptUIDs)
		}
	}
}

// TestSkipOfAll lets volumes go only if every restore that was to replace them says that nothing needs to be saved.
func TestSkipOfAll(t *testing.T) {
	for _, c := range []struct{ first, second, want bool }{{true, true, true}, {true, false, false}, {false, true, false}} {
		o := healthyCluster(1, true)
		for i, skip := range []bool{c.first, c.second} {
			o.Cluster.Safety.Skipped = skip
			b := Bootstrap{Incarnation: 2 + i, Restore: string(rune('a' + i)), Members: []string{"c-1"}}
			o.Cluster.Record = o.Cluster.Apply(CommitBootstrap{Bootstrap: b}, o)
		}
		o.Cluster.Record = o.Cluster.Apply(RecordClusterID{ClusterID: 2}, o)
		if got := o.Cluster.SafetySkipped; got != c.want || (len(o.Cluster.KeptUIDs) == 0) != c.want {
			t.Errorf("Skip %t, then %t: %t, and %q are kept", c.first, c.second, got, o.Cluster.KeptUIDs)
		}
	}
}

// TestKeptUnseen restores a cluster twice, the second time with Skip, while nobody sees a volume of the first one, for somebody has
// taken off its labels. Once they are put back it is kept: Skip was not said of what it holds.
func TestKeptUnseen(t *testing.T) {
	o := healthyCluster(1, true)
	unseen := o.Volumes[0]
	o.Volumes = nil
	for i, skip := range []bool{false, true} {
		o.Cluster.Safety.Skipped = skip
		n := 2 + i
		b := Bootstrap{Incarnation: n, Restore: string(rune('a' + i)), Members: []string{name(n)}, ClusterID: uint64(n)}
		o.Cluster.Record = o.Cluster.Apply(CommitBootstrap{Bootstrap: b}, o)
		o.Cluster.Record = o.Cluster.Apply(RecordClusterID{ClusterID: b.ClusterID}, o)
		o.Volumes = append(o.Volumes, Volume{
			Name: name(n), UID: "v" + name(n), Incarnation: n, Owned: true, ClusterID: b.ClusterID, MemberID: 1,
		})
	}
	o.Volumes = append(o.Volumes, unseen)
	if got := o.Cluster.Apply(Wait{}, o).KeptUIDs; !slices.Equal(got, []string{unseen.UID}) {
		t.Errorf("%q are kept", got)
	}
	if left := newView(o).previousVolumes; len(left) != 1 || left[0].Name != name(2) {
		t.Errorf("these are to go: %+v", left)
	}
}
