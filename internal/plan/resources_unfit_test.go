package plan

import (
	"strings"
	"testing"
	"time"
)

// TestGiveUpResize has members go back to what they had if a pod cannot be resized, and makes none anew.
func TestGiveUpResize(t *testing.T) {
	pending := func(why string, since time.Duration) func(*Observed) {
		return func(o *Observed) { o.Pods[2].Resizing, o.Pods[2].ResizingSince = why, now.Add(-since) }
	}
	for title, c := range map[string]struct {
		o    Observed
		says string // empty if nothing is given up
	}{
		"all is well":                  {requesting(changed(spec, more, time.Hour, "")), ""},
		"it has just begun":            {requesting(changed(spec, more, time.Minute, ""), pending("Deferred: no room", time.Minute)), ""},
		"there is no room for now":     {requesting(changed(spec, more, time.Hour, ""), pending("Deferred: no room", 11*time.Minute)), "Deferred: no room"},
		"the pod is there since now":   {requesting(changed(spec, more, time.Hour, ""), pending("Deferred: no room", time.Minute)), ""},
		"there never is":               {requesting(changed(spec, more, 0, ""), func(o *Observed) { o.Pods[1].ResizeInfeasible = true }), "never"},
		"Kubernetes cannot do it":      {requesting(changed(spec, more, 0, ""), func(o *Observed) { o.Pods[1].ResizeRefused = true }), "does not resize pod c-1"},
		"the API server refuses":       {requesting(changed(spec, more, 0, ""), refusedResize), "refuses to resize pod c-0"},
		"it is given up already":       {requesting(changed(more, more, time.Hour, "why"), pending("Deferred: no room", time.Hour)), ""},
		"the pod is on its way out":    {requesting(changed(spec, more, 0, ""), func(o *Observed) { o.Pods[1].ResizeRefused, o.Pods[1].Deleting = true, true }), ""},
		"it is paused":                 {requesting(changed(spec, more, 0, ""), func(o *Observed) { o.Pods[1].ResizeRefused, o.Cluster.Paused = true, true }), ""},
		"less than is used is refused": {requesting(changed(spec, less, time.Hour, ""), pending("Error: below current usage", time.Hour)), "below current usage"},
	} {
		t.Run(title, func(t *testing.T) {
			act, _ := Next(c.o).(CommitTuning)
			if (act.Because != "") != (c.says != "") || !strings.Contains(act.Because, c.says) {
				t.Fatalf("%#v, want it to say %q", Next(c.o), c.says)
			}
			if c.says == "" {
				return
			}
			before := c.o.Cluster.Tuned.Resized.Before
			if got := c.o.Cluster.Apply(act, c.o).Tuned.Resized; got.Now != before || got.Before != before || got.GivenUp != act.Because || !got.Since.Equal(now) {
				t.Errorf("recorded: %+v", got)
			}
		})
	}
}

// refusedResize has the API server refuse to resize a pod that is to be.
func refusedResize(o *Observed) {
	o.Pods[0].Drift.Resources = true
	o.Refused = []Refusal{{Target: TargetOf(Resize{Name: "c-0"}), Message: "no", RetryAt: now.Add(time.Minute)}}
}

// TestResizeRestartsNobody has pods that cannot be given what Auto Pilot has chosen, or are not given it yet, be resized at most.
func TestResizeRestartsNobody(t *testing.T) {
	given := changed(more, more, time.Hour, "why")
	for title, c := range map[string]struct {
		o    Observed
		want Change
		next Action // nil for whatever waits or is idle
	}{
		"its node never has room": {requesting(given, func(o *Observed) { o.Pods[1].ResizeInfeasible = true }), ChangeNone, nil},
		"it has what the spec says": {
			requesting(given, func(o *Observed) { o.Pods[1].Untuned = true }), ChangeNone, Resize{Name: "c-1", UID: "p1"},
		},
		"it has what it had before": {
			requesting(given, func(o *Observed) { o.Pods[1].Drift.Resources = true }), ChangeNone, Resize{Name: "c-1", UID: "p1"},
		},
		"it is refused":             {requesting(given, func(o *Observed) { o.Pods[1].Untuned, o.Pods[1].ResizeRefused = true, true }), ChangeNone, nil},
		"no node takes it for more": {unscheduled(given), ChangeNone, Resize{Name: "c-1", UID: "p1", ToSpec: true}},
		"no node takes it all the same": {
			edit(unscheduled(given), func(o *Observed) { o.Pods[1].Requests, o.Pods[1].Untuned = spec, true }), ChangeNone, nil,
		},
		"the spec asks for it": {
			requesting(func(o *Observed) { o.Pods[1].ResizeInfeasible = true }), ChangeRecreate, SetBudget{MinAvailable: 3},
		},
	} {
		t.Run(title, func(t *testing.T) {
			action, known := Decide(c.o)
			if known.Changes["c-1"] != c.want {
				t.Errorf("c-1 is to %s, want %s", known.Changes["c-1"], c.want)
			}
			if c.next != nil && action != c.next || c.next == nil && Mutates(action) {
				t.Errorf("Next() = %#v, want %#v", action, c.next)
			}
		})
	}
	o := requesting(given, func(o *Observed) { o.Pods[1].Resizing, o.Pods[1].ResizingSince = "Deferred", now.Add(-time.Hour) })
	if p := Assess(o).InProgress; p != nil {
		t.Errorf("what is given up holds up the rest: %#v", p)
	}
}

// unscheduled is a cluster in which member 1 has a new pod that no node takes.
func unscheduled(change func(*Observed)) Observed {
	return edit(silent(requesting(change), 1), func(o *Observed) {
		p := &o.Pods[1]
		p.Phase, p.Node, p.IP, p.Ready, p.InService, p.StartProblem = Pending, "", "", false, false, "cannot be scheduled: Insufficient cpu"
	})
}
