package plan

import (
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

func TestRepair(t *testing.T) {
	resume := &member.Permit{Mode: member.ModeResume, ClusterID: member.ID(recordedID), MemberID: member.ID(id(1))}
	check(t, map[string]planCase{
		"pod gone, volume there: the same member again": {
			withoutPod(healthyCluster(3, true), 1), CreatePods{[]NewPod{{Name: "c-1", Incarnation: 1, Version: "3.6.16", Persistent: true, Permit: resume}}},
		},
		"all pods gone, volumes there: all at once, without a quorum": {
			noContact(edit(healthyCluster(2, true), func(o *Observed) { o.Pods = nil })),
			CreatePods{[]NewPod{
				{Name: "c-0", Incarnation: 1, Version: "3.6.16", Persistent: true, Permit: &member.Permit{Mode: member.ModeResume, ClusterID: member.ID(recordedID), MemberID: member.ID(id(0))}},
				{Name: "c-1", Incarnation: 1, Version: "3.6.16", Persistent: true, Permit: resume},
			}},
		},
		"a pod made before the cluster ID was recorded that still lacks its permit": {
			edit(silent(healthyCluster(3, true), 1), func(o *Observed) { o.Pods[1].Permit = nil }),
			WritePermits{[]PodPermit{{Pod: "c-1", UID: "p1", Permit: *resume}}},
		},
		"a volume on its way out is never used": {
			closed(edit(withoutPod(healthyCluster(3, true), 1), func(o *Observed) { o.Volumes[1].Deleting = true })),
			RemoveMember{ID: id(1), Name: "c-1", Why: v1beta2.ReasonVolumeLost},
		},
		"a pod that ended is deleted": {
			edit(silent(healthyCluster(3, true), 1), func(o *Observed) { o.Pods[1].Phase = Finished }),
			DeletePod{Name: "c-1", UID: "p1", Why: v1beta2.ReasonPodEnded},
		},
		"an emptyDir pod gone: close the budget first": {
			withoutPod(healthyCluster(3, false), 1), SetBudget{MinAvailable: 3},
		},
		"then wait until no eviction is in flight": {
			edit(closed(withoutPod(healthyCluster(3, false), 1)), func(o *Observed) { o.Budget.Settled = false }),
			Wait{Reason: v1beta2.ReasonWaitingForBudget},
		},
		"then take the member out": {
			closed(withoutPod(healthyCluster(3, false), 1)),
			RemoveMember{ID: id(1), Name: "c-1", Why: v1beta2.ReasonVolumeLost},
		},
		"two of five lost: one after the other": {
			closed(withoutPod(withoutPod(healthyCluster(5, false), 1), 3)),
			RemoveMember{ID: id(1), Name: "c-1", Why: v1beta2.ReasonVolumeLost},
		},
		"an emptyDir pod on its way out that still votes": {
			edit(healthyCluster(3, false), func(o *Observed) { o.Pods[1].Deleting, o.Pods[1].Deadline = true, now }),
			Wait{Reason: v1beta2.ReasonWaitingForPods},
		},
		"a pod that outlives its deadline: its node is lost": {
			closed(edit(silent(healthyCluster(3, true), 1), func(o *Observed) {
				o.Pods[1].Deleting, o.Pods[1].Deadline = true, now.Add(-terminatingGrace-time.Second)
			})), RemoveMember{ID: id(1), Name: "c-1", Why: v1beta2.ReasonNodeLost},
		},
		"until then it may be on a node that only lost its network": {
			edit(silent(healthyCluster(3, true), 1), func(o *Observed) {
				o.Pods[1].Deleting, o.Pods[1].Deadline = true, now
			}), Wait{Reason: v1beta2.ReasonWaitingForPods},
		},
		"a member that member-run refuses to start without its data": {
			closed(edit(silent(healthyCluster(3, true), 1), func(o *Observed) { o.Pods[1].Exit = ExitDataLost })),
			RemoveMember{ID: id(1), Name: "c-1", Why: v1beta2.ReasonVolumeLost},
		},
		"a member that cannot be configured keeps its place": {
			edit(silent(healthyCluster(3, true), 1), func(o *Observed) { o.Pods[1].Exit = ExitBadConfig }),
			Wait{Reason: v1beta2.ReasonPodCannotStart},
		},
		"a member whose data is damaged": {
			closed(edit(silent(healthyCluster(3, true), 1), func(o *Observed) {
				o.Pods[1].Exit, o.Pods[1].StartProblem, o.Pods[1].Ready = ExitCorrupt, "crc mismatch", false
			})), RemoveMember{ID: id(1), Name: "c-1", Why: v1beta2.ReasonDataDamaged},
		},
		"and not by the word of a version that no healthy member runs": {
			edit(silent(healthyCluster(3, true), 1), func(o *Observed) {
				o.Pods[1].Exit, o.Pods[1].StartProblem, o.Pods[1].Ready = ExitCorrupt, "panic: invalid page", false
				o.Pods[1].Version, o.Cluster.Version = "3.6.17", "3.6.17"
			}), PrepullImages{Images: []NodeImage{
				{Node: "n0", Image: "quay.io/coreos/etcd:v3.6.17"}, {Node: "n2", Image: "quay.io/coreos/etcd:v3.6.17"},
			}},
		},
		"nor while it may be the disk": {
			edit(silent(healthyCluster(3, true), 1), func(o *Observed) {
				o.Pods[1].Exit, o.Pods[1].StartProblem, o.Pods[1].Ready = ExitUnreadable, "input/output error", false
				o.Pods[1].ReadyChanged = now
			}), Wait{Reason: v1beta2.ReasonPodCannotStart},
		},
		"a claim that is going away under its pod: another member first": {
			edit(healthyCluster(3, true), func(o *Observed) { o.Volumes[1].Deleting = true }),
			CreateVolumes{Names: []string{"c-3"}, Incarnation: 1},
		},
		"a member whose pod never starts on another node": {
			closed(edit(silent(healthyCluster(3, true), 1), func(o *Observed) {
				o.Pods[1].Phase, o.Pods[1].StartProblem, o.Pods[1].Created = Pending, "no node", now.Add(-2*pendingLimit)
			})), RemoveMember{ID: id(1), Name: "c-1", Why: v1beta2.ReasonPodCannotStart},
		},
		"an old pod with a new problem may mend": {
			edit(silent(healthyCluster(3, true), 1), func(o *Observed) {
				o.Pods[1].StartProblem, o.Pods[1].Created = "disk cannot be read", now.Add(-2*pendingLimit)
			}), Wait{Reason: v1beta2.ReasonPodCannotStart},
		},
		"a silent member with its data is waited for": {
			silent(healthyCluster(3, true), 1), Wait{Reason: v1beta2.ReasonMemberDown},
		},
		"what the quorum does not list is deleted, the pod first": {
			edit(healthyCluster(4, true), func(o *Observed) {
				o.Cluster.Size, o.Etcd.Members = 3, o.Etcd.Members[:3]
			}), DeletePod{Name: "c-3", UID: "p3", Why: v1beta2.ReasonNotAMember},
		},
		"then its volume": {
			edit(withoutPod(healthyCluster(4, true), 3), func(o *Observed) {
				o.Cluster.Size, o.Etcd.Members = 3, o.Etcd.Members[:3]
			}), DeleteVolume{Name: "c-3", UID: "v3", Why: v1beta2.ReasonNotAMember},
		},
		"a first member without a seat joins as a learner instead": {
			closed(edit(silent(healthyCluster(3, false), 2), func(o *Observed) {
				o.Etcd.Members[2].Published, o.Pods[2].Permit, o.Pods[2].InService = false, nil, false
			})), RemoveMember{ID: id(2), Name: "c-2", Why: v1beta2.ReasonNeverStarted},
		},
		"a member with certificates that cannot be used keeps its place": {
			edit(silent(healthyCluster(3, true), 1), func(o *Observed) { o.Pods[1].Exit = ExitBadCertificates }),
			Wait{Reason: v1beta2.ReasonPodCannotStart},
		},
		"so does a learner that has not started for them": {
			edit(lateLearner(3*time.Minute), func(o *Observed) { o.Pods[2].Exit = ExitBadCertificates }),
			Wait{Reason: v1beta2.ReasonWaitingForLearner},
		},
		"a learner that has had its time to start and did not is replaced": {
			lateLearner(3 * time.Minute), RemoveMember{ID: id(2), Name: "c-2", Why: v1beta2.ReasonNeverStarted},
		},
		"the minutes that its volume took are not of that time": {
			lateLearner(time.Second), Wait{Reason: v1beta2.ReasonWaitingForLearner},
		},
	})
}

func TestNoQuorum(t *testing.T) {
	check(t, map[string]planCase{
		"two of three silent: report and wait": {
			noContact(healthyCluster(3, true)), Wait{Reason: v1beta2.ReasonQuorumLost},
		},
		"the only copy is gone": {
			noContact(withoutPod(healthyCluster(1, false), 0)), Blocked{Reason: v1beta2.ReasonDataLost},
		},
		"two of three emptyDir members gone": {
			noContact(withoutPod(withoutPod(healthyCluster(3, false), 0), 1)), Blocked{Reason: v1beta2.ReasonDataLost},
		},
		"one of two emptyDir members gone, the other was never let in": {
			noContact(edit(withoutPod(healthyCluster(3, false), 0), func(o *Observed) { o.Pods[0].Permit = nil })),
			Blocked{Reason: v1beta2.ReasonDataLost},
		},
		"never a membership change, whatever the size": {
			noContact(edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Size = 1 })),
			Wait{Reason: v1beta2.ReasonQuorumLost},
		},
	})
}

