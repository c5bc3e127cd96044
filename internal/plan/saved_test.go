package plan

import (
	"strings"
	"testing"
)

// TestNotSaved has it said where there may be something that nobody has saved.
func TestNotSaved(t *testing.T) {
	const unknown = "the data's cluster ID is unknown"
	statusLost := func(o *Observed) { o.Cluster.ID, o.Cluster.Bootstrap, o.Cluster.Voters = 0, nil, nil }
	silent := func(o *Observed) { o.Etcd = Etcd{} }
	stale := func(o *Observed) { o.Cluster.Safety = Safety{Revision: 100, Stale: true} }
	noPods := func(o *Observed) { o.Pods = nil }
	for title, c := range map[string]struct {
		given Observed
		want  string
	}{
		"a cluster that has never been up":     {emptyCluster(3, true), ""},
		"first members that may not start yet": {bound(bootstrapped(3, true)), ""},
		"volumes whose status was lost":        {edit(healthyCluster(3, true), statusLost, silent, noPods), unknown},
		"members whose status was lost":        {edit(healthyCluster(3, false), statusLost), unknown},
		"first members that may write":         {edit(withPermits(bound(bootstrapped(3, true))), silent), unknown},
		"an earlier cluster's that is not touched": {edit(healthyCluster(3, true), statusLost, silent, noPods, func(o *Observed) {
			for i := range o.Volumes {
				o.Volumes[i].Owned = false
			}
		}), ""},
		"what nobody has saved":               {edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Safety = Safety{} }), "there is no safety snapshot"},
		"what was saved without a quorum":     {edit(healthyCluster(3, true), stale), "the safety snapshot was taken without a quorum"},
		"what the user does not need":         {edit(healthyCluster(3, true), statusLost, func(o *Observed) { o.Cluster.Safety.Skipped = true }), ""},
		"what nobody has written to since":    {healthyCluster(3, true), ""},
		"what was written to since":           {edit(healthyCluster(3, true), func(o *Observed) { o.Etcd.Revision = 101 }), "it is at revision 101"},
		"what nobody tells of":                {edit(healthyCluster(3, true), silent), "no quorum could confirm"},
		"what tells no revision":              {edit(healthyCluster(3, true), func(o *Observed) { o.Etcd.Revision = 0 }), "no quorum could confirm"},
		"what another restore has begun with": {replacedBySnapshot(true, oldIsGone, restoredVolume), ""},
		"what another one skipped":            {replacedBySnapshot(true, oldIsGone, func(o *Observed) { o.Cluster.SafetySkipped = true }), "the restore that this one supersedes"},
		"what another one has not saved": {replacedBySnapshot(true, func(o *Observed) {
			o.Cluster.Unsaved, o.Cluster.Safety.UnsavedReason = true, "EtcdRestore first has not saved it"
		}), "EtcdRestore first"},
	} {
		c.given.Cluster.Restore = "another"
		if c.given.Cluster.Safety == (Safety{}) && title != "what nobody has saved" {
			c.given.Cluster.Safety = saved
		}
		commit, ok := Next(c.given).(CommitBootstrap)
		if !ok || commit.Bootstrap.Restore != "another" {
			t.Errorf("%s: it is not replaced: %+v", title, commit)
		}
		if !strings.HasPrefix(commit.UnsavedReason, c.want) || (commit.UnsavedReason == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", title, commit.UnsavedReason, c.want)
		}
	}
}
