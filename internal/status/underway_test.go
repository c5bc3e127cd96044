package status

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const gibi = 1 << 30

// course is what a feature begins, and how that ends.
type course struct {
	begins plan.Action
	to     string
	// later is what status says by then, nil if nothing else.
	later func(*v1beta2.EtcdClusterStatus)
	// partly is what is observed while not all members have it, and all once they do; off is what ends it otherwise, nil if an action does.
	partly, all, off func(*plan.Observed)
}

var courses = map[string]course{
	plan.FeatureQuota: {
		begins: plan.CommitTuning{Tuned: plan.Tuned{Quota: 3 * gibi, InsteadOf: 2 * gibi}, From: 2 * gibi, Member: "m-0"}, to: "3Gi",
		partly: ofPods(2, func(p *plan.Pod) { p.Quota = 3 * gibi }), all: ofPods(3, func(p *plan.Pod) { p.Quota = 3 * gibi }),
		off: func(o *plan.Observed) { o.Cluster.SpecQuota = 5 * gibi },
	},
	plan.FeatureVolume: {
		begins: plan.CommitTuning{Tuned: plan.Tuned{Volume: 20 * gibi, VolumeInsteadOf: 4 * gibi}, FromVolume: 4 * gibi}, to: "20Gi",
		partly: onVolumes(true), all: onVolumes(false), off: func(o *plan.Observed) { o.Cluster.SpecVolumeSize = 30 * gibi },
	},
	plan.FeatureResources: {
		begins: plan.CommitTuning{Tuned: plan.Tuned{Resized: more}, FromResources: more.Before, Member: "m-0"}, to: "1250m of CPU",
		partly: ofPods(1, func(p *plan.Pod) { p.Resizing = "Deferred: the node is full" }), all: func(*plan.Observed) {},
		off: func(o *plan.Observed) { o.Cluster.SpecResources.Requests.CPU = 1500 },
	},
	plan.FeaturePatches: {
		begins: plan.CommitTuning{Tuned: plan.Tuned{Patch: plan.Patch{Version: "3.6.17", InsteadOf: "3.6.16", Since: at}}, FromVersion: "3.6.16"},
		to:     "3.6.17", later: func(s *v1beta2.EtcdClusterStatus) { s.Autopilot.Version.InsteadOf = "" }, // it has passed its trial
		partly: ofPods(1, func(p *plan.Pod) { p.Version = "3.6.17" }), all: ofPods(3, func(p *plan.Pod) { p.Version = "3.6.17" }),
		off: func(o *plan.Observed) { o.Cluster.NewestPatch = "" },
	},
	plan.FeatureRelocation: {
		begins: plan.CommitRelocation{Relocation: plan.Relocation{Member: 3, Name: "m-2", Node: "worker", Since: at}}, to: "m-2",
		partly: inPlace(true), all: inPlace(false),
	},
	plan.FeatureDiverged: {
		begins: plan.Quarantine{Quarantined: plan.Quarantined{Member: 3, Name: "m-2"}}, to: "m-2 (0000000000000003)",
		partly: inPlace(true), all: inPlace(false), off: sameHashes,
	},
}

// more is more CPU than the spec says.
var more = plan.Resized{
	Now: plan.Resources{CPU: 1250}, Before: plan.Resources{CPU: 1000}, Since: at, InsteadOf: plan.Requirements{Requests: plan.Resources{CPU: 1000}},
}

// ofPods has that many pods be so.
func ofPods(n int, is func(*plan.Pod)) func(*plan.Observed) {
	return func(o *plan.Observed) {
		for i := range n {
			is(&o.Pods[i])
		}
	}
}

// onVolumes has all claims request the larger size, which the last one may still be expanded to.
func onVolumes(expanding bool) func(*plan.Observed) {
	return func(o *plan.Observed) {
		for i := range o.Pods {
			o.Pods[i].Persistent = true
			o.Volumes = append(o.Volumes, plan.Volume{
				Name: o.Pods[i].Name, Owned: true, MemberID: uint64(i + 1), Requested: 20 * gibi, Expanding: expanding && i == 2,
			})
		}
	}
}

// inPlace has m-3 be in the place of m-2.
func inPlace(learner bool) func(*plan.Observed) {
	return func(o *plan.Observed) {
		pod, member, answer := &o.Pods[2], &o.Etcd.Members[2], &o.Etcd.Answers[2]
		pod.Name, pod.UID = "m-3", "m-3"
		member.ID, member.Name, member.Learner = 4, "m-3", learner
		answer.Pod, answer.PodUID, answer.MemberID, answer.Learner = "m-3", "m-3", 4, learner
	}
}

// sameHashes has comparisons find that no member's data differs.
func sameHashes(o *plan.Observed) {
	for revision := range int64(2) {
		same := plan.Comparison{Revision: revision}
		for _, m := range o.Etcd.Members {
			same.Hashes = append(same.Hashes, plan.MemberHash{Member: m.ID, Hash: 7})
		}
		o.Etcd.Compared = append(o.Etcd.Compared, same)
	}
}

// after is the status after another pass, in which so much more was observed.
func after(s v1beta2.EtcdClusterStatus, a plan.Action, later time.Duration, seen ...func(*plan.Observed)) v1beta2.EtcdClusterStatus {
	return compute(edited(allAnswer(), func(in *Input) {
		o := &in.Observed
		in.Cluster.Status, in.Action, o.Now, o.Cluster.Size = s, a, at.Add(later), 3
		o.Cluster.SpecQuota, o.Cluster.SpecVolumeSize, o.Cluster.SpecResources.Requests.CPU = 2*gibi, 4*gibi, 1000
		o.Cluster.NewestPatch, o.Cluster.Autopilot.Enlarge, o.Cluster.Autopilot.MaxVolume = "3.6.17", plan.ModeOn, 20*gibi
		ofPods(3, func(p *plan.Pod) { p.Quota = 2 * gibi })(o)
		for _, see := range seen {
			see(o)
		}
	}))
}

