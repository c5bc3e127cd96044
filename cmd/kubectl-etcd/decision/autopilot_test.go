package decision_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/decision"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/documented"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/terminal"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
)

const gibi, on = int64(1 << 30), plan.ModeOn

// calm is what an operator has logged of three members on volumes, with a change.
func calm(t *testing.T, change func(*plan.Observed)) replay.Pass {
	t.Helper()
	p := logged(t)
	o := &p.Observed
	p.Decided, o.MayDisturb = plan.Description{}, true
	c := &o.Cluster
	c.Size, c.Persistent, c.Version, c.LowestVersion = 3, true, "3.6.15", "3.6.15"
	c.SpecQuota, c.Quota, c.SpecVolumeSize, c.VolumeSize, c.Revision = 2*gibi, 2*gibi, 20*gibi, 20*gibi, 81_223
	o.Etcd.Revision, o.Etcd.RevisionCeiling, o.Etcd.PastRevision = 81_300, 81_300, 81_290
	for i, node := range []string{"worker-a", "worker-b", "worker-c"} {
		pod, answer := &o.Pods[i], &o.Etcd.Answers[i]
		pod.Node, pod.Ready, pod.InService, pod.Persistent, pod.Version, answer.Version = node, true, true, true, "3.6.15", "3.6.15"
		pod.Created = o.Now.Add(-time.Hour)
		pod.PermittedAt = pod.Created
		answer.DBSize, answer.DBSizeInUse, answer.Quota = gibi, gibi*9/10, 2*gibi
		o.Volumes = append(o.Volumes, plan.Volume{
			Name: pod.Name, UID: "volume of " + pod.Name, Owned: true, Incarnation: 1, ClusterID: c.ID, MemberID: answer.MemberID, Version: "3.6.15",
			Requested: 20 * gibi,
		})
		o.Etcd.Databases = append(o.Etcd.Databases, plan.Database{Pod: pod.Name, PodUID: pod.UID, Known: true, Rests: true, Compacted: 81_000})
	}
	change(o)
	return p
}

// sizes has all members have a file of that size, and so much of it in use.
func sizes(o *plan.Observed, file, inUse int64) {
	for i := range o.Etcd.Answers {
		o.Etcd.Answers[i].DBSize, o.Etcd.Answers[i].DBSizeInUse = file, inUse
	}
}

// full raises the alarm NOSPACE.
func full(o *plan.Observed) {
	for i := range o.Etcd.Answers {
		o.Etcd.Answers[i].Alarms = []plan.Alarm{{Kind: plan.AlarmNoSpace, Member: o.Etcd.Answers[1].MemberID}}
	}
}

// behind asks for the newest release of 3.6, of which there is a newer one.
func behind(o *plan.Observed) { o.Cluster.Autopilot.Patches, o.Cluster.NewestPatch = on, "3.6.16" }

// apart has the data of example-2 differ at two compactions.
func apart(o *plan.Observed) {
	for revision := range int64(2) {
		var c plan.Comparison
		c.Revision = revision + 1
		for i, a := range o.Etcd.Answers {
			c.Hashes = append(c.Hashes, plan.MemberHash{Member: a.MemberID, Hash: int64(i / 2)})
		}
		o.Etcd.Compared = append(o.Etcd.Compared, c)
	}
}

