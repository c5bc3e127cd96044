package plan

import (
	"reflect"
	"slices"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
)

type planCase struct {
	observed Observed
	want     Action
}

// check compares messages only where a case gives one: they are for people.
func check(t *testing.T, cases map[string]planCase) {
	t.Helper()
	for title, c := range cases {
		t.Run(title, func(t *testing.T) {
			if got := withoutMessage(Next(c.observed)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("Next() = %#v\nwant     %#v", got, c.want)
			}
		})
	}
}

func withoutMessage(a Action) Action {
	switch act := a.(type) {
	case Idle:
		return Idle{Reason: act.Reason}
	case Wait:
		return Wait{Reason: act.Reason}
	case Blocked:
		return Blocked{Reason: act.Reason}
	default:
		return a
	}
}

// edit changes a copy.
func edit(o Observed, changes ...func(*Observed)) Observed {
	o.Pods, o.Volumes, o.PrepullPods = slices.Clone(o.Pods), slices.Clone(o.Volumes), slices.Clone(o.PrepullPods)
	o.Etcd.Members, o.Etcd.Answers = slices.Clone(o.Etcd.Members), slices.Clone(o.Etcd.Answers)
	o.Etcd.Databases = slices.Clone(o.Etcd.Databases)
	for _, change := range changes {
		change(&o)
	}
	return o
}

func TestAlways(t *testing.T) {
	check(t, map[string]planCase{
		"deleting": {
			edit(emptyCluster(3, false), func(o *Observed) { o.Cluster.Deleting = true }),
			Idle{Reason: v1beta2.ReasonTerminating},
		},
		"paused": {
			edit(withoutPod(healthyCluster(3, true), 1), func(o *Observed) { o.Cluster.Paused = true }),
			Idle{Reason: v1beta2.ReasonPaused},
		},
		"name taken": {
			edit(emptyCluster(3, false), func(o *Observed) { o.Conflicts = []Conflict{{Kind: "Service", Name: "c"}} }),
			Blocked{Reason: v1beta2.ReasonNameTaken},
		},
		"the cluster that had the name is still going": {
			edit(emptyCluster(3, false), func(o *Observed) { o.Conflicts = []Conflict{{Kind: "Pod", Terminating: true}} }),
			Wait{Reason: v1beta2.ReasonWaitingForPrevious},
		},
		"a member answers for another cluster": {
			edit(healthyCluster(3, true), func(o *Observed) { o.Etcd.Answers[1].ClusterID = 0xbad }),
			Blocked{Reason: v1beta2.ReasonClusterIDMismatch},
		},
		"the revision went back": {
			edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Revision = 101 }),
			Blocked{Reason: v1beta2.ReasonRevisionRegressed},
		},
		"a revision that could not be read is no proof": {
			edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Revision, o.Etcd.RevisionCeiling = 101, 0 }),
			Idle{Reason: v1beta2.ReasonSpecReached},
		},
		"nor is one that is low for few": {
			edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Revision, o.Etcd.Revision, o.Etcd.RevisionCeiling = 101, 1, 101 }),
			Idle{Reason: v1beta2.ReasonSpecReached},
		},
		"a stranger's pod is in nobody's way": {
			edit(healthyCluster(3, true), func(o *Observed) { o.Conflicts = []Conflict{{Kind: KindPod, Name: "toolbox"}} }),
			Idle{Reason: v1beta2.ReasonSpecReached},
		},
		"and healing goes on": {
			edit(withoutPod(healthyCluster(3, true), 1), func(o *Observed) {
				o.Conflicts = []Conflict{{Kind: KindPod, Name: "c-7", Terminating: true}}
			}), CreatePods{[]NewPod{{Name: "c-1", Incarnation: 1, Persistent: true, Version: "3.6.16", Permit: &member.Permit{
				Mode: member.ModeResume, ClusterID: member.ID(recordedID), MemberID: member.ID(id(1)),
			}}}},
		},
		"but not where it has a member's name": {
			edit(withoutPod(healthyCluster(3, true), 1), func(o *Observed) {
				o.Conflicts = []Conflict{{Kind: KindPod, Name: "c-1", Owner: "nobody"}}
			}), Blocked{Reason: v1beta2.ReasonNameTaken},
		},
		"at the spec": {healthyCluster(3, false), Idle{Reason: v1beta2.ReasonSpecReached}},
	})
}

