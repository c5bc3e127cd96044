package plan

import (
	"reflect"
	"testing"
)

// TestAssess tells of a member each what is to be done to it, who is next or goes, and what that waits for.
func TestAssess(t *testing.T) {
	type told struct {
		Leader, Removal, Next string
		Changes               [3]Change
		Blocker, Image        string // their reasons
		Size, Room            int
	}
	const none, restart, recreate, replace = ChangeNone, ChangeRestart, ChangeRecreate, ChangeReplace
	healthy := healthyCluster(3, true)
	newer := edit(healthy, to("3.7.3"))
	for title, c := range map[string]struct {
		o    Observed
		want told
	}{
		"as asked":               {healthy, told{Leader: "c-0", Size: 3, Room: 3}},
		"nobody is known to be":  {noContact(healthy), told{Size: 3, Room: 3}},
		"an image is not there":  {newer, told{"c-0", "", "", [3]Change{restart, restart, restart}, "", "PullingImage", 3, 3}},
		"a follower is next":     {pulledImages(newer), told{"c-0", "", "c-1", [3]Change{restart, restart, restart}, "", "", 3, 3}},
		"the leader is the last": {edit(healthy, template(0)), told{"c-0", "", "c-0", [3]Change{recreate, none, none}, "", "", 3, 3}},
		"one is down": {
			edit(silent(healthy, 2), template(0, 1)), told{"c-0", "", "", [3]Change{recreate, recreate, none}, "WaitingForMember", "", 3, 3},
		},
		"etcd goes down first": {
			pulledImages(edit(healthy, to("3.5.35"))), told{"c-0", "", "", [3]Change{restart, restart, restart}, "", "", 3, 3},
		},
		"one too many": {edit(healthy, func(o *Observed) { o.Cluster.Size = 2 }), told{"c-0", "c-2", "", [3]Change{}, "", "", 2, 2}},
		"one has to be replaced": {
			edit(healthyCluster(3, false), template(1)), told{"c-0", "", "", [3]Change{none, replace, none}, "", "", 3, 4},
		},
	} {
		t.Run(title, func(t *testing.T) {
			v := newView(c.o)
			leading, _ := v.memberByID(v.Leader)
			got := told{
				leading.Name, v.NextToRemove.Name, v.Update.Next.Name,
				[3]Change{v.Changes["c-0"], v.Changes["c-1"], v.Changes["c-2"]},
				reasonOf(v.Update.Blocker), reasonOf(v.Update.MissingImage), v.TargetSize, v.MaxMembers,
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("it tells\n%+v, not\n%+v", got, c.want)
			}
		})
	}
}

func reasonOf(a Action) string {
	if a == nil {
		return ""
	}
	return Describe(a).Reason
}
