package plan

import (
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

// saved is a safety snapshot of all that the fixtures hold.
var saved = Safety{Revision: 100, CompletedAt: now}

// replacedBySnapshot is a cluster of three whose data a snapshot replaces: committed, the old one still there.
func replacedBySnapshot(persistent bool, changes ...func(*Observed)) Observed {
	o := healthyCluster(3, persistent)
	o.Cluster.Restore, o.Cluster.Safety = "restore", saved
	act := startRestore(newView(o)).(CommitBootstrap) //nolint:forcetypeassert // it answers with nothing else
	o.Cluster.Record, o.Cluster.Restore, o.Cluster.Safety = o.Cluster.startAttempt(act, o), "", Safety{}
	return edit(o, changes...)
}

// oldIsGone leaves of the replaced cluster what is kept: the volumes.
func oldIsGone(o *Observed) { o.Pods, o.Etcd = nil, Etcd{} }

// restoredPod is the initial member of the new cluster: its data is there, and etcd waits for its permit.
func restoredPod(o *Observed) {
	p := waitingPod(3)
	p.Incarnation, p.Restores, p.Persistent = 2, true, o.Cluster.Persistent
	o.Pods = append(o.Pods, p)
}

func restoredVolume(o *Observed) {
	o.Volumes = append(o.Volumes, Volume{Name: name(3), UID: "v3", Incarnation: 2, Owned: true})
}

func TestRestore(t *testing.T) {
	ask := func(o *Observed) { o.Cluster.Restore, o.Cluster.Safety = "restore", saved }
	first := newView(healthyCluster(3, true)).newBootstrap(2, []string{"c-3"}, "restore")
	ids, _ := IDs(first.Token, newView(replacedBySnapshot(true)).Cluster.peerURLs([]string{"c-3"}))
	check(t, map[string]planCase{
		"of a healthy cluster": {edit(healthyCluster(3, true), ask), CommitBootstrap{Bootstrap: first}},
		"of one without quorum": {
			edit(healthyCluster(3, true), ask, func(o *Observed) { o.Etcd = Etcd{} }),
			CommitBootstrap{Bootstrap: first, UnsavedReason: "no quorum could confirm that nothing was written after the safety snapshot (revision 100)"},
		},
		"of one that another cluster answers for": {
			edit(healthyCluster(3, true), ask, func(o *Observed) { o.Etcd.Answers[1].ClusterID = 0xbad }), CommitBootstrap{Bootstrap: first},
		},
		"of one that was saved long ago": {
			edit(healthyCluster(3, true), ask, func(o *Observed) { o.Cluster.Safety.CompletedAt = now.Add(-SafetyAge - time.Second) }),
			Wait{Reason: v1beta2.ReasonSaving},
		},
		"of one on an emptyDir whose safety snapshot may be old": {
			edit(healthyCluster(3, false), ask, func(o *Observed) { o.Cluster.Safety.Stale = true }), Wait{Reason: v1beta2.ReasonSaving},
		},
		"of one on an emptyDir that could not be saved": {
			edit(healthyCluster(3, false), ask, func(o *Observed) { o.Cluster.Safety = Safety{UnsavedReason: "nobody answers"} }),
			Wait{Reason: v1beta2.ReasonSaving},
		},
		"of one on an emptyDir that nobody needs": {
			edit(healthyCluster(3, false), ask, func(o *Observed) { o.Cluster.Safety = Safety{Skipped: true} }),
			CommitBootstrap{Bootstrap: first},
		},
		"of one on an emptyDir of which nothing is left": {
			edit(healthyCluster(3, false), ask, oldIsGone, func(o *Observed) { o.Cluster.Safety = Safety{UnsavedReason: "nobody answers"} }),
			CommitBootstrap{Bootstrap: newView(healthyCluster(3, false)).newBootstrap(2, []string{"c-0"}, "restore"), UnsavedReason: "nobody answers"},
		},
		"of one that is paused": {
			edit(healthyCluster(3, true), ask, func(o *Observed) { o.Cluster.Paused = true }), Idle{Reason: v1beta2.ReasonPaused},
		},
		"clients leave the old cluster": {replacedBySnapshot(true), RemoveFromService{Pod: "c-0", UID: "p0"}},
		"it stops": {
			replacedBySnapshot(true, func(o *Observed) { o.Pods[0].InService = false }),
			DeletePod{Name: "c-0", UID: "p0", Why: v1beta2.ReasonBootstrapping},
		},
		"a pod on a silent node is not waited for": {
			replacedBySnapshot(false, oldIsGone, func(o *Observed) {
				p := waitingPod(0)
				p.Deleting, p.Deadline = true, now.Add(-time.Minute)
				o.Pods = append(o.Pods, p)
			}),
			CreatePods{Pods: []NewPod{{Name: "c-3", Incarnation: 2, Version: "3.6.16", Restores: true}}},
		},
		"the old volumes stay": {
			replacedBySnapshot(true, oldIsGone), CreateVolumes{Names: []string{"c-3"}, Incarnation: 2},
		},
		"the member starts from the snapshot's data only": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod),
			WritePermits{Permits: []PodPermit{{Pod: "c-3", UID: "p3", Permit: member.Permit{
				Mode: member.ModeResume, ClusterID: member.ID(first.ClusterID), MemberID: member.ID(ids["c-3"]),
			}}}},
		},
		"it waits while the snapshot is read": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, func(o *Observed) { o.Pods[0].Phase = Pending }),
			Wait{Reason: v1beta2.ReasonRestoring},
		},
		"it is begun again if the data is lost before anybody could use it": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, func(o *Observed) { o.Pods[0].Exit = ExitDataLost }),
			CommitBootstrap{Bootstrap: newView(replacedBySnapshot(true)).newBootstrap(3, []string{"c-4"}, "restore")},
		},
		"and so it is if its volume is lost, which stays": {
			replacedBySnapshot(true, oldIsGone, restoredVolume, func(o *Observed) {
				o.Volumes[3].ClusterID, o.Volumes[3].MemberID, o.Volumes[3].Lost = o.Cluster.Bootstrap.ClusterID, uint64(initialID(*o, 3)), true
			}),
			CommitBootstrap{Bootstrap: newView(replacedBySnapshot(true)).newBootstrap(3, []string{"c-4"}, "restore")},
		},
		"a cluster that is to start from a snapshot waits": {
			edit(emptyCluster(3, true), func(o *Observed) { o.Cluster.WaitsForRestore = "c-restore" }),
			Wait{Reason: v1beta2.ReasonWaitingForRestore},
		},
		"and has the EtcdRestore made": {
			edit(emptyCluster(3, true), func(o *Observed) { o.Cluster.WaitsForRestore, o.Cluster.CreateRestore = "c-restore", true }),
			CreateRestore{Name: "c-restore"},
		},
	})
}