func TestGrow(t *testing.T) {
	five := func(o *Observed) { o.Cluster.Size = 5 }
	candidates := edit(healthyCluster(3, false), func(o *Observed) {
		five(o)
		o.Pods = append(o.Pods, waitingPod(3), waitingPod(4))
	})
	listed := withLearner(withLearner(edit(healthyCluster(3, false), five), 3), 4)
	check(t, map[string]planCase{
		"all candidates at once from 3.6 on": {
			edit(healthyCluster(3, false), five),
			CreatePods{[]NewPod{{Name: "c-3", Incarnation: 1, Version: "3.6.16"}, {Name: "c-4", Incarnation: 1, Version: "3.6.16"}}},
		},
		"one at a time in 3.5": {
			edit(healthyCluster(3, false), func(o *Observed) { five(o); o.Pods[1].Version, o.Etcd.Answers[1].Version = "3.5.35", "3.5.35" }),
			CreatePods{[]NewPod{{Name: "c-3", Incarnation: 1, Version: "3.5.35"}}},
		},
		"volumes before pods": {
			edit(healthyCluster(3, true), five), CreateVolumes{Names: []string{"c-3", "c-4"}, Incarnation: 1},
		},
		"the lowest free number": {
			edit(closed(withoutPod(healthyCluster(3, false), 1)), func(o *Observed) {
				o.Etcd.Members = append(o.Etcd.Members[:1:1], o.Etcd.Members[2])
			}), CreatePods{[]NewPod{{Name: "c-1", Incarnation: 1, Version: "3.6.16"}}},
		},
		"candidates with an address become learners": {
			candidates, AddLearner{Name: "c-3", PeerURL: "http://c-3.c.ns.svc:2380"},
		},
		"one that cannot be configured is neither added nor made again from the same spec": {
			edit(candidates, func(o *Observed) { o.Pods[3].Exit, o.Pods[4].Exit = ExitBadConfig, ExitBadConfig }),
			Wait{Reason: v1beta2.ReasonPodCannotStart},
		},
		"nor is one whose certificates cannot be used": {
			edit(candidates, func(o *Observed) { o.Pods[3].Exit, o.Pods[4].Exit = ExitBadCertificates, ExitBadCertificates }),
			Wait{Reason: v1beta2.ReasonPodCannotStart},
		},
		"and keeps no other one waiting": {
			edit(candidates, func(o *Observed) { o.Pods[3].Exit = ExitBadConfig }),
			AddLearner{Name: "c-4", PeerURL: "http://c-4.c.ns.svc:2380"},
		},
		"once all of the batch have one": {
			edit(candidates, func(o *Observed) {
				o.Pods = append([]Pod{}, o.Pods...)
				o.Pods[3].Created, o.Pods[4].Created, o.Pods[4].IP = now, now, ""
			}), Wait{Reason: v1beta2.ReasonWaitingForPods},
		},
		"an eviction is to leave a quorum of the learner and the voters": {
			started(withLearner(edit(healthyCluster(3, false), five), 3)), SetBudget{MinAvailable: 3},
		},
		"a learner in sync votes": {
			closed(started(withLearner(edit(healthyCluster(3, false), five), 3))), Promote{ID: id(3), Name: "c-3"},
		},
		"a learner behind is waited for": {
			edit(started(withLearner(edit(healthyCluster(3, false), func(o *Observed) { o.Cluster.Size = 4 }), 3)),
				func(o *Observed) { o.Etcd.Answers[3].Applied = 10 }),
			Wait{Reason: v1beta2.ReasonWaitingForLearner},
		},
		"no promotion that would cost the quorum": {
			started(withLearner(silent(silent(edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Size = 4 }),
				1), 2), 3)), Wait{Reason: v1beta2.ReasonWaitingForLearner},
		},
		"a promoted voter serves": {
			edit(healthyCluster(3, false), func(o *Observed) { o.Pods[2].InService = false }), AddToService{Pods: []string{"c-2"}},
		},
	})
	permits, ok := Next(listed).(WritePermits)
	if !ok || len(permits.Permits) != 2 || permits.Permits[0].Permit.Mode != member.ModeJoin ||
		permits.Permits[1].Permit.InitialCluster != permits.Permits[0].Permit.InitialCluster {
		t.Errorf("permits of the learners: %+v", permits)
	}
}

