package plan

import (
	"slices"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// to asks for another version of a healthy cluster.
func to(version string) func(*Observed) {
	return func(o *Observed) { o.Cluster.Version = version }
}

// pulledImages adds what has fetched the wanted image to every node.
func pulledImages(o Observed) Observed {
	v := newView(o)
	for _, on := range v.neededImages() {
		o.PrepullPods = append(o.PrepullPods, PrepullPod{Name: "pull-" + on.Node, UID: on.Node, Node: on.Node, Image: on.Image, Done: true})
	}
	return o
}

func template(members ...int) func(*Observed) {
	return func(o *Observed) {
		for _, i := range members {
			o.Pods[i].Drift.Template = true
		}
	}
}

const image373 = "quay.io/coreos/etcd:v3.7.3"

func TestVersions(t *testing.T) {
	up := closed(pulledImages(edit(healthyCluster(3, true), to("3.7.3"))))
	schema := func(storage, downgrade string) func(*Observed) {
		return func(o *Observed) {
			for i := range o.Etcd.Answers {
				o.Etcd.Answers[i].Storage, o.Etcd.Answers[i].Downgrade = storage, downgrade
			}
		}
	}
	down := closed(pulledImages(edit(healthyCluster(3, true), to("3.5.35"))))
	due := func(o *Observed) { o.Cluster.SnapshotDue = true }
	check(t, map[string]planCase{
		"first the image": {
			edit(healthyCluster(3, true), to("3.7.3")),
			PrepullImages{[]NodeImage{{"n0", image373}, {"n1", image373}, {"n2", image373}}},
		},
		"an image that cannot be had costs no member": {
			closed(edit(pulledImages(edit(healthyCluster(3, true), to("3.7.3"))), func(o *Observed) {
				o.PrepullPods[1].Done, o.PrepullPods[1].Problem = false, "not found"
			})), Wait{Reason: v1beta2.ReasonUpdateStopped},
		},
		"then evictions are blocked": {pulledImages(edit(healthyCluster(3, true), to("3.7.3"))), SetBudget{MinAvailable: 3}},
		"then clients leave a follower": {
			up, RemoveFromService{Pod: "c-1", UID: "p1"},
		},
		"which takes a moment": {
			edit(up, func(o *Observed) { o.Pods[1].InService, o.Pods[1].LeftService = false, now }),
			Wait{Reason: v1beta2.ReasonWaitingForClients},
		},
		"and less if the clock was set back": {
			edit(up, func(o *Observed) { o.Pods[1].InService, o.Pods[1].LeftService = false, now.Add(time.Hour) }),
			SetImage{Name: "c-1", UID: "p1", Version: "3.7.3"},
		},
		"then the budget": {
			unserved(pulledImages(edit(healthyCluster(3, true), to("3.7.3"))), 1), SetBudget{MinAvailable: 3},
		},
		"then it restarts": {unserved(up, 1), SetImage{Name: "c-1", UID: "p1", Version: "3.7.3"}},
		"wait until its container has ended": {
			edit(up, func(o *Observed) { o.Pods[1].Version, o.Pods[1].Restarting = "3.7.3", true }),
			Wait{Reason: v1beta2.ReasonWaitingForMember},
		},
		"wait until it answers": {
			edit(silent(up, 1), func(o *Observed) { o.Pods[1].Version = "3.7.3" }),
			Wait{Reason: v1beta2.ReasonWaitingForMember},
		},
		"wait until it is ready": {
			edit(runsNewer(up, 1), func(o *Observed) { o.Pods[1].Ready = false }),
			Wait{Reason: v1beta2.ReasonWaitingForMember},
		},
		"wait until it has caught up": {
			edit(runsNewer(up, 1), func(o *Observed) {
				o.Etcd.Answers[0].Committed, o.Etcd.Answers[2].Committed = 100+LagLimit+1, 100+LagLimit+1
			}),
			Wait{Reason: v1beta2.ReasonWaitingForMember},
		},
		"it does not get ready: stop and tell": {
			edit(silent(up, 1), func(o *Observed) {
				o.Pods[1].Version, o.Pods[1].Ready, o.Pods[1].ReadyChanged = "3.7.3", false, now.Add(-2*stepLimit)
			}), Wait{Reason: v1beta2.ReasonUpdateStopped},
		},
		"it cannot start: stop and tell": {
			edit(silent(up, 1), func(o *Observed) { o.Pods[1].Version, o.Pods[1].StartProblem = "3.7.3", "crashes" }),
			Wait{Reason: v1beta2.ReasonUpdateStopped},
		},
		"the next one": {unserved(runsNewer(up, 1), 2), SetImage{Name: "c-2", UID: "p2", Version: "3.7.3"}},
		"the leader hands over": {
			runsNewer(runsNewer(up, 1), 2), MoveLeader{From: id(0), To: id(1), FromName: "c-0", ToName: "c-1"},
		},
		"back to the old version: the one that is down": {
			pulledImages(closed(edit(silent(healthyCluster(3, true), 1), func(o *Observed) { o.Pods[1].Version = "3.7.3" }))),
			SetImage{Name: "c-1", UID: "p1", Version: "3.6.16"},
		},
		"back while one is as before": {
			unserved(pulledImages(closed(runsNewer(healthyCluster(3, true), 1))), 1),
			SetImage{Name: "c-1", UID: "p1", Version: "3.6.16"},
		},
		"wait until the schema has the minor version that runs": {
			edit(up, schema("3.5", "")), Wait{Reason: v1beta2.ReasonWaitingForVersion},
		},
		"down: etcd first":    {edit(down, schema("3.6", "")), EnableDowngrade{Version: "3.5"}},
		"down: wait for etcd": {edit(down, schema("3.6", "3.5")), Wait{Reason: v1beta2.ReasonWaitingForVersion}},
		"down: then members":  {unserved(edit(down, schema("3.5", "3.5")), 1), SetImage{Name: "c-1", UID: "p1", Version: "3.5.35"}},
		"down: taken back":    {edit(healthyCluster(3, true), schema("3.5", "3.5")), CancelDowngrade{Version: "3.5"}},
		"down: nobody can join meanwhile": {
			edit(down, schema("3.5", "3.5"), func(o *Observed) { o.Cluster.Size = 5 }), CancelDowngrade{Version: "3.5"},
		},
		"down from one takes three": {
			edit(healthyCluster(1, false), to("3.5.35")),
			CreatePods{[]NewPod{{Name: "c-1", Incarnation: 1, Version: "3.6.16"}, {Name: "c-2", Incarnation: 1, Version: "3.6.16"}}},
		},
		"what 3.5 has left in the logs goes first": {
			edit(up, schema("3.6", ""), due), EnableDowngrade{Version: "3.5"},
		},
		"and where that is the first thing asked for once all run 3.6": {
			edit(up, schema("3.6", ""), func(o *Observed) { o.Cluster.LowestVersion = "3.5.35" }), EnableDowngrade{Version: "3.5"},
		},
		"wait for the snapshots": {edit(up, schema("3.6", "3.5"), due), Wait{Reason: v1beta2.ReasonWaitingForVersion}},
		"and then go on":         {edit(up, schema("3.5", "3.5"), due), CancelDowngrade{Version: "3.5", Snapshot: true}},
		"down from one: those who join for it are not outdated": {
			edit(withLearner(healthyCluster(1, false), 1), to("3.5.35")),
			WritePermits{[]PodPermit{{Pod: "c-1", UID: "p1", Permit: member.Permit{
				Mode: member.ModeJoin, ClusterID: member.ID(recordedID), MemberID: member.ID(id(1)), Token: "uid", PodUID: "p1", Attempt: 1,
				InitialCluster: "c-0=http://c-0.c.ns.svc:2380,c-1=http://c-1.c.ns.svc:2380",
			}}}},
		},
		"a skipped minor version": {
			edit(healthyCluster(3, true), func(o *Observed) {
				for i := range o.Pods {
					o.Pods[i].Version, o.Etcd.Answers[i].Version, o.Volumes[i].Version = "3.5.35", "3.5.35", "3.5.35"
				}
				o.Cluster.Version = "3.7.3"
			}), Blocked{Reason: v1beta2.ReasonVersionRefused},
		},
		"one of one: another one first": {
			edit(healthyCluster(1, false), to("3.7.3")),
			CreatePods{[]NewPod{{Name: "c-1", Incarnation: 1, Version: "3.7.3"}}},
		},
	})
}

func TestChanges(t *testing.T) {
	surged := started(withLearner(healthyCluster(3, false), 3))
	voting := edit(surged, func(o *Observed) {
		o.Etcd.Members[3].Learner, o.Etcd.Answers[3].Learner = false, false
		o.Pods[3].InService, o.Pods[3].Ready = true, true
	})
	check(t, map[string]planCase{
		"labels at any time":    {edit(healthyCluster(3, true), func(o *Observed) { o.Pods[1].Drift.Metadata = true }), SetMetadata{"c-1", "p1"}},
		"resources in place":    {edit(healthyCluster(3, true), func(o *Observed) { o.Pods[1].Drift.Resources = true }), Resize{Name: "c-1", UID: "p1"}},
		"a resize under way":    {edit(healthyCluster(3, true), func(o *Observed) { o.Pods[1].Resizing = "deferred" }), Wait{Reason: v1beta2.ReasonWaitingForResize}},
		"a bigger volume":       {edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.VolumeSize = 1 }), Expand{[]string{"c-0", "c-1", "c-2"}}},
		"a volume that grows":   {edit(healthyCluster(3, true), func(o *Observed) { o.Volumes[0].Expanding = true }), Wait{Reason: v1beta2.ReasonWaitingForVolume}},
		"on a volume: recreate": {unserved(closed(edit(healthyCluster(3, true), template(0, 1, 2))), 1), Recreate{Name: "c-1", UID: "p1", Version: "3.6.16"}},
		"a node that cannot give the resources": {
			closed(edit(healthyCluster(3, true), func(o *Observed) { o.Pods[1].ResizeInfeasible, o.Pods[1].Resizing = true, "infeasible" })),
			Wait{Reason: v1beta2.ReasonWaitingForResize},
		},
		"the one that is down first": {
			closed(edit(silent(healthyCluster(3, true), 2), template(0, 1, 2))), Recreate{Name: "c-2", UID: "p2", Version: "3.6.16"},
		},
		"with two down nothing is touched": {
			closed(edit(silent(silent(healthyCluster(5, true), 2), 3), template(1))), Wait{Reason: v1beta2.ReasonWaitingForMember},
		},
		"a volume that cannot grow: another member first": {
			edit(healthyCluster(3, true), func(o *Observed) {
				o.Cluster.VolumeSize, o.Volumes[0].NotExpandable = 1, true
				o.Volumes[1].Requested, o.Volumes[2].Requested = 1, 1
			}),
			CreateVolumes{Names: []string{"c-3"}, Incarnation: 1},
		},
		"from emptyDir to volumes": {
			edit(healthyCluster(3, false), func(o *Observed) { o.Cluster.Persistent = true }),
			CreateVolumes{Names: []string{"c-3"}, Incarnation: 1},
		},
		"emptyDir: another member first": {
			edit(healthyCluster(3, false), template(0, 1, 2)),
			CreatePods{[]NewPod{{Name: "c-3", Incarnation: 1, Version: "3.6.16"}}},
		},
		"which votes": {closed(edit(surged, template(0, 1, 2))), Promote{ID: id(3), Name: "c-3"}},
		"then clients leave the old one": {
			closed(edit(voting, template(0, 1, 2))), RemoveFromService{Pod: "c-2", UID: "p2"},
		},
		"then who is left is written down": {
			closed(unserved(edit(voting, template(0, 1, 2)), 2)), CommitVoters{[]string{"c-0", "c-1", "c-3"}},
		},
		"then it goes": {
			closed(unserved(edit(voting, template(0, 1, 2), func(o *Observed) {
				o.Cluster.NextVoters = []string{"c-0", "c-1", "c-3"}
			}), 2)), RemoveMember{ID: id(2), Name: "c-2", Why: v1beta2.ReasonScaling},
		},
		"back to the old spec: the new one goes": {surged, RemoveMember{ID: id(3), Name: "c-3", Why: v1beta2.ReasonScaling}},
		"no quorum, and a pod that cannot run: made from the new spec": {
			noContact(edit(healthyCluster(3, true), func(o *Observed) {
				o.Pods[1].Phase, o.Pods[1].StartProblem, o.Pods[1].Drift.Template = Pending, "no such node", true
			})), Recreate{Name: "c-1", UID: "p1", Version: "3.6.16"},
		},
		"a repair is no update": {
			edit(withoutPod(healthyCluster(3, true), 1), template(0), func(o *Observed) { o.Volumes[1].FromPreviousSpec = true }),
			CreatePods{[]NewPod{{
				Name: "c-1", Incarnation: 1, Persistent: true, Version: "3.6.16", FromPreviousSpec: true,
				Permit: &member.Permit{Mode: member.ModeResume, ClusterID: member.ID(recordedID), MemberID: member.ID(id(1))},
			}}},
		},
		"corrupt data": {
			alarmed(edit(healthyCluster(3, true), template(0)), Alarm{Kind: AlarmCorrupt, Member: 7}), Blocked{Reason: v1beta2.ReasonCorrupt},
		},
		"no space: the way out may be an update": {
			closed(edit(alarmed(healthyCluster(3, true), Alarm{Kind: AlarmNoSpace, Member: id(1)}), template(0, 1, 2), func(o *Observed) {
				for i := range o.Pods {
					o.Pods[i].InService = i != 1
				}
			})), Recreate{Name: "c-1", UID: "p1", Version: "3.6.16"},
		},
		"an invalid spec ends in saying so": {
			edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Invalid = &failure.Problem{Reason: v1beta2.ReasonInvalidOption} }),
			Blocked{Reason: v1beta2.ReasonInvalidOption},
		},
		"a restart of our own keeps the budget closed": {
			closed(silent(healthyCluster(3, true), 1)), Wait{Reason: v1beta2.ReasonWaitingForMember},
		},
	})
}

