package plan

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNotSaved has the volumes kept on which there may be something that nobody has saved.
func TestNotSaved(t *testing.T) {
	const unknown = "it is not known which etcd cluster"
	statusLost := func(o *Observed) { o.Cluster.ID, o.Cluster.Bootstrap, o.Cluster.Voters = 0, nil, nil }
	silent := func(o *Observed) { o.Etcd = Etcd{} }
	stale := func(o *Observed) { o.Cluster.Safety = Safety{Revision: 100, Stale: true} }
	late := func(o *Observed) { o.Cluster.Stopped = now.Add(stopTime + time.Second) }
	noPods := func(o *Observed) { o.Pods = nil }
	for title, c := range map[string]struct {
		given Observed
		want  string
	}{
		"a cluster that has never been up":     {emptyCluster(3, true), ""},
		"first members that may not start yet": {seated(bootstrapped(3, true)), ""},
		"volumes whose status was lost":        {edit(healthyCluster(3, true), statusLost, silent, noPods), unknown},
		"members whose status was lost":        {edit(healthyCluster(3, false), statusLost), unknown},
		"first members that may write":         {edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.ID = 0 }, silent), unknown},
		"an earlier cluster's that is not touched": {edit(healthyCluster(3, true), statusLost, silent, noPods, func(o *Observed) {
			for i := range o.Volumes {
				o.Volumes[i].Owned = false
			}
		}), ""},
		"what nobody has saved":             {edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Safety = Safety{} }), "there is no safety snapshot"},
		"what was saved without a quorum":   {edit(healthyCluster(3, true), stale), "the safety snapshot may be old"},
		"what the user does not need":       {edit(healthyCluster(3, true), statusLost, func(o *Observed) { o.Cluster.Safety.Skip = true }), ""},
		"what nobody has written to since":  {healthyCluster(3, true), ""},
		"what was written to since":         {edit(healthyCluster(3, true), func(o *Observed) { o.Etcd.Revision = 101 }), "it has come to revision 101"},
		"what nobody tells of":              {edit(healthyCluster(3, true), silent), "no quorum has told"},
		"what tells no revision":            {edit(healthyCluster(3, true), func(o *Observed) { o.Etcd.Revision = 0 }), "no quorum has told"},
		"what another restore has stopped":  {replacedBySnapshot(true, oldIsGone, restoredVolume), ""},
		"what another one has not stopped":  {replacedBySnapshot(true, func(o *Observed) { o.Cluster.Stopped = time.Time{} }), "its members were not seen to stop"},
		"what another one stopped too late": {replacedBySnapshot(true, oldIsGone, late), "its members were not seen to stop"},
		"what another one skipped":          {replacedBySnapshot(true, oldIsGone, func(o *Observed) { o.Cluster.Skipped = true }), "the restore whose place"},
		"what another one keeps":            {replacedBySnapshot(true, oldIsGone, late, func(o *Observed) { o.Cluster.Unsaved = true }), ""},
	} {
		c.given.Cluster.Restore = "another"
		if c.given.Cluster.Safety == (Safety{}) && title != "what nobody has saved" {
			c.given.Cluster.Safety = saved
		}
		commit, ok := Next(c.given).(CommitBootstrap)
		if !ok || commit.Bootstrap.Restore != "another" {
			t.Errorf("%s: it is not replaced: %+v", title, commit)
		}
		if !strings.HasPrefix(commit.Unsaved, c.want) || (commit.Unsaved == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", title, commit.Unsaved, c.want)
		}
	}
}

// TestStopped tells when nobody can write any more to what a restore replaces.
func TestStopped(t *testing.T) {
	without := func(names ...string) func(*Observed) {
		return func(o *Observed) {
			o.Pods = slices.DeleteFunc(o.Pods, func(p Pod) bool { return slices.Contains(names, p.Name) })
		}
	}
	for title, c := range map[string]struct {
		given Observed
		want  bool
	}{
		"nothing is replaced": {edit(healthyCluster(3, true), oldIsGone), false},
		"all are there":       {replacedBySnapshot(true), false},
		"a quorum is there":   {replacedBySnapshot(true, without("c-0")), false},
		"one is left":         {replacedBySnapshot(true, without("c-0", "c-2")), true},
		"all are told to stop": {replacedBySnapshot(true, func(o *Observed) {
			for i := range o.Pods {
				o.Pods[i].Deleting = true
			}
		}), false},
		"two have ended for good":   {replacedBySnapshot(true, func(o *Observed) { o.Pods[0].Phase, o.Pods[1].Phase = Terminal, Terminal }), true},
		"the first one has come":    {replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod), true},
		"nobody knows the voters":   {replacedBySnapshot(true, without("c-0", "c-2"), func(o *Observed) { o.Cluster.Former.Voters = nil }), false},
		"they are about to be less": {replacedBySnapshot(true, without("c-0", "c-2"), func(o *Observed) { o.Cluster.Former.NextVoters = []string{"c-1"} }), false},
	} {
		if got := Stopped(c.given); got != c.want {
			t.Errorf("%s: %t", title, got)
		}
	}
}