func TestBudgetBeforeANewVoterServes(t *testing.T) {
	o := edit(healthyCluster(2, false), func(o *Observed) { o.Budget.MinAvailable, o.Pods[1].InService = 1, false })
	check(t, map[string]planCase{
		"an eviction must not take one of two":  {o, SetBudget{MinAvailable: 2}},
		"the new voter serves once it cannot":   {edit(o, func(o *Observed) { o.Budget.MinAvailable = 2 }), AddToService{[]string{"c-1"}}},
		"a budget that is closed stays so then": {edit(o, func(o *Observed) { o.Budget.MinAvailable = 9 }), AddToService{[]string{"c-1"}}},
	})
}

func TestShrink(t *testing.T) {
	three := func(o *Observed) { o.Cluster.Size = 3 }
	check(t, map[string]planCase{
		"candidates first": {
			edit(healthyCluster(3, false), func(o *Observed) { o.Pods = append(o.Pods, waitingPod(3)) }),
			DeletePod{Name: "c-3", UID: "p3", Why: v1beta2.ReasonScaling},
		},
		"then learners": {
			started(withLearner(healthyCluster(3, false), 3)),
			RemoveMember{ID: id(3), Name: "c-3", Why: v1beta2.ReasonScaling},
		},
		"a learner that lags goes": {
			edit(started(withLearner(healthyCluster(3, false), 3)), func(o *Observed) { o.Etcd.Answers[3].Applied = 1 }),
			RemoveMember{ID: id(3), Name: "c-3", Why: v1beta2.ReasonScaling},
		},
		"evictions are blocked first": {edit(healthyCluster(5, false), three), SetBudget{MinAvailable: 5}},
		"then clients leave":          {closed(edit(healthyCluster(5, false), three)), RemoveFromService{Pod: "c-4", UID: "p4"}},
		"from the fullest node": {
			closed(unserved(edit(healthyCluster(5, false), three), 4)),
			RemoveMember{ID: id(4), Name: "c-4", Why: v1beta2.ReasonScaling},
		},
		"one that is down before one that is up": {
			closed(silent(edit(healthyCluster(5, true), three), 2)),
			RemoveMember{ID: id(2), Name: "c-2", Why: v1beta2.ReasonScaling},
		},
		"one whose node does not report": {
			closed(unserved(edit(healthyCluster(5, false), func(o *Observed) { three(o); o.Pods[2].Ready = false }), 2)),
			RemoveMember{ID: id(2), Name: "c-2", Why: v1beta2.ReasonScaling},
		},
		"one whose volume is going away": {
			closed(unserved(edit(healthyCluster(5, true), func(o *Observed) { three(o); o.Volumes[2].Deleting = true }), 2)),
			RemoveMember{ID: id(2), Name: "c-2", Why: v1beta2.ReasonScaling},
		},
		"the leader only after it has handed over": {
			closed(edit(healthyCluster(4, false), func(o *Observed) {
				three(o)
				// Two members share the leader's zone, one of them its node: the leader's node is the fullest.
				o.Pods[0].Zone, o.Pods[1].Zone, o.Pods[2].Zone, o.Pods[3].Zone = "a", "b", "a", "c"
				o.Pods[0].Node, o.Pods[3].Node, o.Pods[2].Node = "n0", "n0", "n2"
			})), MoveLeader{From: id(0), To: id(1), FromName: "c-0", ToName: "c-1"},
		},
		"never what would cost the quorum": {
			edit(silent(silent(healthyCluster(5, true), 3), 4), func(o *Observed) { o.Cluster.Size = 5 }),
			Wait{Reason: v1beta2.ReasonMemberDown},
		},
		"down to one: written down first": {
			closed(unserved(edit(healthyCluster(2, false), func(o *Observed) { o.Cluster.Size = 1 }), 1)),
			CommitVoters{[]string{"c-0"}},
		},
		"down to one": {
			closed(unserved(edit(healthyCluster(2, false), func(o *Observed) {
				o.Cluster.Size, o.Cluster.NextVoters = 1, []string{"c-0"}
			}), 1)),
			RemoveMember{ID: id(1), Name: "c-1", Why: v1beta2.ReasonScaling},
		},
	})
}
