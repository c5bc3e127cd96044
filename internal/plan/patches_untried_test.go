package plan

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// TestNobodyCanGetIt gives a release up that no member can get, because of a known problem, after half an hour, and says why for a day.
func TestNobodyCanGetIt(t *testing.T) {
	pulling := func(since time.Duration) func(*Observed) {
		return func(o *Observed) {
			o.PrepullPods = []PrepullPod{{Name: "pull", Node: "n1", Image: o.Cluster.Image(newest), Created: now.Add(-since), Problem: "no such tag"}}
		}
	}
	unpulled := pulling(untriedLimit)
	unstarted := func(problem string, unpulled bool, since time.Duration) func(*Observed) {
		return func(o *Observed) {
			p := waitingPod(3)
			p.Phase, p.Node, p.IP, p.StartProblem, p.Unpulled, p.Persistent, p.Version = Pending, "", "", problem, unpulled, true, newest
			p.Created = now.Add(-since)
			o.Pods, o.Volumes = append(o.Pods, p), append(o.Volumes, Volume{Name: name(3), UID: "v3", Incarnation: 1, Owned: true})
		}
	}
	refused := func(o *Observed) {
		o.Refused = []Refusal{{Target: Target{"create", KindPod, "c-3"}, Message: "exceeded quota: pods", Since: now.Add(-time.Hour), RetryAt: now.Add(time.Minute)}}
	}
	for title, c := range map[string]struct {
		since   time.Duration
		problem func(*Observed)
		says    string // empty if it is not given up
	}{
		"its image cannot be pulled":  {untriedLimit, unpulled, "no such tag"},
		"it is chosen since a minute": {time.Minute, unpulled, ""},
		"it is pulled since a minute": {untriedLimit, pulling(time.Minute), ""},
		"its pod is on no node":       {untriedLimit, unstarted("Insufficient memory", false, pendingLimit), "Insufficient memory"},
		"its pod pulls for long":      {untriedLimit, unstarted("ErrImagePull", true, untriedLimit), "ErrImagePull"},
		"its pod pulls for a moment":  {untriedLimit, unstarted("ErrImagePull", true, pendingLimit), ""},
		"its pod is refused":          {untriedLimit, refused, "refuses to create Pod c-3"},
		"no problem is known":         {24 * time.Hour, func(*Observed) {}, ""},
		"it is paused":                {untriedLimit, func(o *Observed) { unpulled(o); o.Cluster.Paused = true }, ""},
	} {
		o := patchable(chose(former, c.since), c.problem)
		o.Cluster.Record = o.Cluster.Apply(nil, o)
		p := o.Cluster.Tuned.Patch
		if (p.GivenUp.Version != "") != (c.says != "") || !strings.Contains(p.GivenUp.Because, c.says) || (p.InsteadOf == "") != (c.says != "") {
			t.Errorf("%s: %+v", title, p)
		}
		if c.says == "" {
			continue
		}
		if p.Version != former || !p.Since.Equal(now) {
			t.Errorf("%s: %+v", title, p)
		}
		o = patchable(func(next *Observed) { next.Cluster.Record = o.Cluster.Record })
		if held := heldBy(Assess(o)); !strings.HasPrefix(held, v1beta2.ReasonPatchHeld) || !strings.Contains(held, c.says) {
			t.Errorf("%s: held: %q", title, held)
		}
		fixed := edit(o, func(o *Observed) { o.Cluster.NewestPatch = "3.6.17" })
		if act, tries := Next(fixed).(CommitTuning); !tries || act.Patch.Version != "3.6.17" {
			t.Errorf("%s: a newer one: %#v", title, Next(fixed))
		}
		o.Now, o.Cluster.Backup.Taken = now.Add(24*time.Hour), now.Add(23*time.Hour)
		if act, again := Next(o).(CommitTuning); !again || act.Patch.Version != newest || act.Patch.GivenUp != (GivenUpPatch{}) {
			t.Errorf("%s: a day later: %#v", title, Next(o))
		}
	}
}

