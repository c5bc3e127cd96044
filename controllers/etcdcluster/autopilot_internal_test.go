package etcdcluster

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// TestNextPassAtTheWindow has a pass as the window opens, if anything waits for that.
func TestNextPassAtTheWindow(t *testing.T) {
	window := plan.Window{Set: true, Next: begun.Add(40 * time.Second)}
	held := func(reason string) plan.Assessment {
		return plan.Assessment{Held: []plan.HeldAct{{Feature: "defragment", Reason: reason}}}
	}
	for title, c := range map[string]struct {
		after   time.Duration
		known   plan.Assessment
		matters bool
		want    time.Duration
	}{
		"it waits":                 {0, held(v1beta2.ReasonWaitingForWindow), true, 40 * time.Second},
		"the clock has come there": {41 * time.Second, held(v1beta2.ReasonWaitingForWindow), true, minPause},
		"it waits for another":     {0, held(v1beta2.ReasonNoSpace), false, 0},
		"nothing waits":            {0, plan.Assessment{}, false, 0},
	} {
		r := &Reconciler{Clock: clocktesting.NewFakePassiveClock(begun.Add(c.after))}
		p := &pass{cluster: &v1beta2.EtcdCluster{}, action: plan.Idle{}, assessment: c.known}
		p.observed.Etcd.Contact = plan.ContactQuorum
		p.observed.Cluster.Autopilot.Window = window
		if got, matters := r.autopilotAgain(p); got != c.want || matters != c.matters {
			t.Errorf("%s: in %s (%v), want %s (%v)", title, got, matters, c.want, c.matters)
		}
	}
}

// TestTurns follows a cluster from its place among those that wait to the end of its act.
func TestTurns(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(begun)
	r := &Reconciler{Clock: clock}
	r.brake.fill(t)
	seen := func(feature string, action plan.Action, held ...plan.HeldAct) *pass {
		p := &pass{cluster: &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c9"}}, action: action}
		p.assessment = plan.Assessment{Feature: feature, Held: held}
		p.observed.Now, p.observed.Etcd.Contact = clock.Now(), plan.ContactQuorum
		r.observeAutopilot(p)
		return p
	}
	rests := plan.Idle{Reason: v1beta2.ReasonSpecReached}
	waiting := seen("", rests, plan.HeldAct{Feature: "defragment", Reason: v1beta2.ReasonWaitingForBrake})
	if _, matters := r.autopilotAgain(waiting); matters || waiting.observed.MayDisturb {
		t.Error("it may begin, or looks again soon, while five others are disturbed")
	}
	r.brake.forget(named(0))
	p := seen("defragment", plan.RemoveFromService{Pod: "c9-0"})
	if !p.observed.MayDisturb || !r.takeTurn(p) || r.brake.may(named(7), begun) {
		t.Fatal("its turn has come, and it does not get it")
	}
	if left, matters := r.autopilotAgain(seen("", rests)); !matters || left != lingers {
		t.Errorf("once nothing is left to do it looks again in %s (%v)", left, matters)
	}
	clock.SetTime(begun.Add(lingers))
	hurt := seen("", plan.Wait{Reason: v1beta2.ReasonMemberDown})
	hurt.assessment.InProgress = hurt.action
	if r.autopilotAgain(hurt); r.brake.may(named(7), clock.Now()) {
		t.Error("another one is disturbed although this one is not well again")
	}
	halfway := seen("", rests)
	halfway.assessment.Quarantined = plan.Member{ID: 1, Name: "c9-1"}
	halfway.assessment.Changes = map[string]plan.Change{"c9-1": plan.ChangeReplace}
	if r.autopilotAgain(halfway); r.brake.may(named(7), clock.Now()) {
		t.Error("another one is disturbed although a member of this one is yet to be replaced")
	}
	if r.autopilotAgain(seen("", rests)); !r.brake.may(named(7), clock.Now()) {
		t.Error("the act is over, and no other one may begin")
	}
}

// TestLateTurn has no act take effect that was decided on a turn that another cluster has taken since.
func TestLateTurn(t *testing.T) {
	r := &Reconciler{Clock: clocktesting.NewFakePassiveClock(begun)}
	p := &pass{cluster: &v1beta2.EtcdCluster{}, action: plan.RemoveFromService{}, assessment: plan.Assessment{Feature: "defragment"}}
	if r.observeAutopilot(p); !p.observed.MayDisturb {
		t.Fatal("it may not begin")
	}
	r.brake.fill(t)
	if r.takeTurn(p) {
		t.Error("a sixth cluster is disturbed")
	}
	for title, other := range map[string]func(*pass){
		"room is made":                  func(p *pass) { p.assessment.Feature = "noSpace" },
		"nobody of Auto Pilot's acts":   func(p *pass) { p.assessment.Feature = "" },
		"it disturbs nobody":            func(p *pass) { p.observed.MayDisturb = false },
		"it waits for what comes first": func(p *pass) { p.action = plan.Wait{} },
	} {
		q := *p
		if other(&q); !r.takeTurn(&q) {
			t.Errorf("%s, and it is held up", title)
		}
	}
}

// TestRoomTakesNoTurn has clusters in which room is made keep no others from their turn.
func TestRoomTakesNoTurn(t *testing.T) {
	r := &Reconciler{Clock: clocktesting.NewFakePassiveClock(begun)}
	for i := range maxDisturbed {
		name := named(i)
		p := &pass{cluster: &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}, action: plan.Compact{Revision: 9}}
		p.assessment.Feature = "noSpace"
		if r.observeAutopilot(p); !r.takeTurn(p) {
			t.Errorf("%s has no turn", name)
		}
	}
	if !r.brake.may(named(9), begun) {
		t.Error("they have taken all turns")
	}
}

