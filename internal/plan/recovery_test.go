package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// leftWith is a cluster whose quorum is lost: only these members answer, and follow nobody. The others' pods and volumes are there.
func leftWith(size int, persistent bool, answering ...int) Observed {
	o := healthyCluster(size, persistent)
	o.Etcd, o.Cluster.QuorumLostSince = Etcd{Contact: ContactMinority}, now.Add(-time.Hour)
	for _, i := range answering {
		a := answerOf(i)
		a.Leader = 0
		o.Etcd.Answers = append(o.Etcd.Answers, a)
	}
	return o
}

// gone are members of which neither pod nor volume exists.
func gone(members ...int) func(*Observed) {
	return func(o *Observed) {
		for _, i := range members {
			o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p Pod) bool { return p.Name == name(i) })
			o.Volumes = slices.DeleteFunc(slices.Clone(o.Volumes), func(c Volume) bool { return c.Name == name(i) })
		}
	}
}

// confirmed is the annotation with the hash of the plan as it is then.
func confirmed(o *Observed) { o.Cluster.Recovery.Confirmed = Assess(*o).Recovery.Hash }

func TestRecoveryPlan(t *testing.T) {
	ahead := func(i int) func(*Observed) {
		return func(o *Observed) { o.Etcd.Answers[i].Applied, o.Etcd.Answers[i].Revision = 120, 110 }
	}
	for title, c := range map[string]struct {
		o    Observed
		want *Recovery // nil for no plan
	}{
		"a quorum":                    {healthyCluster(3, true), nil},
		"nobody answers":              {leftWith(3, true), nil},
		"one of three answers":        {leftWith(3, true, 1), &Recovery{Survivor: "c-1", Revision: 100, Silent: []string{"c-0", "c-2"}}},
		"a majority answers":          {leftWith(3, true, 0, 1), nil},
		"two of five answer":          {edit(leftWith(5, true, 1, 3), ahead(1)), &Recovery{Survivor: "c-3", Revision: 110, Silent: []string{"c-0", "c-2", "c-4"}}},
		"two of five are the same":    {leftWith(5, true, 3, 1), &Recovery{Survivor: "c-1", Revision: 100, Silent: []string{"c-0", "c-2", "c-4"}}},
		"pods and volumes are gone":   {edit(leftWith(3, true, 1), gone(0, 2)), &Recovery{Survivor: "c-1", Revision: 100, Lost: []string{"c-0", "c-2"}}},
		"pods on emptyDirs are gone":  {edit(leftWith(3, false, 1), gone(0, 2)), &Recovery{Survivor: "c-1", Revision: 100, Lost: []string{"c-0", "c-2"}}},
		"pods on emptyDirs are there": {leftWith(3, false, 1), &Recovery{Survivor: "c-1", Revision: 100, Silent: []string{"c-0", "c-2"}}},
		"volumes are gone, and the pods on them may run": {
			edit(leftWith(3, true, 1), func(o *Observed) { o.Volumes = o.Volumes[1:2] }),
			&Recovery{Survivor: "c-1", Revision: 100, Silent: []string{"c-0", "c-2"}},
		},
		"volumes are gone, and the pods on them have ended": {
			edit(leftWith(3, true, 1), func(o *Observed) { o.Volumes, o.Pods[0].Phase, o.Pods[2].Exit = o.Volumes[1:2], Finished, ExitDataLost }),
			&Recovery{Survivor: "c-1", Revision: 100, Lost: []string{"c-0", "c-2"}},
		},
		"the survivor follows a leader whom the operator does not reach": {
			edit(leftWith(3, true, 1), func(o *Observed) { o.Etcd.Answers[0].Leader = id(2) }), nil,
		},
		"a linearizable read has succeeded": {
			edit(leftWith(3, true, 1), func(o *Observed) { o.Etcd.Unconfirmed = []string{"c-1"} }), nil,
		},
		"the survivor is of another cluster": {
			edit(leftWith(3, true, 1), func(o *Observed) { o.Etcd.Answers[0].ClusterID = 0xbad }), nil,
		},
		"the survivor says that it is another member than its volume": {
			edit(leftWith(3, true, 1), func(o *Observed) { o.Etcd.Answers[0].MemberID = 0xbad }), nil,
		},
		"a member whose data was wrong has applied more": {
			edit(leftWith(5, true, 1, 3), ahead(1), func(o *Observed) { o.Cluster.Quarantined.Member = id(3) }),
			&Recovery{Survivor: "c-1", Revision: 100, Wrong: []string{"c-3"}, Silent: []string{"c-0", "c-2", "c-4"}},
		},
		"only one answers whose data was wrong": {
			edit(leftWith(3, true, 1), func(o *Observed) { o.Cluster.Quarantined.Member = id(1) }),
			&Recovery{Survivor: "c-1", Revision: 100, Wrong: []string{"c-1"}, Silent: []string{"c-0", "c-2"}},
		},
		"a member has most that was not recorded as a voter": {
			edit(leftWith(5, true, 1, 3), ahead(1), func(o *Observed) { o.Cluster.Voters = []string{"c-0", "c-1", "c-2", "c-4"} }),
			&Recovery{Survivor: "c-3", Revision: 110, Silent: []string{"c-0", "c-2", "c-4"}},
		},
		"a learner has most": {
			edit(leftWith(5, true, 1, 3), ahead(1), func(o *Observed) {
				o.Etcd.Answers[1].Learner, o.Cluster.Voters = true, []string{"c-0", "c-1", "c-2", "c-4"}
			}),
			&Recovery{Survivor: "c-3", Revision: 110, Silent: []string{"c-0", "c-2", "c-4"}},
		},
		"the survivor's data is corrupt": {
			edit(leftWith(3, true, 1), func(o *Observed) { o.Etcd.Answers[0].Alarms = []Alarm{{AlarmCorrupt, id(1)}} }), nil,
		},
		"a server refuses the operator, and may serve others": {
			edit(leftWith(3, true, 1), func(o *Observed) { o.Etcd.Handshakes = []HandshakeFailure{{Pod: "c-0"}} }), nil,
		},
		"a majority answers, and one of them is about to stop": {
			edit(leftWith(3, true, 0, 1), func(o *Observed) { o.Pods[0].Deleting = true }), nil,
		},
		"a majority of those to be answers": {
			edit(leftWith(5, true, 1, 3), func(o *Observed) { o.Cluster.NextVoters = []string{"c-1", "c-3", "c-4"} }), nil,
		},
		"a volume is lost, and its claim says so": {
			edit(leftWith(3, true, 1), gone(2), func(o *Observed) { o.Pods, o.Volumes[0].Lost = o.Pods[1:], true }),
			&Recovery{Survivor: "c-1", Revision: 100, Lost: []string{"c-0", "c-2"}},
		},
		"a claim is being deleted, another is not marked, and a pod has not found its data": {
			edit(leftWith(5, true, 1), gone(4), func(o *Observed) {
				o.Volumes[0].Deleting, o.Volumes[2].MemberID, o.Pods[3].Exit = true, 0, ExitDataLost
				o.Pods = slices.Delete(slices.Clone(o.Pods), 2, 3)
				o.Pods = o.Pods[1:]
			}),
			&Recovery{Survivor: "c-1", Revision: 100, Lost: []string{"c-4"}, Silent: []string{"c-0", "c-2", "c-3"}},
		},
		"what is left of a voter is not listed": {
			edit(leftWith(3, true, 1), gone(0, 2), func(o *Observed) { o.Cluster.Recovery.Unlisted = []string{"c-2"} }),
			&Recovery{Survivor: "c-1", Revision: 100, Lost: []string{"c-0"}, Silent: []string{"c-2"}},
		},
		"members that are not known to vote may have more": {
			edit(leftWith(5, true, 1), gone(0), func(o *Observed) {
				o.Cluster.Voters, o.Cluster.NextVoters = []string{"c-0", "c-1", "c-2"}, []string{"c-0", "c-1", "c-3"}
			}),
			&Recovery{Survivor: "c-1", Revision: 100, Lost: []string{"c-0"}, Silent: []string{"c-2", "c-3", "c-4"}},
		},
		"the survivor is about to stop": {edit(leftWith(3, true, 1), func(o *Observed) { o.Pods[1].Deleting = true }), nil},
		"the voters are not known":      {edit(leftWith(3, true, 1), func(o *Observed) { o.Cluster.Voters = nil }), nil},
		"since when is not recorded":    {edit(leftWith(3, true, 1), func(o *Observed) { o.Cluster.QuorumLostSince = time.Time{} }), nil},
		"it has never been up":          {edit(leftWith(3, true, 1), func(o *Observed) { o.Cluster.ID = 0 }), nil},
	} {
		t.Run(title, func(t *testing.T) {
			got := Assess(c.o).Recovery
			switch {
			case got == nil || c.want == nil:
				if got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
			case !slices.Equal(got.Wrong, c.want.Wrong) || (len(got.Wrong) > 0) != strings.Contains(got.Message, "found to differ"):
				t.Errorf("got %+v, want %+v", got, c.want)
			case got.Survivor != c.want.Survivor || got.Revision != c.want.Revision || !slices.Equal(got.Lost, c.want.Lost) ||
				!slices.Equal(got.Silent, c.want.Silent) || len(got.Hash) != 12 || !strings.Contains(got.Message, got.Hash):
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestRecoveryHash wants everything that a user relies on to be in the hash, and nothing else.
func TestRecoveryHash(t *testing.T) {
	base := edit(leftWith(5, true, 1, 3), gone(0))
	of := func(o Observed) string { return Assess(o).Recovery.Hash }
	for title, change := range map[string]func(*Observed){
		"another voter answers no more": func(o *Observed) { o.Etcd.Answers = o.Etcd.Answers[:1] },
		"another voter is lost":         gone(2),
		"a lost voter is there again": func(o *Observed) {
			full := healthyCluster(5, true)
			o.Pods, o.Volumes = append(o.Pods, full.Pods[0]), append(o.Volumes, full.Volumes[0])
		},
		"the survivor has applied more": func(o *Observed) { o.Etcd.Answers[0].Applied++ },
		"the other one has, a bit":      func(o *Observed) { o.Etcd.Answers[1].Revision++ },
		"the survivor's data was wrong": func(o *Observed) { o.Cluster.Quarantined.Member = id(1) },
		"it is lost once more":          func(o *Observed) { o.Cluster.QuorumLostSince = now.Add(-time.Minute) },
		"the voters are changing":       func(o *Observed) { o.Cluster.NextVoters = []string{"c-0", "c-1"} },
	} {
		if of(edit(base, change)) == of(base) {
			t.Errorf("%s: the hash is the same", title)
		}
	}
	for title, change := range map[string]func(*Observed){
		"time passes":                     func(o *Observed) { o.Now = o.Now.Add(time.Hour) },
		"they answer in another order":    func(o *Observed) { slices.Reverse(o.Etcd.Answers) },
		"there is a newer backup":         func(o *Observed) { o.Cluster.Recovery.Backup = RecoveryBackup{Snapshot: "new"} },
		"the survivor's pod is recreated": func(o *Observed) { o.Pods[0].UID, o.Etcd.Answers[0].PodUID = "again", "again" },
	} {
		if of(edit(base, change)) != of(base) {
			t.Errorf("%s: the hash is another one", title)
		}
	}
}

func TestRecoverQuorum(t *testing.T) {
	lost := edit(leftWith(3, true, 1), gone(0, 2))
	hash := Assess(lost).Recovery.Hash
	create := CreateRestore{Name: "c-recover-" + hash, Survivor: "c-1", Plan: hash}
	silent := leftWith(3, true, 1)
	silentHash := Assess(silent).Recovery.Hash
	check(t, map[string]planCase{
		"it is not confirmed":       {lost, Blocked{Reason: v1beta2.ReasonDataLost}},
		"it is confirmed":           {edit(lost, confirmed), create},
		"another plan is confirmed": {edit(silent, confirmed, gone(0, 2)), Blocked{Reason: v1beta2.ReasonDataLost}},
		"silence is not confirmed":  {silent, Wait{Reason: v1beta2.ReasonQuorumLost}},
		"silence is confirmed at once": {
			edit(silent, func(o *Observed) { o.Cluster.QuorumLostSince = now.Add(-time.Minute) }, confirmed), Wait{Reason: v1beta2.ReasonQuorumLost},
		},
		"silence on a node that does not report": {
			edit(silent, func(o *Observed) { o.Pods[0].Deleting = true }, confirmed), Wait{Reason: v1beta2.ReasonQuorumLost},
		},
		"a voter's claim is not marked as used": {
			edit(silent, func(o *Observed) { o.Volumes[0].MemberID = 0 }, confirmed), Wait{Reason: v1beta2.ReasonQuorumLost},
		},
		"silence is confirmed": {edit(silent, confirmed), CreateRestore{Name: "c-recover-" + silentHash, Survivor: "c-1", Plan: silentHash}},
		"it was confirmed, and is carried out": {
			edit(lost, confirmed, func(o *Observed) { o.Cluster.Recovery.Restore, o.Cluster.Recovery.RestorePlan = "r", hash }),
			Wait{Reason: v1beta2.ReasonRecoveringQuorum},
		},
		"it was confirmed, and has failed": {
			edit(lost, confirmed, func(o *Observed) {
				p := &o.Cluster.Recovery
				p.Restore, p.RestorePlan, p.RestoreFailed = "r", hash, "no room"
			}),
			Blocked{Reason: v1beta2.ReasonRecoveryFailed},
		},
		"another plan was carried out": {
			edit(lost, confirmed, func(o *Observed) { o.Cluster.Recovery.Restore, o.Cluster.Recovery.RestorePlan = "r", "0" }), create,
		},
		"there is nowhere to keep the snapshot": {
			edit(lost, confirmed, func(o *Observed) { o.Cluster.Recovery.HeldBack = "set spec.recovery.backup" }), Blocked{Reason: v1beta2.ReasonDataLost},
		},
		"the quorum is back": {edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Recovery.Confirmed = hash }), Idle{Reason: v1beta2.ReasonSpecReached}},
		"it is paused":       {edit(lost, confirmed, func(o *Observed) { o.Cluster.Paused = true }), Idle{Reason: v1beta2.ReasonPaused}},
	})
}

// TestRecoveryBegins is about the EtcdRestore that has saved and verified what the survivor holds.
func TestRecoveryBegins(t *testing.T) {
	lost := edit(leftWith(3, true, 1), gone(0, 2))
	asked := func(o *Observed) {
		c := &o.Cluster
		c.Restore, c.RestorePlan, c.RestoreSurvivor, c.Safety = "restore", Assess(*o).Recovery.Hash, "c-1", Safety{Revision: 100, Stale: true, CompletedAt: now.Add(-time.Hour)}
		c.Recovery.Restore, c.Recovery.RestorePlan = "r", c.RestorePlan
	}
	leaving := edit(leftWith(3, true, 1), func(o *Observed) { o.Pods[0].Deleting, o.Pods[0].Deadline = true, now.Add(-time.Hour) })
	begins := newView(lost).newBootstrap(2, []string{"c-0"}, "restore")
	begins.Recovery = true
	const stale = "the safety snapshot was taken without a quorum and may be stale"
	onEmptyDir := edit(leftWith(3, false, 1), gone(0, 2))
	atOnce := newView(onEmptyDir).newBootstrap(2, []string{"c-0"}, "restore")
	atOnce.Recovery = true
	check(t, map[string]planCase{
		"the plan is the same":          {edit(lost, asked), CommitBootstrap{Bootstrap: begins, UnsavedReason: stale}},
		"the same, and on emptyDirs":    {edit(onEmptyDir, asked), CommitBootstrap{Bootstrap: atOnce, UnsavedReason: stale}},
		"a lost member is silent now":   {edit(lost, asked, func(o *Observed) { o.Volumes = append(o.Volumes, healthyCluster(3, true).Volumes[0]) }), CreatePods{Pods: []NewPod{newView(healthyCluster(3, true)).podFor(healthyCluster(3, true).Volumes[0])}}},
		"another member was saved":      {edit(lost, asked, func(o *Observed) { o.Cluster.RestoreSurvivor = "c-0" }), Wait{Reason: v1beta2.ReasonRecoveringQuorum}},
		"it saved less than the plan":   {edit(lost, asked, func(o *Observed) { o.Cluster.Safety.Revision = 99 }), Wait{Reason: v1beta2.ReasonRecoveringQuorum}},
		"a pod is leaving meanwhile":    {edit(leaving, asked), Wait{Reason: v1beta2.ReasonQuorumLost}},
		"the survivor does not answer":  {edit(lost, asked, func(o *Observed) { o.Etcd = Etcd{} }), Blocked{Reason: v1beta2.ReasonDataLost}},
		"the survivor follows a leader": {edit(lost, asked, func(o *Observed) { o.Etcd.Answers[0].Leader = id(2) }), Blocked{Reason: v1beta2.ReasonDataLost}},
		"the quorum is back": {
			edit(healthyCluster(3, true), func(o *Observed) { o.Cluster.Restore, o.Cluster.RestorePlan = "restore", "0123456789ab" }),
			Idle{Reason: v1beta2.ReasonSpecReached},
		},
	})
}

// TestNoTwoMajorities wants nothing of a recovery to start while a pod of before exists anywhere.
func TestNoTwoMajorities(t *testing.T) {
	silent := func(o *Observed) {
		p := waitingPod(0)
		p.Deleting, p.Deadline = true, now.Add(-time.Hour)
		o.Pods = append(o.Pods, p)
	}
	recovery := func(o *Observed) { o.Cluster.Bootstrap.Recovery = true }
	check(t, map[string]planCase{
		"a pod on a node that does not report": {replacedBySnapshot(true, oldIsGone, silent, recovery), Wait{Reason: v1beta2.ReasonBootstrapping}},
		"nobody is left":                       {replacedBySnapshot(true, oldIsGone, recovery), CreateVolumes{Names: []string{"c-3"}, Incarnation: 2}},
	})
	later := edit(replacedBySnapshot(true, oldIsGone, recovery), func(o *Observed) {
		o.Cluster.Restore, o.Cluster.Safety = "later", Safety{Skipped: true}
	})
	if a, ok := Next(later).(CommitBootstrap); !ok || !a.Bootstrap.Recovery {
		t.Errorf("a later restore of another snapshot is %+v", a)
	}
	lost := edit(replacedBySnapshot(true, oldIsGone, restoredVolume, restoredPod, recovery), func(o *Observed) { o.Pods[0].Exit = ExitDataLost })
	if a, ok := Next(lost).(CommitBootstrap); !ok || !a.Bootstrap.Recovery {
		t.Errorf("another attempt is %+v", a)
	}
}