func TestBootstrap(t *testing.T) {
	first := newView(emptyCluster(3, false)).plannedBootstrap(1)
	second := newView(emptyCluster(3, false)).plannedBootstrap(2)
	waiting := bootstrapped(3, false)
	full := bound(bootstrapped(3, false))
	permits := Next(full).(WritePermits)
	if len(permits.Permits) != 3 || permits.Permits[0].Permit.Mode != member.ModeNew ||
		permits.Permits[0].Permit.PodUID != "p0" || permits.Permits[0].Permit.ClusterID != member.ID(first.ClusterID) {
		t.Errorf("permits of the first members: %+v", permits)
	}
	allSeats := *full.Cluster.Bootstrap
	check(t, map[string]planCase{
		"write down the plan first": {emptyCluster(3, false), CommitBootstrap{Bootstrap: first}},
		"an unusable spec is not started": {
			edit(emptyCluster(3, false), func(o *Observed) {
				o.Cluster.Invalid = &failure.Problem{Reason: v1beta2.ReasonUnsupportedVersion}
			}), Blocked{Reason: v1beta2.ReasonUnsupportedVersion},
		},
		"then the pods, without permits": {
			edit(waiting, func(o *Observed) { o.Pods = nil }),
			CreatePods{[]NewPod{{Name: "c-0", Incarnation: 1, Version: "3.6.16"}, {Name: "c-1", Incarnation: 1, Version: "3.6.16"}, {Name: "c-2", Incarnation: 1, Version: "3.6.16"}}},
		},
		"volumes before pods": {
			edit(bootstrapped(3, true), func(o *Observed) { o.Pods, o.Volumes = nil, nil }),
			CreateVolumes{Names: []string{"c-0", "c-1", "c-2"}, Incarnation: 1},
		},
		"a new size is taken up while nobody could start": {
			edit(bootstrapped(2, false), func(o *Observed) { o.Cluster.Size = 3 }), CommitBootstrap{Bootstrap: second},
		},
		"wait for every address": {
			edit(waiting, func(o *Observed) { o.Pods = append([]Pod{}, o.Pods...); o.Pods[1].Created = now; o.Pods[2].IP = "" }),
			Wait{Reason: v1beta2.ReasonWaitingForPods},
		},
		"seat those that are there": {waiting, CommitBootstrap{Bootstrap: allSeats}},
		"a pod made from an older spec is made again while it waits": {
			edit(bootstrapped(3, false), func(o *Observed) { o.Pods[1].Drift.Template = true }),
			DeletePod{Name: "c-1", UID: "p1", Why: v1beta2.ReasonSpecChanged},
		},
		"one that cannot be configured is made again from the new spec": {
			edit(withPermits(full), func(o *Observed) { o.Pods[1].Drift.Template, o.Pods[1].Exit = true, ExitBadConfig }),
			DeletePod{Name: "c-1", UID: "p1", Why: v1beta2.ReasonSpecChanged},
		},
		"one whose certificates cannot be used is not: its data, if it has any, may be all that there is": {
			edit(withPermits(full), func(o *Observed) { o.Pods[1].Drift.Template, o.Pods[1].Exit = true, ExitBadCertificates }),
			Wait{Reason: v1beta2.ReasonPodCannotStart},
		},
		"and until then says so, and has lost nothing": {
			edit(withPermits(bound(bootstrapped(1, false))), func(o *Observed) { o.Pods[0].Exit = ExitBadConfig }),
			Wait{Reason: v1beta2.ReasonPodCannotStart},
		},
		"a seat's pod is lost, a quorum is left: go on": {
			withPermits(withoutPod(full, 2)), Wait{Reason: v1beta2.ReasonWaitingForEtcd},
		},
		"two of three lost for good: start again": {
			withoutPod(withoutPod(full, 2), 1), CommitBootstrap{Bootstrap: second},
		},
		"but not over data": {
			edit(withoutPod(withoutPod(full, 2), 1), func(o *Observed) {
				o.Etcd.Answers = []Answer{{Pod: "c-0", PodUID: "p0", ClusterID: first.ClusterID, Revision: 2}}
			}), Blocked{Reason: v1beta2.ReasonDataLost},
		},
		"record the cluster ID as soon as a quorum answers": {
			answering(withPermits(full), first.ClusterID, 0, 1), RecordClusterID{ClusterID: first.ClusterID},
		},
		"but not on one that leans on a pod that is going": {
			edit(answering(withPermits(full), first.ClusterID, 0, 1), func(o *Observed) { o.Pods[1].Deleting = true }),
			Wait{Reason: v1beta2.ReasonWaitingForEtcd},
		},
		"not while somebody who may have data is silent": {
			withPermits(withoutPod(withoutPod(full, 2), 1)), Wait{Reason: v1beta2.ReasonWaitingForEtcd},
		},
		"a volume lost before its seat is made again, after its pod": {
			edit(bootstrapped(3, true), func(o *Observed) { o.Volumes[1].Lost = true }),
			DeletePod{Name: "c-1", UID: "p1", Why: v1beta2.ReasonBootstrapping},
		},
		"who had a permit comes back only with data": {
			withoutPod(born(bound(bootstrapped(3, true)), 1), 1),
			CreatePods{[]NewPod{{Name: "c-1", Incarnation: 1, Version: "3.6.16", Persistent: true, Permit: &member.Permit{
				Mode: member.ModeResume, ClusterID: member.ID(bootstrapped(3, true).Cluster.Bootstrap.ClusterID), MemberID: initialID(bootstrapped(3, true), 1),
			}}}},
		},
		"who had none takes the seat over": {
			edit(withPermits(bound(bootstrapped(3, true))), func(o *Observed) { o.Pods[1].UID, o.Pods[1].Permit = "new", nil }),
			CommitBootstrap{Bootstrap: edit(bound(bootstrapped(3, true)), func(o *Observed) {
				o.Cluster.Bootstrap.InitialPods[1].PodUID = "new"
			}).bootstrap()},
		},
		"what an abandoned attempt left goes first": {
			edit(bootstrapped(3, false), func(o *Observed) { o.Cluster.Bootstrap.Incarnation = 2 }),
			DeletePod{Name: "c-0", UID: "p0", Why: v1beta2.ReasonBootstrapping},
		},
		"even if it still answers": {
			answering(edit(bootstrapped(3, false), func(o *Observed) { o.Cluster.Bootstrap.Incarnation = 2 }), recordedID, 0, 1),
			DeletePod{Name: "c-0", UID: "p0", Why: v1beta2.ReasonBootstrapping},
		},
		"a lost volume still serves the pod that has it mounted": {
			edit(withPermits(bound(bootstrapped(1, true))), func(o *Observed) { o.Volumes[0].Lost = true }),
			Wait{Reason: v1beta2.ReasonWaitingForEtcd},
		},
		"volumes of a deleted cluster are taken up": {
			edit(emptyCluster(3, true), func(o *Observed) {
				o.Volumes = []Volume{{Name: "c-1", ClusterID: recordedID, MemberID: 1}, {Name: "c-0", ClusterID: recordedID}}
			}), Adopt{ClusterID: recordedID, Volumes: []string{"c-0", "c-1"}},
		},
		"and a copy of one is not": {
			edit(emptyCluster(3, true), func(o *Observed) {
				o.Volumes = []Volume{{Name: "c-1", ClusterID: recordedID, MemberID: 1}, {Name: "c-2", ClusterID: recordedID, Foreign: "a copy"}}
			}), Adopt{ClusterID: recordedID, Volumes: []string{"c-1"}},
		},
		"nothing is started beside a copy of a member's data": {
			edit(emptyCluster(3, true), func(o *Observed) {
				o.Volumes = []Volume{{Name: "c-3", ClusterID: recordedID, MemberID: 1, Foreign: "a copy"}}
			}), Blocked{Reason: v1beta2.ReasonForeignVolume},
		},
		"and nothing is taken up beside it": {
			edit(emptyCluster(3, true), func(o *Observed) {
				o.Volumes = []Volume{
					{Name: "c-1", ClusterID: recordedID, MemberID: 1},
					{Name: "c-2", ClusterID: recordedID, MemberID: 2, Foreign: "a copy"},
				}
			}), Blocked{Reason: v1beta2.ReasonForeignVolume},
		},
		"but beside one whose original is there": {
			edit(emptyCluster(3, true), func(o *Observed) {
				o.Volumes = []Volume{
					{Name: "c-1", ClusterID: recordedID, MemberID: 1},
					{Name: "c-2", ClusterID: recordedID, MemberID: 1, Foreign: "a copy"},
				}
			}), Adopt{ClusterID: recordedID, Volumes: []string{"c-1"}},
		},
		"and beside one of another name": {
			edit(emptyCluster(3, true), func(o *Observed) {
				o.Volumes = []Volume{{Name: "c-1-copy", ClusterID: recordedID, MemberID: 1, Foreign: "a copy"}}
			}), CommitBootstrap{Bootstrap: first},
		},
		"no first member starts on a claim of somebody else": {
			edit(emptyCluster(3, true), func(o *Observed) { o.Volumes = []Volume{{Name: "c-2", Foreign: "a copy"}} }),
			Blocked{Reason: v1beta2.ReasonForeignVolume},
		},
		"one that no member needs is let be": {
			edit(emptyCluster(3, true), func(o *Observed) { o.Volumes = []Volume{{Name: "c-3", Foreign: "a copy"}} }),
			CommitBootstrap{Bootstrap: first},
		},
		"volumes of which nothing is known stop the start": {
			edit(emptyCluster(3, true), func(o *Observed) { o.Volumes = []Volume{{Name: "c-0"}} }),
			Blocked{Reason: v1beta2.ReasonVolumesExist},
		},
	})
}