// TestHeldEvents wants one event when something begins to be held, or for another reason, and one when it no longer is.
func TestHeldEvents(t *testing.T) {
	held := func(all ...v1beta2.HeldAct) v1beta2.EtcdClusterStatus {
		if len(all) == 0 {
			return v1beta2.EtcdClusterStatus{}
		}
		return v1beta2.EtcdClusterStatus{Autopilot: &v1beta2.AutopilotStatus{Held: all}}
	}
	waits := v1beta2.HeldAct{Feature: "defragment", Reason: v1beta2.ReasonWaitingForWindow, Message: "c-0 has 2Gi free"}
	more, other := waits, waits
	more.Message, other.Reason = "c-0 has 3Gi free", v1beta2.ReasonNoSpace
	for _, c := range []struct {
		title       string
		before, now v1beta2.EtcdClusterStatus
		want        string
	}{
		{"nothing", held(), held(), ""},
		{"it begins", held(), held(waits), "Normal WaitingForWindow autopilot.defragment: c-0 has 2Gi free"},
		{"it goes on", held(waits), held(waits), ""},
		{"other words", held(waits), held(more), ""},
		{"another reason", held(waits), held(other), "Warning NoSpace autopilot.defragment: c-0 has 2Gi free"},
		{"it ends", held(waits), held(), "Normal NoLongerHeld autopilot.defragment: no longer held for WaitingForWindow"},
	} {
		recorder := events.NewFakeRecorder(9)
		r := &Reconciler{Recorder: recorder}
		r.recordHeld(&pass{cluster: &v1beta2.EtcdCluster{Status: c.now}, before: &c.before})
		close(recorder.Events)
		var got []string
		for event := range recorder.Events {
			got = append(got, event)
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %q, want %q", c.title, text, c.want)
		}
	}
}

// keys has what client-go tells events of one object by. It counts one that differs in nothing else from another one as that one again.
type keys map[string]bool