// TestGoingBack is about what a bad update has stopped, once the user has gone back and a fault has cost the quorum.
func TestGoingBack(t *testing.T) {
	quorumLost := func(persistent bool, version string, edits ...func(*Observed)) Observed {
		fails := func(o *Observed) {
			o.Pods[1].Version, o.Pods[1].StartProblem = version, "etcd ends at every start"
			if persistent {
				o.Volumes[1].Version = version
			}
		}
		return noContact(edit(healthyCluster(3, persistent), append([]func(*Observed){fails}, edits...)...))
	}
	back := SetImage{Name: "c-1", UID: "p1", Version: "3.6.16"}
	waits := Wait{Reason: v1beta2.ReasonQuorumLost}
	check(t, map[string]planCase{
		"a template":          {quorumLost(true, "3.6.16", template(1)), Recreate{Name: "c-1", UID: "p1", Version: "3.6.16"}},
		"not in an emptyDir":  {quorumLost(false, "3.6.16", template(1)), waits},
		"a patch":             {quorumLost(true, "3.6.99"), back},
		"a minor":             {quorumLost(true, "3.7.99"), back},
		"in an emptyDir":      {quorumLost(false, "3.7.99"), back},
		"forward, to a patch": {quorumLost(true, "3.7.99", to("3.7.3")), SetImage{Name: "c-1", UID: "p1", Version: "3.7.3"}},
		"not to a later minor": {
			quorumLost(true, "3.6.99", to("3.7.3")), waits,
		},
		"not below what others run": {quorumLost(true, "3.7.99", to("3.5.35")), waits},
		"not if all have gone up": {
			quorumLost(true, "3.7.99", func(o *Observed) {
				for i := range o.Pods {
					o.Pods[i].Version, o.Volumes[i].Version = "3.7.99", "3.7.99"
				}
			}), waits,
		},
		"a volume that goes with the pod: the member is replaced": {
			closed(silent(edit(healthyCluster(3, true), template(1), func(o *Observed) {
				o.Pods[1].StartProblem, o.Volumes[1].Deleting = "etcd ends at every start", true
			}), 1)), RemoveMember{ID: id(1), Name: "c-1", Why: v1beta2.ReasonVolumeLost},
		},
	})
}

func TestRestarting(t *testing.T) {
	o := closed(silent(healthyCluster(3, true), 1))
	late := edit(o, func(o *Observed) { o.Pods[1].Ready, o.Pods[1].ReadyChanged = false, now.Add(-2*stepLimit) })
	open := edit(o, func(o *Observed) { o.Budget.MinAvailable = 2 })
	restarts := func(o Observed, name string) bool { return slices.Contains(Assess(o).DownForUpdate, name) }
	if !restarts(o, "c-1") || restarts(late, "c-1") || restarts(open, "c-1") || restarts(late, "c-9") {
		t.Errorf("own doing %t, late %t, not ours %t", restarts(o, "c-1"), restarts(late, "c-1"), restarts(open, "c-1"))
	}
	if got := Assess(edit(o, template(0))).Updated; len(got) != 2 || got[0] != "c-1" {
		t.Errorf("updated: %v", got)
	}
}