func (o Observed) bootstrap() Bootstrap { return *o.Cluster.Bootstrap }

// answering makes the pods answer as members of a cluster of three that has a leader.
func answering(o Observed, cluster uint64, pods ...int) Observed {
	o.Etcd = Etcd{Contact: ContactQuorum, ClusterID: cluster}
	for i := range o.Pods {
		o.Etcd.Members = append(o.Etcd.Members, Member{ID: id(i), Name: name(i)})
	}
	for _, i := range pods {
		a := answerOf(i)
		a.ClusterID, a.Revision = cluster, 1
		o.Etcd.Answers = append(o.Etcd.Answers, a)
	}
	return o
}

// born marks volume i as used.
func born(o Observed, i int) Observed {
	o.Volumes[i].ClusterID, o.Volumes[i].MemberID = o.Cluster.Bootstrap.ClusterID, uint64(initialID(o, i))
	return o
}

func withPermits(o Observed) Observed {
	o.Pods = append([]Pod{}, o.Pods...)
	for i := range o.Pods {
		o.Pods[i].Permit = &member.Permit{Mode: member.ModeNew, ClusterID: member.ID(o.Cluster.Bootstrap.ClusterID), MemberID: initialID(o, i), PodUID: o.Pods[i].UID, Attempt: 1}
	}
	return o
}

func TestSeatsWithoutTheLatePod(t *testing.T) {
	o := bootstrapped(3, false)
	o.Pods[2].IP = ""
	o.Pods[0].Created, o.Pods[1].Created = now.Add(-bindDeadline-time.Second), now.Add(-bindDeadline-time.Second)
	got, ok := Next(o).(CommitBootstrap)
	if !ok || len(got.Bootstrap.InitialPods) != 2 {
		t.Errorf("Next() = %+v, want seats for the two pods that are there", Next(o))
	}
}
