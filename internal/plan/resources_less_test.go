package plan

import (
	"math"
	"testing"
	"time"
)

// TestLessMemoryForOneAtATime waits until the others are well, and some time, before the next member is given less.
func TestLessMemoryForOneAtATime(t *testing.T) {
	o := silent(requesting(changed(spec, less, time.Minute, ""), func(o *Observed) {
		o.Pods[0].Ready, o.Pods[0].ReadyChanged, o.Pods[0].Restarts = false, o.Now, 1
		for i := 1; i < 3; i++ {
			o.Pods[i].Requests, o.Pods[i].Drift.Resources = spec, true
		}
	}), 0)
	if act, resizes := Next(o).(Resize); resizes {
		t.Errorf("the next member is given less memory although the one before has just ended: %#v", act)
	}
	lowering := func(ago time.Duration) Observed {
		return requesting(changed(spec, less, ago, ""), func(o *Observed) {
			for i := 1; i < 3; i++ {
				o.Pods[i].Requests, o.Pods[i].Drift.Resources = spec, true
			}
		})
	}
	if act, resizes := Next(lowering(lowerApart - time.Second)).(Resize); resizes {
		t.Errorf("the next member is given less memory right after the first: %#v", act)
	}
	if act, resizes := Next(lowering(lowerApart)).(Resize); !resizes || act.Name != "c-1" {
		t.Errorf("later: %#v", Next(lowering(lowerApart)))
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

// TestWayBackFromLess gives less memory up where a member does not start with it, also without a quorum.
func TestWayBackFromLess(t *testing.T) {
	for title, down := range map[string][]int{"one": {0}, "two": {0, 1}} {
		o := requesting(changed(spec, less, time.Hour, ""))
		for _, i := range down {
			o = silent(o, i)
			o.Pods[i].Ready, o.Pods[i].ReadyChanged, o.Pods[i].Restarts = false, now.Add(-20*time.Minute), 9
			o.Pods[i].StartProblem = "etcd is crash-looping: OOMKilled"
		}
		if len(down) == 2 {
			o.Etcd.Contact = ContactNone
		}
		if act, back := Next(o).(CommitTuning); !back || act.Resized.Now != spec {
			t.Errorf("%s: members that were given less stay down: %#v", title, Next(o))
		}
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

// TestLiarTakesNoFloor has no number that a member tells of itself lower what the others need.
func TestLiarTakesNoFloor(t *testing.T) {
	for title, lie := range map[string]func(*Observed){
		"database": func(o *Observed) { o.Etcd.Answers[2].DBSize = math.MaxInt64 - besideHeap - 50*mebi },
		"heap":     func(o *Observed) { o.Etcd.Usages[2].Heap = math.MaxInt64 - 100*mebi - besideHeap },
	} {
		o := requesting(quiet(small), func(o *Observed) { o.Etcd.Answers[1].DBSize = 1800 * mebi }, lie)
		if act, ok := Next(o).(CommitTuning); ok && act.Resized.Now.Memory < spec.Memory {
			t.Errorf("%s: members with a database of 1800Mi are given %s", title, act.Resized.Now)
		}
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