// TestReplacedData is about the volumes of the cluster that a restore has replaced.
func TestReplacedData(t *testing.T) {
	left := func(o *Observed) {
		o.Cluster.Bootstrap.Restore, o.Cluster.Bootstrap.Incarnation = "restore", 2
		o.Cluster.Incarnations = Incarnations{Last: 2, FirstRestore: 2}
		for i := range o.Pods {
			o.Pods[i].Incarnation, o.Volumes[i].Incarnation = 2, 2
		}
		o.Volumes = append(o.Volumes, Volume{Name: "c-9", UID: "v9", Incarnation: 1, Owned: true, ClusterID: 0x0d, MemberID: 1})
	}
	skipped := func(o *Observed) { o.Cluster.SafetySkipped, o.Cluster.ReplacedID = true, 0x0d }
	check(t, map[string]planCase{
		"it stays for good": {edit(healthyCluster(3, true), left), Idle{Reason: v1beta2.ReasonSpecReached}},
		"it goes with Skip, once the cluster is as the spec asks": {
			edit(healthyCluster(3, true), left, skipped), DeleteVolume{Name: "c-9", UID: "v9", Why: v1beta2.ReasonRestored},
		},
		"a volume goes that etcd was never let start on": {
			edit(healthyCluster(3, true), left, func(o *Observed) { o.Volumes[3].MemberID = 0 }),
			DeleteVolume{Name: "c-9", UID: "v9", Why: v1beta2.ReasonRestored},
		},
		"what an earlier restore has left stays with Skip, too": {
			edit(healthyCluster(3, true), left, skipped, func(o *Observed) { o.Cluster.KeptUIDs = []string{"v9"} }),
			Idle{Reason: v1beta2.ReasonSpecReached},
		},
		"that of a quarantined member stays with Skip, too": {
			edit(healthyCluster(3, true), left, skipped, func(o *Observed) { o.Volumes[3].Quarantined = true }), Idle{Reason: v1beta2.ReasonSpecReached},
		},
		"it stays whatever it says that it was made for": {
			edit(healthyCluster(3, true), left, func(o *Observed) { o.Cluster.KeptUIDs, o.Volumes[3].Incarnation = []string{"v9"}, 2 }),
			Idle{Reason: v1beta2.ReasonSpecReached},
		},
		"a volume of another cluster that has lost its number stays": {
			edit(healthyCluster(3, true), func(o *Observed) {
				o.Volumes = append(o.Volumes, Volume{Name: "c-9", UID: "v9", Owned: true, ClusterID: 0xc0, MemberID: 1})
			}),
			Idle{Reason: v1beta2.ReasonSpecReached},
		},
		"and nobody takes its name": {
			edit(healthyCluster(3, true), left, func(o *Observed) {
				o.Cluster.Size = 4
				o.Volumes[len(o.Volumes)-1].Name = "c-3"
			}),
			CreateVolumes{Names: []string{"c-4"}, Incarnation: 2},
		},
		"it stays while a member is missing": {
			edit(healthyCluster(3, true), left, func(o *Observed) { o.Cluster.Size = 5 }),
			CreateVolumes{Names: []string{"c-3", "c-4"}, Incarnation: 2},
		},
		"a pod that restores is made again without the credentials": {
			closed(edit(healthyCluster(3, true), left, func(o *Observed) { o.Pods[1].Restores = true })),
			RemoveFromService{Pod: "c-1", UID: "p1"},
		},
	})
}

