package plan

import (
	"strings"
	"testing"
	"time"
)

// TestLessMemoryForOneAtATime waits until the others are well, and have been resized, before the next member is given less memory by an edit. One that
// waits for more has lost nothing if it goes back.
func TestLessMemoryForOneAtATime(t *testing.T) {
	lowering := requesting(func(o *Observed) {
		for _, i := range []int{1, 2} { // of less memory, or limited to less
			o.Pods[i].Drift.Resources, o.Pods[i].Drift.LessMemory = true, true
		}
	})
	for title, c := range map[string]struct {
		o       Observed
		resizes string
	}{
		"all are well":        {lowering, "c-1"},
		"the first is down":   {silent(lowering, 0), ""},
		"the first is due":    {edit(lowering, func(o *Observed) { o.Pods[0].Resizing = "in progress" }), ""},
		"the first is asked":  {edit(lowering, func(o *Observed) { o.Pods[0].Unseen = true }), ""},
		"two wait for more":   {edit(lowering, func(o *Observed) { o.Pods[1].Resizing, o.Pods[2].Resizing = "Deferred", "Deferred" }), "c-1"},
		"the second one down": {silent(lowering, 1), "c-1"},
	} {
		if act, resizes := Next(c.o).(Resize); resizes != (c.resizes != "") || act.Name != c.resizes {
			t.Errorf("%s: %#v", title, Next(c.o))
		}
	}
}

// TestNoLessMemoryThanIsUsed has all members keep as much memory as one may use that has not gone back yet. An edit is carried out all the same, and a
// pod that keeps what it has is not waited for.
func TestNoLessMemoryThanIsUsed(t *testing.T) {
	given := func(o *Observed) {
		o.Pods[1].Drift.Resources, o.Pods[1].Drift.LessMemory, o.Pods[1].Requests = true, true, most
	}
	for title, c := range map[string]struct {
		change  func(*Observed)
		resizes string
		keeps   int64 // 0 if they go back
	}{
		"it uses less":              {func(*Observed) {}, "c-1", 0},
		"it uses more":              {uses(1, Resources{Memory: 3 * gibi}), "", most.Memory},
		"its file is large":         {func(o *Observed) { o.Etcd.Answers[1].DBSize = 3 * gibi }, "", most.Memory},
		"it is off":                 {func(o *Observed) { o.Cluster.Autopilot.Resources = ModeOff; o.Etcd.Usages = nil }, "", 0},
		"it has not told":           {func(o *Observed) { o.Etcd.Usages = o.Etcd.Usages[:1] }, "", most.Memory},
		"it may tell soon":          {func(o *Observed) { o.Etcd.Usages[1].Heap = 0; o.Pods[1].Created = now.Add(-time.Minute) }, "", 0},
		"another one does":          {uses(2, Resources{Memory: 3 * gibi}), "c-1", 0},
		"the spec is edited":        {func(o *Observed) { o.Cluster.SpecResources.Requests.Memory--; o.Etcd.Usages = nil }, "c-1", 0},
		"another one is kept":       {func(o *Observed) { o.Pods[2].Resizing, o.Pods[2].ResizingSince = "Deferred", now.Add(-time.Hour) }, "c-1", 0},
		"another one refuses":       {func(o *Observed) { o.Pods[2].Resizing, o.Pods[2].ResizeRefused = "Deferred", true }, "c-1", 0},
		"another one begins":        {func(o *Observed) { o.Pods[2].Resizing, o.Pods[2].ResizingSince = "Deferred", now }, "", 0},
		"another one was just told": {func(o *Observed) { o.Pods[2].Resizing, o.Pods[2].Unseen = "Deferred", true }, "", 0},
	} {
		t.Run(title, func(t *testing.T) {
			o := requesting(changed(spec, spec, time.Hour, "why"), old, given, c.change)
			act := Next(o)
			resize, _ := act.(Resize)
			commit, _ := act.(CommitTuning)
			if resize.Name != c.resizes || commit.Resized.Now.Memory != c.keeps {
				t.Fatalf("%#v, want to resize %q, or to keep %d", act, c.resizes, c.keeps)
			}
			if r := commit.Resized; c.keeps > 0 && (r.Before != r.Now || r.Now.CPU != spec.CPU || r.GivenUp != "why" || !r.Since.Equal(now.Add(-time.Hour))) {
				t.Errorf("recorded: %+v", r)
			}
		})
	}
}