func (k keys) Eventf(_, _ runtime.Object, kind, reason, action, _ string, _ ...any) {
	k[kind+" "+reason+" "+action] = true
}

// TestHeldEventsDiffer wants what is held for the same reason at the same time to be told of each feature, and that it no longer is.
func TestHeldEventsDiffer(t *testing.T) {
	var held v1beta2.EtcdClusterStatus
	held.Autopilot = &v1beta2.AutopilotStatus{Held: []v1beta2.HeldAct{
		{Feature: "defragment", Reason: v1beta2.ReasonAutopilotAdvises}, {Feature: "quota", Reason: v1beta2.ReasonAutopilotAdvises},
	}}
	for title, c := range map[string]struct{ before, now v1beta2.EtcdClusterStatus }{"begins": {now: held}, "ends": {before: held}} {
		told := keys{}
		r := &Reconciler{Recorder: told}
		if r.recordHeld(&pass{cluster: &v1beta2.EtcdCluster{Status: c.now}, before: &c.before}); len(told) != 2 {
			t.Errorf("%s: told are %v", title, told)
		}
	}
}

// TestEndEvents wants one event once what a feature has begun has come to its end, which says how long that took, and none before or after.
func TestEndEvents(t *testing.T) {
	for feature, c := range map[string]struct{ to, want string }{
		plan.FeatureQuota:      {"4Gi", "Normal QuotaRaised all members run with etcd's quota of 4Gi: that took 2m5s"},
		plan.FeatureVolume:     {"20Gi", "Normal VolumesGrown all members have volumes of 20Gi: that took 2m5s"},
		plan.FeatureResources:  {"1250m of CPU", "Normal MembersResized all members request 1250m of CPU: that took 2m5s"},
		plan.FeaturePatches:    {"3.6.17", "Normal PatchFollowed all members run etcd 3.6.17: that took 2m5s"},
		plan.FeatureRelocation: {"c-1", "Normal Relocated c-1, whose disk was slow, is removed, and another member has taken its place: that took 2m5s"},
		plan.FeatureDiverged: {
			"c-1 (000000000000000a)",
			"Normal DivergedMemberReplaced c-1 (000000000000000a), whose data differed, is removed, and another member has taken its place: that took 2m5s",
		},
	} {
		chosen := v1beta2.AutopilotStatus{
			Tuned:      &v1beta2.TunedOptions{QuotaBackendBytes: resource.MustParse("4Gi")},
			Volume:     &v1beta2.TunedVolume{Size: resource.MustParse("20Gi")},
			Resources:  &v1beta2.TunedResources{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1250m")}},
			Version:    &v1beta2.ChosenVersion{Version: "3.6.17"},
			Relocation: &v1beta2.Relocation{Member: "c-1"},
		}
		before := v1beta2.EtcdClusterStatus{ClusterID: "000000000000000b", Autopilot: chosen.DeepCopy()}
		before.Autopilot.UnderWay = []v1beta2.BegunAct{{Feature: feature, To: c.to, Since: metav1.NewTime(begun)}}
		over := v1beta2.EtcdClusterStatus{ClusterID: before.ClusterID, Autopilot: &chosen}
		tells := func(title string, from, to v1beta2.EtcdClusterStatus, want string) {
			t.Helper()
			recorder := events.NewFakeRecorder(9)
			p := &pass{cluster: &v1beta2.EtcdCluster{Status: to}, before: &from}
			p.observed.Now = begun.Add(2*time.Minute + 5*time.Second)
			(&Reconciler{Recorder: recorder}).recordEnded(p)
			close(recorder.Events)
			var got []string
			for event := range recorder.Events {
				got = append(got, event)
			}
			if text := strings.Join(got, "; "); text != want {
				t.Errorf("%s, %s: %q, want %q", feature, title, text, want)
			}
		}
		tells("it goes on", before, before, "")
		tells("it ends", before, over, c.want)
		tells("it is over", over, over, "")
	}
}