// TestUnderWay follows what each feature begins to its end: it ends once, when all members are healthy and have it.
func TestUnderWay(t *testing.T) {
	waits := plan.Wait{Reason: v1beta2.ReasonWaitingForMember}
	silent := func(o *plan.Observed) { o.Etcd.Answers = o.Etcd.Answers[:2] }
	for feature, c := range courses {
		t.Run(feature, func(t *testing.T) {
			want := v1beta2.BegunAct{Feature: feature, To: c.to, Since: metav1.NewTime(at)}
			last := after(allAnswer().Cluster.Status, c.begins, 0)
			if got := begunIn(&last); len(got) != 1 || got[0] != want {
				t.Fatalf("when it begins, %+v is under way, want %+v", got, want)
			}
			if c.later != nil {
				early := after(last, waits, 0, c.all)
				if got := begunIn(&early); len(got) != 1 {
					t.Errorf("before that, %+v is under way", got)
				}
				c.later(&last)
			}
			for i, pass := range []struct {
				title      string
				seen       []func(*plan.Observed)
				ends, left int
			}{
				{"nobody has it", nil, 0, 1},
				{"not all have it", []func(*plan.Observed){c.partly}, 0, 1},
				{"one of them does not answer", []func(*plan.Observed){c.all, silent}, 0, 1},
				{"all have it", []func(*plan.Observed){c.all}, 1, 0},
				{"all still have it", []func(*plan.Observed){c.all}, 0, 0},
			} {
				if feature == plan.FeatureResources && i == 0 { // nothing but the resize tells
					continue
				}
				next := after(last, waits, time.Duration(i)*time.Minute, pass.seen...)
				if got := Ended(&last, &next); len(got) != pass.ends || pass.ends == 1 && got[0] != want {
					t.Errorf("%s: %+v has ended", pass.title, got)
				}
				if got := begunIn(&next); len(got) != pass.left || pass.left == 1 && got[0] != want {
					t.Errorf("%s: %+v is under way", pass.title, got)
				}
				last = next
			}
		})
	}
}

// TestNoLongerUnderWay has what was begun be given up, or the spec say something else, which is no end of it.
func TestNoLongerUnderWay(t *testing.T) {
	stays := plan.CommitRelocation{Relocation: plan.Relocation{Member: 3, Name: "m-2", Node: "worker", Since: at, GivenUp: "no node"}}
	back := plan.CommitTuning{Tuned: plan.Tuned{Resized: more}, FromResources: more.Now, Because: "the node is full"}
	back.Resized.Now, back.Resized.GivenUp = more.Before, back.Because
	by := map[string]plan.Action{plan.FeatureRelocation: stays, plan.FeatureResources: back}
	for feature, c := range courses {
		begun := after(allAnswer().Cluster.Status, c.begins, 0)
		if c.off != nil {
			next := after(begun, plan.Wait{}, time.Minute, c.all, c.off)
			if feature == plan.FeatureDiverged { // it is there
				next = after(begun, plan.Wait{}, time.Minute, c.off)
			}
			if got := slices.Concat(Ended(&begun, &next), begunIn(&next)); len(got) > 0 {
				t.Errorf("%s, and the spec or the data is another: %+v", feature, got)
			}
		}
		if a, some := by[feature]; some {
			next := after(begun, a, time.Minute)
			if got := slices.Concat(Ended(&begun, &next), begunIn(&next)); len(got) > 0 {
				t.Errorf("%s, and it is given up: %+v", feature, got)
			}
		}
	}
}

// TestBegunAgain tells the end of what was begun before, if that ends in the very pass in which the feature begins anew.
func TestBegunAgain(t *testing.T) {
	c := courses[plan.FeatureQuota]
	begun := after(allAnswer().Cluster.Status, c.begins, 0)
	again := plan.CommitTuning{Tuned: plan.Tuned{Quota: 4608 << 20, InsteadOf: 2 * gibi}, From: 3 * gibi, Member: "m-0"}
	next := after(begun, again, time.Hour, c.all)
	if got := Ended(&begun, &next); len(got) != 1 || got[0].To != "3Gi" {
		t.Errorf("%+v has ended", got)
	}
	if got := begunIn(&next); len(got) != 1 || got[0].To != "4608Mi" {
		t.Errorf("%+v is under way", got)
	}
	if refused := compute(edited(allAnswer(), func(in *Input) { in.Action, in.Incomplete = again, true })); len(begunIn(&refused)) > 0 {
		t.Errorf("%+v is under way, and the write was refused", begunIn(&refused))
	}
}

// TestUnderWayAfterALoss has status be lost while a member is replaced: by the mark of its volume that is under way again.
func TestUnderWayAfterALoss(t *testing.T) {
	got := after(allAnswer().Cluster.Status, plan.Wait{Reason: v1beta2.ReasonWaitingForMember}, 0, func(o *plan.Observed) {
		o.Cluster.Voters = nil
		o.Volumes = []plan.Volume{{Name: "m-2", UID: "v2", Owned: true, MemberID: 3, ClusterID: o.Cluster.ID, Quarantined: true}}
	})
	want := v1beta2.BegunAct{Feature: plan.FeatureDiverged, To: "m-2 (0000000000000003)", Since: metav1.NewTime(at)}
	if acts := begunIn(&got); len(acts) != 1 || acts[0] != want {
		t.Errorf("%+v is under way, want %+v", acts, want)
	}
}