// TestPullsThroughAMissedAnswer goes on to pull the image of a release that nobody has yet while a member is not healthy, so that the half hour until it
// is given up does not begin anew with every answer that is missed.
func TestPullsThroughAMissedAnswer(t *testing.T) {
	pulling := patchable(chose(former, 5*time.Hour), func(o *Observed) {
		o.PrepullPods = []PrepullPod{{Name: "pull", UID: "u", Node: "n1", Image: o.Cluster.Image(newest), Created: now.Add(-29 * time.Minute), Problem: "no such tag"}}
	})
	missed := silent(pulling, 2)
	for title, c := range map[string]struct {
		o    Observed
		goes bool
	}{
		"it is pulled":                   {pulling, false},
		"one misses an answer":           {missed, false},
		"and the image is there":         {edit(missed, func(o *Observed) { o.PrepullPods[0].Done = true }), true},
		"and it is another image":        {edit(missed, func(o *Observed) { o.PrepullPods[0].Image = "another" }), true},
		"and no member is on that node":  {edit(missed, func(o *Observed) { o.PrepullPods[0].Node = "n9" }), true},
		"and one member has the release": {edit(missed, updated(1, true, time.Minute)), true},
		"and the window has closed":      {edit(missed, func(o *Observed) { o.Cluster.Autopilot.Window.Set = true }), true},
		"and it is not chosen any more":  {edit(missed, func(o *Observed) { o.Cluster.Tuned.Patch, o.Cluster.Version = Patch{}, former }), true},
	} {
		if _, deletes := Next(c.o).(DeletePrepullPod); deletes != c.goes {
			t.Errorf("%s: %#v", title, Next(c.o))
		}
	}
	if given := passed(edit(missed, func(o *Observed) { o.Now = now.Add(time.Minute) }), 0).Cluster.Tuned.Patch.GivenUp; given.Version != newest {
		t.Errorf("after half an hour: %+v", given)
	}
}

// TestImageSetBackByHand says nothing of a release because somebody has set the image of the first pod that has it back, and another pod of that name is
// another member's.
func TestImageSetBackByHand(t *testing.T) {
	o := patchable(chose(former, time.Hour), func(o *Observed) {
		o.Cluster.Tuned.Patch.Trial = PatchTrial{Member: "c-1", PodUID: o.Pods[1].UID, Began: now.Add(-time.Minute), Failing: now.Add(-time.Minute)}
	})
	if back, retreats := Next(o).(CommitTuning); retreats {
		t.Errorf("rolled back, because %s", back.Because)
	}
	if p := passed(o, 0).Cluster.Tuned.Patch; p.Trial != (PatchTrial{}) || p.Version != newest || !p.Since.Equal(now) {
		t.Errorf("the trial does not begin anew: %+v", p)
	}
	if _, tries := Next(edit(o, hasNewest, func(o *Observed) { o.Budget.MinAvailable = 3 })).(RemoveFromService); !tries {
		t.Errorf("nobody tries it again: %#v", Next(edit(o, hasNewest, func(o *Observed) { o.Budget.MinAvailable = 3 })))
	}
	o.Cluster.Tuned.Patch.Trial.PodUID = "of before"
	if back, retreats := Next(o).(CommitTuning); !retreats || !strings.HasSuffix(back.Because, "was lost") {
		t.Errorf("another pod: %#v", Next(o))
	}
}