// TestResizeThatRestarts is an update: no other member may be down.
func TestResizeThatRestarts(t *testing.T) {
	drifts := func(o *Observed) {
		for i := range o.Pods {
			o.Pods[i].ResizeRestarts, o.Pods[i].Drift.Resources = true, i > 0
		}
	}
	down := silent(requesting(drifts, func(o *Observed) {
		o.Pods[0].Ready, o.Pods[0].ReadyChanged, o.Pods[0].Restarts = false, o.Now, 1
	}), 0)
	if act, waits := Next(down).(Wait); !waits {
		t.Errorf("a second voter is restarted while the first one starts: %#v", act)
	}
	up := requesting(drifts, func(o *Observed) { o.Budget.MinAvailable = 3 })
	if got := newView(up).Update.Step; Describe(got).Action != "Recreate" {
		t.Errorf("with all healthy: %#v", got)
	}
}

// old has all pods have been created an hour ago.
func old(o *Observed) {
	for i := range o.Pods {
		o.Pods[i].Created = now.Add(-time.Hour)
	}
}

// TestGiveUpAboveUse leaves members the memory that one of them may use by now. Where that is not known, it may be all that there is.
func TestGiveUpAboveUse(t *testing.T) {
	for title, c := range map[string]struct {
		change func(*Observed)
		want   int64
	}{
		"little is used":     {func(*Observed) {}, spec.Memory},
		"more is used":       {uses(1, Resources{Memory: 3900 * mebi}), 3900 * mebi},
		"more may be":        {func(o *Observed) { o.Etcd.Answers[0].DBSize = 3000 * mebi }, (3000 + 50 + 384) * mebi},
		"no metrics":         {func(o *Observed) { o.Etcd.Usages = o.Etcd.Usages[1:] }, most.Memory},
		"the heap is absent": {func(o *Observed) { o.Etcd.Usages[0].Heap = 0 }, most.Memory},
		"no answer":          {func(o *Observed) { *o = silent(*o, 0) }, most.Memory},
		"more was used":      {func(o *Observed) { o.Etcd.Usages[2].Peak.Memory = 3800 * mebi }, 3800 * mebi},
		"it has just begun":  {func(o *Observed) { o.Etcd.Usages[1].Used.Memory = 0 }, most.Memory},
		"nothing runs":       {func(o *Observed) { *o = silent(*o, 0); o.Pods[0].Node = "" }, spec.Memory},
	} {
		t.Run(title, func(t *testing.T) {
			o := requesting(changed(spec, most, 30*time.Minute, ""), old, func(o *Observed) {
				o.Pods[2].Resizing, o.Pods[2].ResizingSince = "Deferred: no room", now.Add(-11*time.Minute)
			}, c.change)
			act, ok := giveUpResize(newView(o)).(CommitTuning)
			if got := act.Resized.Now; !ok || got.CPU != spec.CPU || got.Memory != c.want {
				t.Errorf("members are given %s again, want %dMi of memory", got, c.want/mebi)
			}
		})
	}
}

