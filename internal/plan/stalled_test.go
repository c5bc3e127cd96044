package plan

import (
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestStalledJoin is about a member that etcd would refuse, and with it the repair that comes later in the list.
func TestStalledJoin(t *testing.T) {
	// c-1 runs a version that never starts, c-3 waits to join, and the user has gone back.
	reverted := pulledImages(closed(edit(silent(healthyCluster(3, true), 1), func(o *Observed) {
		o.Cluster.Size = 5
		o.Pods[1].Version, o.Pods[1].StartProblem = "3.6.99", "etcd ends at every start"
		for _, i := range []int{3, 4} {
			p := waitingPod(i)
			p.Persistent = true
			o.Pods = append(o.Pods, p)
			o.Volumes = append(o.Volumes, Volume{Name: name(i), UID: "v" + name(i), Incarnation: 1, Owned: true})
		}
	})))
	joins := AddLearner{Name: "c-3", PeerURL: "http://c-3.c.ns.svc:2380"}
	check(t, map[string]planCase{
		"the repair first": {reverted, SetImage{Name: "c-1", UID: "p1", Version: "3.6.16"}},
		"all voters are up": {
			edit(reverted, func(o *Observed) {
				o.Pods[1].Version, o.Pods[1].StartProblem = "3.6.16", ""
				o.Etcd.Answers = append(o.Etcd.Answers, answerOf(1))
			}), joins,
		},
		"of four, one may be down": {
			edit(reverted, func(o *Observed) {
				o.Cluster.Size = 6
				p := waitingPod(5)
				p.Permit, p.InService, p.Ready, p.Persistent = o.Pods[0].Permit, true, true, true
				o.Pods = append(o.Pods, p)
				o.Volumes = append(o.Volumes, Volume{
					Name: name(5), UID: "v5", Incarnation: 1, Owned: true, ClusterID: recordedID, MemberID: id(5), Version: "3.6.16",
				})
				o.Etcd.Members = append(o.Etcd.Members, Member{ID: id(5), Name: name(5), PeerURL: o.Cluster.PeerURL(name(5)), Published: true})
				o.Etcd.Answers = append(o.Etcd.Answers, answerOf(5))
			}), joins,
		},
	})
}

// TestStrandedPod is about what is left of a member that was replaced, on a node that is dead and stays in the cluster.
func TestStrandedPod(t *testing.T) {
	leftover := func(late time.Duration) Observed {
		return edit(healthyCluster(3, true), func(o *Observed) {
			p := waitingPod(3)
			p.Persistent, p.Deleting, p.Deadline = true, true, now.Add(-late)
			o.Pods = append(o.Pods, p)
			o.Volumes = append(o.Volumes, Volume{Name: name(3), UID: "v3", Incarnation: 1, Owned: true, ClusterID: recordedID, MemberID: id(3)})
		})
	}
	check(t, map[string]planCase{
		"nothing is left to do": {leftover(time.Hour), Idle{Reason: v1beta2.ReasonSpecReached}},
		"an update goes on": {
			edit(leftover(time.Hour), to("3.7.3")),
			PrepullImages{[]NodeImage{{"n0", image373}, {"n1", image373}, {"n2", image373}}},
		},
		"member by member": {
			closed(pulledImages(edit(leftover(time.Hour), to("3.7.3")))), RemoveFromService{Pod: "c-1", UID: "p1"},
		},
		"within its grace period it is waited for": {leftover(0), Wait{Reason: v1beta2.ReasonWaitingForPods}},
		"and so it is if a member has it": {
			edit(healthyCluster(3, true), func(o *Observed) { o.Pods[1].Deleting, o.Pods[1].Deadline = true, now.Add(-time.Hour) }),
			Wait{Reason: v1beta2.ReasonWaitingForPods},
		},
		"its name is not used": {
			edit(leftover(time.Hour), func(o *Observed) { o.Cluster.Size = 4 }),
			CreateVolumes{Names: []string{"c-4"}, Incarnation: 1},
		},
	})
}

// TestStalledExpansion is about a volume that is to be made bigger and is not: its size cannot go back.
func TestStalledExpansion(t *testing.T) {
	expanding := edit(healthyCluster(3, true), func(o *Observed) { o.Volumes[0].Expanding = true })
	check(t, map[string]planCase{
		"it is reported":         {expanding, Wait{Reason: v1beta2.ReasonWaitingForVolume}},
		"and holds up no update": {closed(pulledImages(edit(expanding, to("3.7.3")))), RemoveFromService{Pod: "c-1", UID: "p1"}},
		"nor its own member's": {
			unserved(closed(edit(expanding, template(0, 1, 2), func(o *Observed) { o.Volumes[1].Expanding = true })), 1),
			Recreate{Name: "c-1", UID: "p1", Version: "3.6.16"},
		},
		"a resize does": {
			pulledImages(edit(expanding, to("3.7.3"), func(o *Observed) { o.Pods[2].Resizing = "deferred" })),
			Wait{Reason: v1beta2.ReasonWaitingForResize},
		},
	})
}

// TestStarved is about members that cannot start with what they have, and an edit that gives them more.
func TestStarved(t *testing.T) {
	starved := func(size int, persistent bool, edits ...func(*Observed)) Observed {
		fails := func(o *Observed) {
			for i := range o.Pods {
				o.Pods[i].StartProblem = "etcd is crash-looping: no space left on device"
			}
		}
		return noContact(edit(healthyCluster(size, persistent), append([]func(*Observed){fails}, edits...)...))
	}
	resources := func(o *Observed) {
		for i := range o.Pods {
			o.Pods[i].Drift.Resources = true
		}
	}
	larger := func(o *Observed) { o.Cluster.VolumeSize = 1 }
	waits := Wait{Reason: v1beta2.ReasonQuorumLost}
	check(t, map[string]planCase{
		"resources":              {starved(1, true, resources), Recreate{Name: "c-0", UID: "p0", Version: "3.6.16"}},
		"resources, on emptyDir": {starved(1, false, resources), Resize{Name: "c-0", UID: "p0"}},
		"resources, on emptyDir, and more": {
			starved(1, false, resources, func(o *Observed) { o.Pods[0].Drift.Template = true }), Resize{Name: "c-0", UID: "p0"},
		},
		"resources of one of three": {
			edit(silent(healthyCluster(3, true), 1), func(o *Observed) {
				o.Pods[1].Drift.Resources, o.Pods[1].StartProblem = true, "etcd is crash-looping: out of memory"
			}), SetBudget{MinAvailable: 3},
		},
		"of the next one": {
			starved(3, false, resources, func(o *Observed) { o.Pods[0].Drift.Resources = false }), Resize{Name: "c-1", UID: "p1"},
		},
		"volumes": {starved(3, true, larger), Expand{Names: []string{"c-0", "c-1", "c-2"}}},
		"not those that Kubernetes does not expand": {
			starved(2, true, larger, func(o *Observed) { o.Volumes[0].NotExpandable = true }), Expand{Names: []string{"c-1"}},
		},
		"nor another cluster's": {starved(1, true, larger, func(o *Observed) { o.Volumes[0].ClusterID = 7 }), waits},
		"a node that has no room for more": {
			starved(1, true, func(o *Observed) { o.Pods[0].ResizeInfeasible = true }), Recreate{Name: "c-0", UID: "p0", Version: "3.6.16"},
		},
		"not on an emptyDir": {starved(1, false, func(o *Observed) { o.Pods[0].ResizeInfeasible = true }), waits},
		"who is only silent is left alone": {
			starved(1, true, resources, larger, func(o *Observed) { o.Pods[0].StartProblem = "" }), waits,
		},
		"and so is who answers": {
			edit(starved(2, true, resources), func(o *Observed) {
				o.Etcd = Etcd{Contact: ContactMinority, Answers: []Answer{answerOf(0)}}
			}), Recreate{Name: "c-1", UID: "p1", Version: "3.6.16"},
		},
	})
}

// TestUnusableVolumes is about volumes that were asked for, were never used, and are not what the spec asks for by now.
func TestUnusableVolumes(t *testing.T) {
	waiting := edit(bootstrapped(3, true), func(o *Observed) {
		for i := range o.Pods {
			o.Pods[i].Phase, o.Pods[i].IP, o.Pods[i].StartProblem = Pending, "", "cannot be scheduled: no such StorageClass"
			o.Volumes[i].Requested = 10
		}
	})
	drifted := func(o *Observed) { o.Volumes[1].Drift = true }
	grows := edit(healthyCluster(3, true), func(o *Observed) {
		o.Cluster.Size = 4
		p := waitingPod(3)
		p.Persistent, p.Phase, p.IP, p.StartProblem = true, Pending, "", "cannot be scheduled: no such StorageClass"
		o.Pods = append(o.Pods, p)
		o.Volumes = append(o.Volumes, Volume{Name: name(3), UID: "v3", Incarnation: 1, Owned: true, Drift: true})
	})
	again := CommitBootstrap{Bootstrap: newView(emptyCluster(3, true)).plannedBootstrap(2)}
	check(t, map[string]planCase{
		"another class in a first start": {edit(waiting, drifted), again},
		"a smaller size":                 {edit(waiting, func(o *Observed) { o.Cluster.VolumeSize = 9 }), again},
		"a larger one can wait":          {edit(waiting, func(o *Observed) { o.Cluster.VolumeSize = 11 }), Wait{Reason: v1beta2.ReasonPodCannotStart}},
		"once members may start it is an update": {
			edit(bound(bootstrapped(3, true)), drifted, func(o *Observed) { o.Pods[1].StartProblem = "x" }),
			Next(edit(bound(bootstrapped(3, true)), func(o *Observed) { o.Pods[1].StartProblem = "x" })),
		},
		"a candidate's pod goes": {grows, DeletePod{Name: "c-3", UID: "p3", Why: v1beta2.ReasonSpecChanged}},
		"another one is made":    {withoutPod(grows, 3), CreateVolumes{Names: []string{"c-4"}, Incarnation: 1}},
		"and the volume goes, too": {
			edit(withoutPod(grows, 3), func(o *Observed) { o.Cluster.Size = 3 }),
			DeleteVolume{Name: "c-3", UID: "v3", Why: v1beta2.ReasonSpecChanged},
		},
		"a member's is replaced": {
			edit(healthyCluster(3, true), drifted), CreateVolumes{Names: []string{"c-3"}, Incarnation: 1},
		},
	})
}

// TestAttempts is about a first start that fails by itself, again and again.
func TestAttempts(t *testing.T) {
	failed := func(attempt int, age time.Duration, edits ...func(*Observed)) Observed {
		o := bootstrapped(3, true)
		b := newView(o).plannedBootstrap(attempt)
		o.Cluster.Bootstrap = &b
		for i := range o.Pods {
			o.Pods[i].Incarnation, o.Volumes[i].Incarnation = attempt, attempt
			o.Pods[i].Created, o.Pods[i].Exit = now.Add(-age), ExitDataLost
		}
		return edit(withPermits(bound(o)), edits...)
	}
	next := func(attempt int) Action {
		return CommitBootstrap{Bootstrap: newView(emptyCluster(3, true)).plannedBootstrap(attempt)}
	}
	waits := Wait{Reason: v1beta2.ReasonPodCannotStart}
	check(t, map[string]planCase{
		"the second follows soon":         {failed(1, 11*time.Second), next(2)},
		"not at once":                     {failed(1, 9*time.Second), waits},
		"the fourth later":                {failed(3, 39*time.Second), waits},
		"but then it does":                {failed(3, 41*time.Second), next(4)},
		"five minutes are the longest":    {failed(40, 299*time.Second), waits},
		"after which it goes on":          {failed(40, 301*time.Second), next(41)},
		"at once if the spec has changed": {failed(5, 0, template(0)), next(6)},
		"at once if it was not its own fault": {withoutPod(withoutPod(failed(5, 0, func(o *Observed) {
			o.Volumes, o.Pods[2].Exit = nil, ExitNone
		}), 0), 1), next(6)},
	})
	want := "pod c-0: member-run refuses to start etcd: DataLost; attempt 3 to start has failed, and another one begins 40s after its pods were created"
	if got, _ := Next(failed(3, 10*time.Second)).(Wait); got.Message != want || got.After != 30*time.Second {
		t.Errorf("it says %q and looks again in %s", got.Message, got.After)
	}
}

// TestMutePods is about pods that do not start, and of which Kubernetes does not say why.
func TestMutePods(t *testing.T) {
	pending := func(age time.Duration) func(*Observed) {
		return func(o *Observed) {
			p := &o.Pods[len(o.Pods)-1]
			p.Phase, p.IP, p.Node, p.Ready, p.Created = Pending, "", "n1", false, now.Add(-time.Hour)
			p.ReadyChanged, p.WaitsFor = now.Add(-age), "a volume is not attached"
		}
	}
	candidate := func(persistent bool, age time.Duration) Observed {
		return edit(healthyCluster(3, persistent), func(o *Observed) {
			o.Cluster.Size = 4
			p := waitingPod(3)
			p.Persistent = persistent
			if o.Pods = append(o.Pods, p); persistent {
				o.Volumes = append(o.Volumes, Volume{Name: name(3), UID: "v3", Incarnation: 1, Owned: true})
			}
		}, pending(age))
	}
	check(t, map[string]planCase{
		"a member is replaced": {
			closed(edit(silent(healthyCluster(3, true), 2), pending(silentLimit+time.Second))),
			RemoveMember{ID: id(2), Name: "c-2", Why: v1beta2.ReasonPodCannotStart},
		},
		"not at once": {
			closed(edit(silent(healthyCluster(3, true), 2), pending(silentLimit-time.Second))),
			Wait{Reason: v1beta2.ReasonUpdateStopped},
		},
		"not if another one is down": {
			closed(edit(silent(silent(healthyCluster(5, true), 1), 4), pending(time.Hour))), Wait{Reason: v1beta2.ReasonWaitingForMember},
		},
		"not if one is missing already": {
			closed(edit(silent(healthyCluster(3, true), 2), pending(time.Hour), func(o *Observed) { o.Cluster.Size = 5 })),
			CreateVolumes{Names: []string{"c-3"}, Incarnation: 1},
		},
		"not one whose image is being pulled": {
			closed(edit(silent(healthyCluster(3, true), 2), pending(time.Hour), func(o *Observed) { o.Pods[2].WaitsFor = "" })),
			Wait{Reason: v1beta2.ReasonUpdateStopped},
		},
		"not one that ran until its node restarted": {
			closed(edit(silent(healthyCluster(3, true), 2), pending(time.Minute), func(o *Observed) { o.Pods[2].StartProblem = "cannot pull" })),
			Wait{Reason: v1beta2.ReasonUpdateStopped},
		},
		"not one that the others need": {
			noContact(edit(healthyCluster(2, true), pending(time.Hour))), Wait{Reason: v1beta2.ReasonQuorumLost},
		},
		"a candidate's claim goes": {
			candidate(true, time.Hour), DeleteVolume{Name: "c-3", UID: "v3", Why: v1beta2.ReasonPodCannotStart},
		},
		"then its pod": {
			edit(candidate(true, time.Hour), func(o *Observed) { o.Volumes[3].Deleting = true }),
			DeletePod{Name: "c-3", UID: "p3", Why: v1beta2.ReasonNotAMember},
		},
		"then there is another": {
			edit(candidate(true, time.Hour), func(o *Observed) {
				o.Volumes[3].Deleting, o.Pods[3].Deleting, o.Pods[3].Deadline = true, true, now
			}), CreateVolumes{Names: []string{"c-4"}, Incarnation: 1},
		},
		"with an emptyDir it is the pod": {
			candidate(false, time.Hour), DeletePod{Name: "c-3", UID: "p3", Why: v1beta2.ReasonPodCannotStart},
		},
		"a young one is waited for": {candidate(true, time.Minute), Wait{Reason: v1beta2.ReasonPodCannotStart}},
	})
}