// TestForeseesAutopilot shows what Auto Pilot does, and what follows from that; or why that is not known.
func TestForeseesAutopilot(t *testing.T) {
	for title, c := range map[string]struct {
		seen func(*plan.Observed)
		want []string // of the page, in this order
	}{
		"a quota": {
			func(o *plan.Observed) {
				o.Cluster.Autopilot.Grow, o.Cluster.Autopilot.MaxQuota = on, 8*gibi
				sizes(o, gibi*19/10, gibi*18/10)
			},
			[]string{"CommitTuning (RaisingQuota): raising etcd's quota from 2048Mi to 3072Mi", "step by step", "1  CommitTuning", "Recreate", "Recreate", "Recreate", "Idle "},
		},
		"a defragmentation": {
			func(o *plan.Observed) {
				o.Cluster.Autopilot.Defragment, o.Etcd.DefragmentRate = on, gibi
				sizes(o, gibi, gibi/5)
			},
			[]string{"setting minAvailable", "Defragment", "820Mi or more are free", "Defragment", "MoveLeader", "Defragment", "Idle "},
		},
		"data that differs": {
			func(o *plan.Observed) { o.Cluster.Autopilot.Diverged = on; apart(o) },
			[]string{"Quarantine (DivergedMember): the data of example-2", "AddLearner", "Promote", "RemoveMember", "Idle "},
		},
		"a slow disk": {
			func(o *plan.Observed) {
				o.Cluster.Autopilot.Relocation = on
				o.Etcd.Histories = []plan.DiskHistory{{Pod: "example-1", PodUID: o.Pods[1].UID, Samples: 12, Slow: 12, Alone: 12}}
			},
			[]string{"CommitRelocation (Relocating): moving example-1 off node worker-b", "AddLearner", "Promote", "RemoveMember", "Idle "},
		},
		"a patch": {
			func(o *plan.Observed) {
				behind(o)
				o.Cluster.Backup = plan.RecoveryBackup{EtcdBackup: "nightly", Snapshot: "81223.db", Taken: o.Now.Add(-time.Hour)}
			},
			[]string{
				"CommitTuning (FollowingPatch): updating etcd from 3.6.15 to 3.6.16", "SetImage", "(assumed: time passes)", "SetImage", "SetImage", "Idle ",
			},
		},
		"CPU": {
			func(o *plan.Observed) {
				a := &o.Cluster.Autopilot
				a.Resources, a.MaxResources, o.Cluster.SpecResources.Requests = on, plan.Resources{Memory: 4 * gibi}, plan.Resources{Memory: gibi}
				for _, p := range o.Pods {
					o.Etcd.Usages = append(o.Etcd.Usages, plan.Usage{Pod: p.Name, PodUID: p.UID, Used: plan.Resources{Memory: gibi * 9 / 10}})
				}
			},
			[]string{"CommitTuning (ResizingMembers): having the members request 1440Mi of memory", "1  CommitTuning", "Resize", "Resize", "Resize", "Idle "},
		},
		"room": {
			func(o *plan.Observed) { o.Cluster.Autopilot.NoSpace = on; full(o); sizes(o, 2*gibi, gibi) },
			[]string{"Defragment", "Defragment", "Defragment", "disarming the alarm NOSPACE of example-1", "Idle "},
		},
		"history": {
			func(o *plan.Observed) {
				o.Cluster.Autopilot.NoSpace, o.Cluster.Autopilot.Compact = on, true
				full(o)
				sizes(o, 2*gibi, 2*gibi-1)
			},
			[]string{"Compact (MakingRoom): compacting the history of keys up to revision 81290", "What follows is not foreseen: how much room a compaction makes"},
		},
		"a patch on trial": {
			func(o *plan.Observed) {
				behind(o)
				o.Cluster.Version = "3.6.16"
				o.Cluster.Tuned.Patch = plan.Patch{
					Version: "3.6.16", InsteadOf: "3.6.15", Since: o.Now.Add(-5 * time.Minute),
					Trial: plan.PatchTrial{Member: "example-1", PodUID: o.Pods[1].UID, Began: o.Now.Add(-4 * time.Minute), Healthy: o.Now.Add(-3 * time.Minute), WasHealthy: true},
				}
				o.Pods[1].Version, o.Etcd.Answers[1].Version, o.Volumes[1].Version = "3.6.16", "3.6.16", "3.6.16"
			},
			[]string{"now", "(assumed: time passes)", "SetImage", "SetImage", "Idle ", "held      patches (PatchOnTrial): example-1"},
		},
		"a relocation": {
			func(o *plan.Observed) {
				o.Cluster.Autopilot.Relocation = on
				o.Cluster.Relocation = plan.Relocation{Member: o.Etcd.Answers[1].MemberID, Name: "example-1", Node: "worker-b", Since: o.Now.Add(-time.Minute)}
			},
			[]string{"AddLearner", "Promote", "RemoveMember", "Idle ", "under way relocation (Relocating): moving example-1 off node worker-b"},
		},
		"a resize that fails": {
			func(o *plan.Observed) { o.Cluster.Autopilot.Resources, o.Pods[1].ResizeRefused = on, true },
			[]string{"now", "What follows is not foreseen: a member cannot be given the CPU or memory"},
		},
		"only advice": {
			func(o *plan.Observed) { o.Cluster.Autopilot.Defragment = plan.ModeAdvise; sizes(o, gibi, gibi/5) },
			[]string{
				"Idle (SpecReached)", "held      defragment (AutopilotAdvises): Auto Pilot would act, were its mode On: defragment example-1",
				"why and what to do: https://github.com/etcdpilot/etcd-operator/blob/main/docs/reasons.md#autopilotadvises",
			},
		},
	} {
		t.Run(title, func(t *testing.T) { shows(t, page(t, calm(t, c.seen)), c.want) })
	}
}

// shows checks that a page has all that in this order, in lines that fit.
func shows(t *testing.T, text string, want []string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if n := utf8.RuneCountInString(line); n > terminal.Columns && !strings.Contains(line, "https://") { // what is copied is in one piece
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	unbroken := strings.Join(strings.Fields(text), " ")
	for _, w := range want {
		_, after, found := strings.Cut(unbroken, strings.Join(strings.Fields(w), " "))
		if !found {
			t.Fatalf("no %q, in this order, in\n%s", w, text)
		}
		unbroken = after
	}
}

func page(t *testing.T, p replay.Pass, set ...string) string {
	t.Helper()
	r, err := decision.Of(p, set)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.Write(&out, p.Observed.Now.Add(12*time.Second), false); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestHeld shows what is held below what is done, to people and to programs, also of an edit.
func TestHeld(t *testing.T) {
	p := calm(t, func(o *plan.Observed) {
		behind(o)
		o.Cluster.Autopilot.Grow, o.Cluster.Autopilot.MaxQuota = on, 8*gibi
		sizes(o, gibi*19/10, gibi*18/10)
	})
	documented.Shows(t, "kubectl etcd plan example", page(t, p))
	shows(t, page(t, p, "paused=true"), []string{"with paused=true", "held patches (PatchHeld): an update of etcd from 3.6.15 to 3.6.16 is due"})
	exact := calm(t, func(o *plan.Observed) { o.Cluster.Autopilot.Patches = on })
	shows(t, page(t, exact, "version=3.6"), []string{"next Idle", "What follows is not foreseen: to follow a patch release takes a backup"})
	paused := calm(t, func(o *plan.Observed) { o.Cluster.Paused = true })
	shows(t, page(t, paused, "paused=false"), []string{"next Idle", "What follows is not foreseen: how far Auto Pilot goes"})
	r, err := decision.Of(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), `"held":[{"feature":"patches","reason":"PatchHeld"`) {
		t.Errorf("%v, and for programs %s", err, text)
	}
}