// TestRestoreMended has a member that cannot start from a snapshot get what the spec was corrected to.
func TestRestoreMended(t *testing.T) {
	another := CommitBootstrap{Bootstrap: newView(replacedBySnapshot(true)).newBootstrap(3, []string{"c-0"}, "restore")}
	begun := func(persistent bool, change func(*Pod)) Observed {
		o := replacedBySnapshot(persistent, oldIsGone, func(o *Observed) { o.Volumes = nil }, restoredPod)
		if persistent {
			o = edit(o, restoredVolume)
		}
		return edit(o, func(o *Observed) { change(&o.Pods[0]) })
	}
	permitted := func(persistent bool, change func(*Pod)) Observed {
		return edit(begun(persistent, change), func(o *Observed) {
			b := o.Cluster.Bootstrap
			o.Pods[0].Permit = &member.Permit{Mode: member.ModeResume, ClusterID: member.ID(b.ClusterID), MemberID: initialID(*o, 3)}
			if persistent {
				o.Volumes[0].ClusterID, o.Volumes[0].MemberID, o.Volumes[0].Version = b.ClusterID, uint64(initialID(*o, 3)), "3.6.16"
			}
		})
	}
	pending := func(p *Pod) { p.Phase, p.IP, p.StartProblem = Pending, "", "cannot be scheduled" }
	full := func(p *Pod) {
		p.Phase, p.RestoreFailure = Pending, &failure.Problem{Reason: "R", Message: "no space left", Terminal: true}
	}
	starved := func(p *Pod) { p.StartProblem, p.Drift.Resources = "OOMKilled", true }
	larger := func(o *Observed) { o.Cluster.VolumeSize, o.Volumes[0].Requested = 2<<30, 1<<30 }
	check(t, map[string]planCase{
		"another storage class": {edit(begun(true, pending), func(o *Observed) { o.Volumes[0].Drift = true }), another},
		"a larger volume":       {edit(begun(true, full), larger), another},
		"another storage class, and there is no EtcdRestore for another attempt": {
			edit(begun(true, pending), func(o *Observed) { o.Volumes[0].Drift, o.Cluster.SourceGone = true, true }),
			Wait{Reason: v1beta2.ReasonPodCannotStart},
		},
		"a larger volume, while the snapshot is read": {
			edit(begun(true, func(p *Pod) { p.Phase = Pending }), larger), Wait{Reason: v1beta2.ReasonRestoring},
		},
		"a larger volume, that etcd was let start on": {
			edit(permitted(true, func(p *Pod) { p.StartProblem = "no space left" }), larger), Expand{Names: []string{"c-3"}},
		},
		"resources, before it may start": {
			begun(true, starved), DeletePod{Name: "c-3", UID: "p3", Why: v1beta2.ReasonSpecChanged},
		},
		"resources":                {permitted(true, starved), Recreate{Name: "c-3", UID: "p3", Version: "3.6.16"}},
		"resources on an emptyDir": {permitted(false, starved), Resize{Name: "c-3", UID: "p3"}},
		"resources, and it runs":   {permitted(true, func(p *Pod) { p.Drift.Resources = true }), Wait{Reason: v1beta2.ReasonWaitingForEtcd}},
		"the volume is what the spec asks for": {
			edit(begun(true, pending), func(o *Observed) { o.Cluster.VolumeSize, o.Volumes[0].Requested = 1<<30, 1<<30 }),
			Wait{Reason: v1beta2.ReasonPodCannotStart},
		},
	})
}