// TestGiveUpAwaitsMemory gives nothing up for want of knowing what a member uses until that takes too long, unless memory is as it was.
func TestGiveUpAwaitsMemory(t *testing.T) {
	silentFor := func(ago time.Duration, to Resources) Action {
		o := requesting(changed(spec, to, ago, ""), old, func(o *Observed) { o.Pods[2].ResizeInfeasible, o.Etcd.Usages[0].Heap = true, 0 })
		return giveUpResize(newView(o))
	}
	memory := Resources{spec.CPU, most.Memory}
	if act := silentFor(29*time.Minute, memory); act != nil {
		t.Errorf("it is given up at once: %#v", act)
	}
	if act, ok := silentFor(30*time.Minute, memory).(CommitTuning); !ok || act.Resized.Now != memory || !strings.Contains(Describe(act).Message, "go on requesting") {
		t.Errorf("it is not given up: %#v", act)
	}
	replaced := requesting(changed(spec, memory, 7*24*time.Hour, ""), old, func(o *Observed) {
		o.Pods[2].ResizeInfeasible, o.Etcd.Usages[2].Used.Memory, o.Pods[2].Created = true, 0, now.Add(-10*time.Minute)
	})
	if act := giveUpResize(newView(replaced)); act != nil {
		t.Errorf("a member that was created ten minutes ago decides for all: %#v", act)
	}
	if act, ok := silentFor(time.Minute, Resources{most.CPU, spec.Memory}).(CommitTuning); !ok || act.Resized.Now != spec {
		t.Errorf("of CPU nothing has to be known: %#v", act)
	}
}

// TestAdoptedPastTheMaximum keeps of CPU what is within bounds, and of memory all: less may end a member.
func TestAdoptedPastTheMaximum(t *testing.T) {
	o := requesting(func(o *Observed) {
		o.Cluster.Autopilot.MaxResources = Resources{1500, 3 * gibi} // made narrower since
		for i := range o.Pods {
			o.Pods[i].Requests = most
		}
	})
	if got := o.adoptedResources(Tuned{}).Resized; got.Now != (Resources{1500, most.Memory}) || got.GivenUp != "" {
		t.Errorf("members that have %s are given %s by the spec; adopted: %+v", most, o.Cluster.SpecResources.Requests, got)
	}
}

// TestAdoptedIsGivenUp gives up what was adopted, too, where a member cannot be given it: all go on requesting it, and nothing waits for that.
func TestAdoptedIsGivenUp(t *testing.T) {
	given := requesting(func(o *Observed) { o.Pods[0].Requests = most }).adoptedResources(Tuned{}).Resized
	o := requesting(changed(given.Before, given.Now, time.Hour, given.GivenUp), old, func(o *Observed) {
		o.Pods[1].Resizing, o.Pods[1].ResizingSince = "Deferred", now.Add(-time.Hour)
	})
	act, is := Next(o).(CommitTuning)
	if !is || act.Resized.Now != most || act.Resized.GivenUp == "" {
		t.Fatalf("%#v", act)
	}
	if p := Assess(edit(o, changed(most, most, 0, act.Resized.GivenUp))).InProgress; p != nil {
		t.Errorf("what is given up holds up the rest: %#v", p)
	}
}

// TestResizeOfAPodThatIsMadeAnew is not waited for where it is to more than anybody asks for by now. What the spec asks for may find no room when the
// pod is made anew, either.
func TestResizeOfAPodThatIsMadeAnew(t *testing.T) {
	for requests, want := range map[Resources]bool{spec: true, most: false} {
		v := newView(requesting(func(o *Observed) {
			p := &o.Pods[1]
			p.Resizing, p.ResizingSince, p.Drift.Template, p.Requests = "Deferred", now.Add(-time.Hour), true, requests
		}))
		if got := v.waitForResize() != nil; got != want {
			t.Errorf("while it waits for %s it is waited for: %t", requests, got)
		}
	}
}

// TestAdoptedWithoutABound keeps no memory that Auto Pilot cannot have chosen: it is of an edit that was not carried out yet.
func TestAdoptedWithoutABound(t *testing.T) {
	o := requesting(func(o *Observed) {
		o.Cluster.Autopilot.MinResources.Memory, o.Cluster.Autopilot.MaxResources.Memory, o.Pods[0].Requests = 0, 0, most
	})
	if got := o.adoptedResources(Tuned{}).Resized.Now; got != (Resources{most.CPU, spec.Memory}) {
		t.Errorf("adopted: %s", got)
	}
}
