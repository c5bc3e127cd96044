package plan

import (
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

// TestGiveUpAboveUse leaves members what they use by now.
func TestGiveUpAboveUse(t *testing.T) {
	o := requesting(changed(spec, most, 20*time.Minute, ""), func(o *Observed) {
		o.Pods[2].Resizing, o.Pods[2].ResizingSince = "Deferred: no room", now.Add(-11*time.Minute)
		o.Pods[2].Requests = most
		for i := range 2 {
			o.Etcd.Usages[i].Used.Memory, o.Etcd.Usages[i].Heap = 3900*mebi, 2*gibi
			o.Etcd.Answers[i].DBSize = 1500 * mebi
		}
	})
	act, ok := Next(o).(CommitTuning)
	if ok && act.Resized.Now.Memory < 3900*mebi {
		t.Errorf("members that use 3900Mi are given %s again", act.Resized.Now)
	}
}

// TestAdoptedPastTheMaximum keeps of each amount what is within bounds.
func TestAdoptedPastTheMaximum(t *testing.T) {
	o := requesting(func(o *Observed) {
		o.Cluster.Autopilot.MaxResources.CPU = 1500 // made narrower since
		for i := range o.Pods {
			o.Pods[i].Requests = most
		}
	})
	if got := o.adoptedResources(Tuned{}).Resized.Now; got.Memory != 4*gibi {
		t.Errorf("members that have %s are given %s by the spec; adopted: %s", most, o.Cluster.SpecResources.Requests, got)
	}
}