// TestWithoutWritesOnTrial raises the quota of a cluster that takes no writes, although a member tries a release, for as long as that takes.
func TestWithoutWritesOnTrial(t *testing.T) {
	writeless := func(o *Observed) {
		o.Cluster.Quota, o.Cluster.SpecQuota, o.Cluster.Autopilot.Grow, o.Cluster.Autopilot.MaxQuota = 2<<30, 2<<30, ModeOn, 8<<30
		o.Cluster.Autopilot.NoSpace, o.Cluster.Autopilot.Compact, o.Etcd.RoomMade = ModeOn, true, maxRooms
		for i := range o.Etcd.Answers {
			o.Etcd.Answers[i].Quota, o.Etcd.Answers[i].DBSize, o.Etcd.Answers[i].DBSizeInUse = 2<<30, 2<<30, 2<<30
			o.Etcd.Databases = append(o.Etcd.Databases, Database{Pod: o.Pods[i].Name, PodUID: o.Pods[i].UID, Known: true})
			o.Volumes[i].Requested = 100 << 30
		}
		*o = alarmed(*o, Alarm{AlarmNoSpace, id(0)})
	}
	if act, raises := Next(patchable(chose(former, time.Hour), updated(1, true, time.Minute), writeless)).(CommitTuning); !raises || act.Quota == 0 {
		t.Errorf("%#v", act)
	}
}

// TestTrialThatDoesNotEnd is told as one that somebody has to look at.
func TestTrialThatDoesNotEnd(t *testing.T) {
	o := patchable(chose(former, 2*time.Hour), updated(1, true, time.Minute))
	for began, want := range map[time.Duration]string{time.Minute: v1beta2.ReasonPatchOnTrial, trialLimit: v1beta2.ReasonPatchHeld} {
		o.Cluster.Tuned.Patch.Trial.Began = now.Add(-began)
		if held := heldBy(Assess(o)); !strings.HasPrefix(held, want) {
			t.Errorf("after %s: %q, want %s", began, held, want)
		}
	}
}

// TestEditOnTrial takes no release back because an edit has the first member's container start anew.
func TestEditOnTrial(t *testing.T) {
	o := patchable(chose(former, 5*time.Minute), updated(1, true, 5*time.Minute), ready(1), func(o *Observed) {
		o.Cluster.Repository, o.Pods[1].Drift.Image = "mirror.example/etcd", true
		for _, n := range []string{"n0", "n1", "n2"} {
			o.PrepullPods = append(o.PrepullPods, PrepullPod{Name: n, Node: n, Image: "mirror.example/etcd:v" + newest, Done: true})
		}
	})
	act, sets := Next(o).(SetImage)
	if !sets || act.Name != "c-1" {
		t.Fatalf("%#v", Next(o))
	}
	started := func(o *Observed) {
		o.Now = o.Now.Add(time.Second)
		o.Pods[1].Drift.Image, o.Pods[1].Restarts, o.Pods[1].Replaced, o.Pods[1].ReadyChanged = false, 1, true, o.Now
	}
	for title, stopping := range map[string]Observed{
		"the edit is recorded": edit(o, func(o *Observed) { o.Cluster.Record = o.Cluster.Apply(act, *o) }),
		"that was lost":        o,
	} {
		stopping = edit(stopping, func(o *Observed) { o.Now, o.Pods[1].Restarting = o.Now.Add(time.Second), true })
		seen := edit(passed(stopping, 0), func(o *Observed) { o.Pods[1].Restarting = false })
		for _, o := range []Observed{edit(seen, started), edit(stopping, func(o *Observed) { o.Pods[1].Restarting = false }, started)} {
			if back, retreats := Next(o).(CommitTuning); retreats {
				t.Errorf("%s: rolled back, because %s", title, back.Because)
			}
			for _, failed := range []func(*Observed){
				func(o *Observed) { o.Pods[1].Replaced = false }, // another container has ended since
				func(o *Observed) { o.Pods[1].Restarts = 3 },
			} {
				crashed := edit(passed(o, 0), func(o *Observed) { o.Pods[1].Restarts = 2 }, failed)
				if _, retreats := Next(crashed).(CommitTuning); !retreats {
					t.Errorf("%s: a crash after that is none: %#v", title, Next(crashed))
				}
			}
		}
	}
}
