package plan

import (
	"strings"
	"testing"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// requesting is a cluster of three whose members request one core and 2Gi, of which they use half, and may be given 500m to 2, and 1Gi to 4Gi.
func requesting(changes ...func(*Observed)) Observed {
	o := edit(healthyCluster(3, true), func(o *Observed) {
		c := &o.Cluster
		c.Autopilot.Resources, o.MayDisturb = ModeOn, true
		c.Autopilot.MinResources, c.Autopilot.MaxResources = Resources{500, gibi}, Resources{2000, 4 * gibi}
		c.SpecResources = Requirements{Requests: Resources{1000, 2 * gibi}, Limits: Resources{Memory: 4 * gibi}}
		for i, p := range o.Pods {
			o.Pods[i].Requests = c.SpecResources.Requests
			o.Etcd.Answers[i].DBSize = 100 * mebi
			o.Etcd.Usages = append(o.Etcd.Usages, Usage{Pod: p.Name, PodUID: p.UID, Used: Resources{500, gibi}, Heap: 50 * mebi})
		}
	})
	for _, change := range changes {
		o = edit(o, change)
	}
	return o
}

// uses has one member use so much.
func uses(member int, used Resources) func(*Observed) {
	return func(o *Observed) { o.Etcd.Usages[member].Used = used }
}

// quiet has all members have used no more than that in a week.
func quiet(peak Resources) func(*Observed) {
	return func(o *Observed) {
		for i := range o.Etcd.Usages {
			o.Etcd.Usages[i].Used, o.Etcd.Usages[i].Peak = peak, peak
		}
	}
}

// changed is what was changed some time ago.
func changed(from, to Resources, ago time.Duration, givenUp string) func(*Observed) {
	return func(o *Observed) {
		o.Cluster.Tuned.Resized = Resized{Now: to, Before: from, InsteadOf: o.Cluster.SpecResources, Since: now.Add(-ago), GivenUp: givenUp}
		for i := range o.Pods {
			o.Pods[i].Requests = to
		}
	}
}

// unbounded takes both bounds away from CPU, from memory, or from both.
func unbounded(cpu, memory bool) func(*Observed) {
	return func(o *Observed) {
		for _, bound := range []*Resources{&o.Cluster.Autopilot.MinResources, &o.Cluster.Autopilot.MaxResources} {
			if cpu {
				bound.CPU = 0
			}
			if memory {
				bound.Memory = 0
			}
		}
	}
}

var (
	much  = Resources{810, gibi}         // of CPU
	huge  = Resources{500, 1700 * mebi}  // of memory
	small = Resources{300, 700 * mebi}   // of both
	spec  = Resources{1000, 2 * gibi}    // what the spec requests
	more  = Resources{1270, 2 * gibi}    // 810m are 64 hundredths of it
	less  = Resources{750, 2 * gibi}     // three quarters of the CPU
	most  = Resources{2000, 4 * gibi}    // the bounds
	wider = Resources{1000, 2672 * mebi} // 1700Mi are 64 hundredths of it, in steps of 16Mi
)

// TestResize has members request more once one of them uses most of what it does, and less once none has for a week, and says why not where it does
// not.
func TestResize(t *testing.T) {
	for title, c := range map[string]struct {
		o          Observed
		want       Resources // zero for nothing
		held, says string    // the reason, empty for none
	}{
		"half is used":        {requesting(), Resources{}, "", ""},
		"nothing is known":    {requesting(func(o *Observed) { o.Etcd.Usages = nil }), Resources{}, "", ""},
		"four fifths are":     {requesting(uses(1, Resources{800, gibi})), Resources{}, "", ""},
		"more CPU is":         {requesting(uses(1, much)), more, "", ""},
		"more memory is":      {requesting(uses(2, huge)), wider, "", ""},
		"both are":            {requesting(uses(2, huge), uses(1, much)), Resources{1270, wider.Memory}, "", ""},
		"all is, of a limit":  {requesting(uses(0, Resources{1000, gibi})), Resources{1570, 2 * gibi}, "", ""},
		"far more is":         {requesting(uses(0, Resources{9000, gibi})), Resources{2000, 2 * gibi}, "", ""},
		"of another pod":      {requesting(uses(1, much), func(o *Observed) { o.Etcd.Usages[1].PodUID = "gone" }), Resources{}, "", ""},
		"the spec has no CPU": {requesting(uses(1, much), func(o *Observed) { o.Cluster.SpecResources.Requests.CPU = 0 }), Resources{}, "", ""},
		"the spec has none":   {requesting(uses(1, much), func(o *Observed) { o.Cluster.SpecResources = Requirements{} }), Resources{}, "", ""},
		"it was raised before": {
			requesting(uses(1, Resources{1100, gibi}), changed(spec, more, time.Hour, "")), Resources{1720, 2 * gibi}, "", "",
		},
		"the maximum is reached": {
			requesting(uses(1, Resources{1900, gibi}), changed(spec, Resources{2000, 2 * gibi}, time.Hour, "")),
			Resources{},
			v1beta2.ReasonResourcesHeld, "spec.autopilot.resources.max.cpu",
		},
		"the maximum of memory is reached": {
			requesting(uses(1, Resources{500, 3900 * mebi}), changed(spec, Resources{1000, 4 * gibi}, time.Hour, "")),
			Resources{},
			v1beta2.ReasonResourcesHeld, "spec.autopilot.resources.max.memory",
		},
		"there is no maximum of CPU": {
			requesting(uses(1, much), func(o *Observed) { o.Cluster.Autopilot.MaxResources.CPU = 0 }), Resources{}, v1beta2.ReasonResourcesHeld, "what spec.pod.resources says",
		},
		"CPU has no bound":                     {requesting(uses(1, much), unbounded(true, false)), Resources{}, "", ""},
		"CPU has no bound, and memory is used": {requesting(uses(1, much), uses(2, huge), unbounded(true, false)), wider, "", ""},
		"memory has no bound":                  {requesting(uses(1, huge), unbounded(false, true)), Resources{}, "", ""},
		"memory has no bound, and CPU is used": {requesting(uses(1, huge), uses(2, much), unbounded(false, true)), more, "", ""},
		"nothing has a bound":                  {requesting(uses(1, huge), uses(2, much), unbounded(true, true)), Resources{}, "", ""},
		"memory has no bound and is full, and little CPU was used": {
			requesting(quiet(Resources{300, 1900 * mebi}), unbounded(false, true)), Resources{750, 2 * gibi}, "", "",
		},
		"CPU is above the spec and has no bound any more": {
			requesting(quiet(small), changed(spec, most, 25*time.Hour, ""), unbounded(true, false)), Resources{}, "", "",
		},
		"one is at its maximum, and the other is not": {
			requesting(uses(1, much), uses(2, huge), func(o *Observed) { o.Cluster.Autopilot.MaxResources.CPU = 0 }), wider, v1beta2.ReasonResourcesHeld, "of the CPU",
		},
		"little was used for a week": {requesting(quiet(small)), less, "", ""},
		"two fifths were":            {requesting(quiet(Resources{400, 900 * mebi})), Resources{}, "", ""},
		"little CPU was":             {requesting(quiet(Resources{300, 900 * mebi})), Resources{750, 2 * gibi}, "", ""},
		"it is not known of one member": {
			requesting(quiet(small), func(o *Observed) { o.Etcd.Usages[2].Peak = Resources{} }), Resources{}, "", "",
		},
		"the minimum is near": {
			requesting(quiet(small), func(o *Observed) { o.Cluster.Autopilot.MinResources.CPU = 900 }), Resources{900, 2 * gibi}, "", "",
		},
		"there is no minimum": {requesting(quiet(small), func(o *Observed) { o.Cluster.Autopilot.MinResources = Resources{} }), Resources{}, "", ""},
		"it is above the spec, and there is no minimum": {
			requesting(quiet(small), changed(spec, most, 25*time.Hour, ""), func(o *Observed) { o.Cluster.Autopilot.MinResources = Resources{} }),
			Resources{1500, 4 * gibi},
			"", "",
		},
		"it was changed today":      {requesting(quiet(small), changed(spec, more, 23*time.Hour, "")), Resources{}, "", ""},
		"it was changed yesterday":  {requesting(quiet(small), changed(most, spec, 25*time.Hour, "")), less, "", ""},
		"more is given up today":    {requesting(uses(1, much), changed(spec, spec, time.Hour, "why not")), Resources{}, v1beta2.ReasonResourcesHeld, "why not"},
		"it was given up yesterday": {requesting(uses(1, much), changed(spec, spec, 25*time.Hour, "why not")), more, "", ""},
		"a resize restarts members": {
			requesting(uses(1, much), func(o *Observed) { o.Pods[1].ResizeRestarts = true }), Resources{}, v1beta2.ReasonResourcesHeld, "resizePolicy",
		},
		"the mode is Off": {requesting(uses(1, much), func(o *Observed) { o.Cluster.Autopilot.Resources = ModeOff }), Resources{}, "", ""},
		"the mode is Advise": {
			requesting(uses(1, much), func(o *Observed) { o.Cluster.Autopilot.Resources = ModeAdvise }), Resources{}, v1beta2.ReasonAutopilotAdvises, "1270m of CPU",
		},
		"more does not wait for the window": {requesting(uses(1, much), func(o *Observed) { o.Cluster.Autopilot.Window.Set = true }), more, "", ""},
		"less waits for the window": {
			requesting(quiet(small), func(o *Observed) { o.Cluster.Autopilot.Window.Set = true }), Resources{}, v1beta2.ReasonWaitingForWindow, "750m of CPU",
		},
		"others come first":   {requesting(uses(1, much), func(o *Observed) { o.MayDisturb = false }), Resources{}, v1beta2.ReasonWaitingForBrake, "1270m"},
		"it is paused":        {requesting(uses(1, much), func(o *Observed) { o.Cluster.Paused = true }), Resources{}, "", ""},
		"it is to hibernate":  {requesting(uses(1, much), func(o *Observed) { o.Cluster.Hibernate = true }), Resources{}, "", ""},
		"a voter is down":     {silent(requesting(uses(1, much)), 2), Resources{}, "", ""},
		"a roll is under way": {requesting(uses(1, much), func(o *Observed) { o.Pods[2].Drift.Template = true }), Resources{}, "", ""},
		"a pod is resized":    {requesting(uses(1, much), func(o *Observed) { o.Pods[2].Resizing = "now" }), Resources{}, "", ""},
		"a learner joins":     {withLearner(requesting(uses(1, much)), 3), Resources{}, "", ""},
		"there is no space":   {alarmed(requesting(uses(1, much)), Alarm{AlarmNoSpace, id(1)}), Resources{}, "", ""},
		"the spec is refused": {requesting(uses(1, much), func(o *Observed) { o.Cluster.Invalid = &failure.Problem{} }), Resources{}, "", ""},
		"a member is moved":   {requesting(uses(1, much), func(o *Observed) { o.Cluster.Relocation = Relocation{Member: id(2), Name: "c-2"} }), Resources{}, "", ""},
		"a member's data is wrong": {
			requesting(uses(1, much), func(o *Observed) { o.Cluster.Quarantined = Quarantined{Member: id(2), Name: "c-2"} }), Resources{}, "", "",
		},
		"a pod keeps what it has": {
			requesting(uses(1, much), changed(spec, spec, 25*time.Hour, "why"), func(o *Observed) { o.Pods[1].ResizeRefused = true }),
			Resources{},
			v1beta2.ReasonResourcesHeld, "c-1 cannot be resized to what the others have",
		},
		"a pod cannot go back": {
			requesting(uses(1, much), changed(spec, spec, 25*time.Hour, "why"), func(o *Observed) {
				o.Pods[1].Resizing, o.Pods[1].ResizingSince = "Deferred: no room", now.Add(-time.Hour)
			}), Resources{}, v1beta2.ReasonResourcesHeld, "c-1 cannot be resized to what the others have",
		},
		"a pod goes back": {
			requesting(uses(1, much), changed(spec, spec, 25*time.Hour, "why"), func(o *Observed) {
				o.Pods[1].Resizing, o.Pods[1].ResizingSince = "in progress", now
			}), Resources{}, "", "",
		},
	} {
		t.Run(title, func(t *testing.T) {
			action, known := Decide(c.o)
			got, _ := action.(CommitTuning)
			if got.Resized.Now != c.want && (got.FromResources != Resources{} || c.want != Resources{}) {
				t.Errorf("Next() = %#v, want %v", action, c.want)
			}
			held := ""
			for _, h := range known.Held {
				if h.Feature == FeatureResources {
					held = h.Reason + " " + h.Message
				}
			}
			if most := c.o.Cluster.Autopilot.MaxResources; strings.Contains(held, "max.cpu") && most.CPU == 0 || strings.Contains(held, "max.memory") && most.Memory == 0 {
				t.Errorf("a maximum that is not set is named: %s", held)
			}
			if !strings.HasPrefix(held, c.held) || !strings.Contains(held, c.says) || c.held == "" && held != "" {
				t.Errorf("held: %q, want %s: %s", held, c.held, c.says)
			}
		})
	}
}

// TestResizedFor keeps what was changed as long as the spec has what it was changed from, and finds it in pods where status was lost.
func TestResizedFor(t *testing.T) {
	o := requesting(uses(1, much))
	o.Cluster.Record = o.Cluster.Apply(Next(o), o)
	if o.Cluster.Requests() != more {
		t.Fatalf("recorded: %+v", o.Cluster.Tuned)
	}
	for title, change := range map[string]func(*Observed){
		"another request":       func(o *Observed) { o.Cluster.SpecResources.Requests.Memory++ },
		"another limit":         func(o *Observed) { o.Cluster.SpecResources.Limits.CPU = 4000 },
		"nothing in the spec":   func(o *Observed) { o.Cluster.SpecResources = Requirements{} },
		"a limit less":          func(o *Observed) { o.Cluster.SpecResources.Limits = Resources{} },
		"another CPU in it":     func(o *Observed) { o.Cluster.SpecResources.Requests.CPU = 1270 },
		"another one of memory": func(o *Observed) { o.Cluster.SpecResources.Limits.Memory = 8 * gibi },
	} {
		edited := edit(o, change)
		if got := edited.Cluster.Apply(nil, edited).Tuned; got != (Tuned{}) || edited.Cluster.Requests() != edited.Cluster.SpecResources.Requests {
			t.Errorf("%s: kept is %+v", title, got)
		}
	}
	for title, change := range map[string]func(*Observed){
		"the mode Off":      func(o *Observed) { o.Cluster.Autopilot = Autopilot{} },
		"a lower maximum":   func(o *Observed) { o.Cluster.Autopilot.MaxResources.CPU = 1100 },
		"a spec with flaws": func(o *Observed) { o.Cluster.SpecResources, o.Cluster.Invalid = Requirements{}, &failure.Problem{} },
	} {
		kept := edit(o, change)
		if got := kept.Cluster.Apply(nil, kept).Tuned.Resized.Now; got != more {
			t.Errorf("%s: kept is %+v", title, got)
		}
	}
	adopted := func(changes ...func(*Observed)) Resources {
		o := requesting(append(changes, func(o *Observed) { o.Cluster.Tuned = Tuned{} })...)
		return Record{}.adopt(Adopt{ClusterID: o.Cluster.ID}, o).Tuned.Resized.Now
	}
	for title, c := range map[string]struct {
		got, want Resources
	}{
		"nothing was changed":  {adopted(), Resources{}},
		"more":                 {adopted(changed(spec, more, 0, "")), more},
		"more of one pod":      {adopted(func(o *Observed) { o.Pods[2].Requests = more }), more},
		"less":                 {adopted(changed(spec, less, 0, "")), Resources{}},
		"more than is allowed": {adopted(func(o *Observed) { o.Pods[2].Requests.CPU = 3000 }), Resources{2000, spec.Memory}},
		"the mode Off":         {adopted(changed(spec, more, 0, ""), func(o *Observed) { o.Cluster.Autopilot.Resources = ModeOff }), Resources{}},
	} {
		if c.got != c.want {
			t.Errorf("adopted, %s: %v, want %v", title, c.got, c.want)
		}
	}
}

// TestTellsOfResizing words what is done.
func TestTellsOfResizing(t *testing.T) {
	for want, a := range map[string]Action{
		"having the members request 1270m of CPU and 2048Mi of memory instead of 1000m of CPU and 2048Mi of memory, because c-1 uses": Next(requesting(uses(1, much))),
		"having the members request 750m of CPU and 2048Mi of memory instead of":                                                      Next(requesting(quiet(small))),
		"the members request 1000m of CPU and 2048Mi of memory instead of 1270m of CPU and 2048Mi of memory, because": Next(
			requesting(changed(spec, more, 0, ""), func(o *Observed) { o.Pods[1].ResizeInfeasible = true })),
	} {
		if d := Describe(a); !strings.HasPrefix(d.Message, want) || d.Reason != v1beta2.ReasonResizingMembers {
			t.Errorf("%+v, want %s", d, want)
		}
	}
	if got := (Resources{CPU: 100}).String() + "; " + (Resources{Memory: gibi}).String(); got != "100m of CPU; 1024Mi of memory" {
		t.Error(got)
	}
}
