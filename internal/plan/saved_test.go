package plan

import (
	"strings"
	"testing"
)

// TestNotSaved has the volumes kept on which there may be something that nobody has saved.
func TestNotSaved(t *testing.T) {
	const unknown = "it is not known which etcd cluster"
	statusLost := func(o *Observed) { o.Cluster.ID, o.Cluster.Bootstrap, o.Cluster.Voters = 0, nil, nil }
	silent := func(o *Observed) { o.Etcd = Etcd{} }
	stale := func(o *Observed) { o.Cluster.Safety.Stale = true }
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
		"what was saved without a quorum":  {edit(healthyCluster(3, true), stale), "the safety snapshot may be old"},
		"what the user does not need":      {edit(healthyCluster(3, true), statusLost, func(o *Observed) { o.Cluster.Safety.Skip = true }), ""},
		"what another restore has stopped": {restoring(true, oldIsGone, restoredVolume), ""},
	} {
		c.given.Cluster.Restore = "another"
		commit, ok := Next(c.given).(CommitBootstrap)
		if !ok || commit.Bootstrap.Restore != "another" {
			t.Errorf("%s: it is not replaced: %+v", title, commit)
		}
		if !strings.HasPrefix(commit.Unsaved, c.want) || (commit.Unsaved == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", title, commit.Unsaved, c.want)
		}
	}
}
