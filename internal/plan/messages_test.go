package plan

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestMessages: a message says who is meant, and does not contradict what can be seen.
func TestMessages(t *testing.T) {
	replaced := edit(healthyCluster(3, true), func(o *Observed) {
		o.Cluster.ID, o.Cluster.Bootstrap = 0, &Bootstrap{Incarnation: 2, Members: []string{"c-0"}, Restore: "r"}
		o.Cluster.Previous = &Record{ID: o.Etcd.ClusterID}
		o.Etcd = Etcd{}
		for i := range o.Pods {
			o.Pods[i].InService, o.Pods[i].Deleting, o.Pods[i].Deadline = false, true, now
		}
	})
	for title, c := range map[string]struct {
		action    Action
		says, not string
	}{
		"an adopted cluster before its first quorum": {
			Next(edit(noContact(healthyCluster(3, true)), func(o *Observed) { o.Cluster.Voters, o.Cluster.Bootstrap = nil, nil })),
			"status names no voters yet", "of 0 voters",
		},
		"all voters answer": {
			quorumLost(newView(edit(healthyCluster(3, true), func(o *Observed) { o.Etcd.Contact = ContactNone }))),
			"all of them answer, but no majority confirms one member list", "no answer from",
		},
		"a voter does not answer": {Next(noContact(healthyCluster(3, true))), "no answer from c-0", "all of them answer"},
		"pods of the members that a restore replaces": {
			Next(replaced), "the pods of the members being replaced are gone (no volume with data is deleted): c-0", "earlier",
		},
		"an update that would break the quorum": {
			requireQuorum(newView(silent(silent(healthyCluster(3, true), 1), 2)), SetImage{Name: "c-0", UID: "p0"}),
			"not healthy: c-1, c-2: bring them back", "c-0:",
		},
		"the only voter": {
			requireQuorum(newView(healthyCluster(1, true)), SetImage{Name: "c-0", UID: "p0"}), "only 1 of 1 voters are healthy", "not healthy",
		},
		"the leader hands over": {
			MoveLeader{From: 0xa, To: 0xb, FromName: "c-0", ToName: "c-1"},
			"from c-0 (000000000000000a) to c-1 (000000000000000b)", "slow",
		},
		"the leader is slow": {
			MoveLeader{From: 0xa, To: 0xb, FromName: "c-0", ToName: "c-1", Slow: "c-0"},
			"leader c-0 is slow: moving leadership to c-1 (000000000000000b)", "from",
		},
		"a pod that nobody schedules": {
			newView(edit(healthyCluster(3, true), func(o *Observed) {
				o.Pods[1].Phase, o.Pods[1].Node, o.Pods[1].IP, o.Pods[1].Created = Pending, "", "", now.Add(-time.Hour)
			})).waitForPods([]string{"c-0", "c-1"}),
			"waiting for pods c-1 (not scheduled since it was created at " + now.Add(-time.Hour).UTC().Format(time.RFC3339), "c-0",
		},
		"a pod that its node does not start": {
			newView(edit(healthyCluster(3, true), func(o *Observed) {
				o.Pods[1].Phase, o.Pods[1].Node, o.Pods[1].IP = Pending, "n1", ""
			})).waitForPods([]string{"c-1"}),
			"c-1 (not started by node n1 since it was created at ", "scheduled",
		},
		"a pod without an address": {
			newView(edit(healthyCluster(3, true), func(o *Observed) { o.Pods[1].Node, o.Pods[1].IP = "n1", "" })).waitForPods([]string{"c-1"}),
			"c-1 (on node n1 without an address since it was created at ", "scheduled",
		},
		"a candidate that its node does not prepare": {
			Next(edit(healthyCluster(3, false), func(o *Observed) {
				p := waitingPod(3)
				p.Phase, p.IP, p.WaitsFor, p.Created = Pending, "", "a volume is not attached", now.Add(-2*time.Minute)
				o.Cluster.Size, o.Pods = 4, append(o.Pods, p)
			})),
			"a new member whose pod does not start within 10m0s is given up", "deleting",
		},
		"a member's pod that its node does not prepare": {
			newView(edit(healthyCluster(3, true), func(o *Observed) {
				p := &o.Pods[1]
				p.Phase, p.IP, p.WaitsFor, p.Created = Pending, "", "a volume is not attached", now.Add(-2*time.Minute)
			})).waitForPods([]string{"c-1"}),
			"a volume is not attached", "made anew",
		},
		"a candidate that is given up": {
			DeleteVolume{Name: "c-3", Why: v1beta2.ReasonPodCannotStart},
			"deleting volume c-3: the new member's pod has not started within 10m0s; another member is made in its place", "restore",
		},
		"pods that are going and gone": {
			newView(edit(withoutPod(healthyCluster(3, true), 2), func(o *Observed) { o.Pods[1].Deleting, o.Pods[1].Deadline = true, now })).
				waitForPods([]string{"c-1", "c-2"}),
			"c-1 (terminating, with grace until " + now.UTC().Format(time.RFC3339) + "), c-2 (it does not exist)", "created",
		},
		"a member that answers and has no leader": {
			Next(silent(healthyCluster(3, true), 1)), "member c-1 is not healthy: kubectl describe pod c-1", "does not answer",
		},
		"the revision regressed": {
			Next(edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Revision, o.Etcd.RevisionCeiling = 900, 100 })),
			"a backup at revision 900 or higher", "nothing is changed",
		},
	} {
		d := Describe(c.action)
		if !strings.Contains(d.Message, c.says) || strings.Contains(d.Message, c.not) {
			t.Errorf("%s: %s: %q, want %q, and not %q", title, d.Reason, d.Message, c.says, c.not)
		}
	}
	if d := Describe(Next(replaced)); d.Reason != v1beta2.ReasonBootstrapping {
		t.Errorf("a restore waits with %+v", d)
	}
}
