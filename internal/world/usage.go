package world

import (
	"cmp"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Usage is what members use of CPU, and whether it can be changed.
type Usage struct {
	// Load is how much they use.
	Load load
	// Barred is true once Kubernetes resizes no pod any more to what Auto Pilot has chosen.
	Barred bool
}

// Share is what a pod requests.
type Share struct {
	// CPU is that, if it is not what the spec says, and Deferred is true while the pod's node has no room for it. Barred is true once Kubernetes
	// has refused to give it what is in BarredAt.
	CPU      int
	Deferred bool
	Barred   bool
	BarredAt int
}

type load int

const (
	usual load = iota
	heavy
	light // for a week
)

// specCPU is what the spec requests, and leastCPU and mostCPU the bounds: from the one to the others there is a step or two.
const specCPU, leastCPU, mostCPU = 1000, 800, 1300

// using is what becomes of load, and of pods that are resized.
var using = map[Kind]transition{
	loadRises: {
		name:    "members use most of what they request",
		ifWorld: func(w *World) bool { return w.Load != heavy },
		onWorld: func(w *World) { w.Load = heavy },
	},
	loadFalls: {
		name:    "members have used little for a week",
		ifWorld: func(w *World) bool { return w.Load != light },
		onWorld: func(w *World) { w.Load = light },
	},
	resizeDeferred: {
		name:  "the node has no room for the resize for now",
		ifPod: func(_ *World, p *Pod) bool { return p.Resizing && p.CPU > specCPU && !p.Deferred },
		onPod: func(_ *World, p *Pod) { p.Deferred = true },
	},
	resizesBarred: {
		name:    "Kubernetes resizes no pod to what Auto Pilot has chosen",
		ifWorld: func(w *World) bool { return !w.Barred },
		onWorld: func(w *World) { w.Barred = true },
	},
}

// UsageFaults are members that use much or little, at any time, and UnfitFaults pods that cannot be given what they are to.
var (
	UsageFaults = []Kind{loadRises, loadFalls}
	UnfitFaults = []Kind{resizeInfeasible, resizeDeferred, resizesBarred}
)

// requirements are what the spec has a member request.
func (k *Kube) requirements() plan.Requirements {
	return plan.Requirements{Requests: plan.Resources{CPU: int64(specCPU + 100*k.Resources)}}
}

// tunedCPU is what Auto Pilot has members request instead of what the spec says, 0 if that counts.
func (k *Kube) tunedCPU() int {
	r := k.Status.Tuned.Resized
	if r == (plan.Resized{}) || r.InsteadOf != k.requirements() || r.Now == k.requirements().Requests {
		return 0
	}
	return int(r.Now.CPU)
}

// resizes reports whether Auto Pilot has anything to do with what members request.
func (k *Kube) resizes() bool { return k.Status.Tuned.Resized != (plan.Resized{}) }

// untuned reports whether a pod has what the spec says although Auto Pilot has chosen something else.
func (k *Kube) untuned(p *Pod) bool {
	return k.tunedCPU() != 0 && p.CPU == 0 && p.Resources == k.Resources
}

// barred reports whether Kubernetes has refused to resize a pod to what it is to have.
func (k *Kube) barred(p *Pod) bool {
	return k.resizes() && p.Barred && p.BarredAt == k.tunedCPU() && p.CPU != k.tunedCPU()
}

// stuckResizing reports whether a pod can neither be given what Auto Pilot has chosen nor what it had before: it keeps what it has.
func (k *Kube) stuckResizing(p *Pod) bool {
	return k.barred(p) || p.Deferred && k.Status.Tuned.Resized.GivenUp != ""
}

// lookAtUsage adds what members use, and what is known of their resizing.
func (w *World) lookAtUsage(k *Kube, o *plan.Observed) {
	if w.cfg.Autopilot.Resources == plan.ModeOff {
		return
	}
	o.Cluster.SpecResources = k.requirements()
	for i := range o.Pods {
		seen, p := &o.Pods[i], k.pod(o.Pods[i].Name)
		if p == nil || p.UID != seen.UID {
			continue
		}
		seen.Untuned, seen.ResizeRefused = k.untuned(p), k.barred(p)
		seen.Requests.CPU = int64(cmp.Or(p.CPU, specCPU+100*p.Resources))
		if p.Stuck {
			seen.Node = ""
		}
		if seen.ResizingSince = base; p.Deferred {
			seen.ResizingSince = base.Add(-time.Hour)
		}
	}
	for _, m := range o.Etcd.Members {
		p := w.pod(m.Name)
		if m.Learner || p == nil || !w.serverRuns(p) {
			continue
		}
		have := o.Cluster.Requests().CPU
		u := plan.Usage{Pod: p.Name, PodUID: p.UID, Used: plan.Resources{CPU: have / 2}}
		switch w.Load {
		case usual:
		case heavy:
			u.Used.CPU = have * 9 / 10
		case light:
			u.Used.CPU, u.Peak = 1, plan.Resources{CPU: 1, Memory: 1}
		}
		o.Etcd.Usages = append(o.Etcd.Usages, u)
	}
}

// cramps reports whether no node takes a pod that requests more than the spec.
func (w *World) cramps(p *Pod) bool { return w.cfg.Tight && p.CPU > specCPU }

// resizedSince is when the next deadline will have passed of what was changed: of the resize, and of what is not done for a day.
func resizedSince(since time.Time) time.Time {
	if since.Equal(base) {
		return base.Add(-time.Hour)
	}
	return base.Add(-25 * time.Hour)
}

// resizedLately reports whether some deadline of a change has not passed. What was given up is tried again a day later, in vain and for ever: here
// that day does not end.
func (s *Status) resizedLately() bool {
	r := s.Tuned.Resized
	if r.GivenUp != "" {
		return r.Since.Equal(base)
	}
	return r.Since.After(base.Add(-25 * time.Hour))
}

// checkResized is for what members are to request: within bounds, by what they use, one change after the other, and nothing less within a day.
func (w *World) checkResized(act plan.CommitTuning) {
	had, to := int64(cmp.Or(w.tunedCPU(), specCPU+100*w.Resources)), act.Resized.Now.CPU
	if act.Because != "" {
		if to != w.Status.Tuned.Resized.Before.CPU {
			w.violate("R: members are to go back to %d, and requested %d", to, w.Status.Tuned.Resized.Before.CPU)
		}
		return
	}
	switch {
	case to > mostCPU || to < leastCPU:
		w.violate("R: members are to request %d", to)
	case to > had && w.Load != heavy:
		w.violate("R: members are to request more, and use little of it")
	case to < had && w.Load != light:
		w.violate("R: members are to request less, and may use it")
	case to < had && w.Status.Tuned.Resized.Since.After(base.Add(-24*time.Hour)):
		w.violate("R: members are to request less again within a day")
	case w.running(func(p *Pod) bool { return p.Resizing || p.CPU != w.tunedCPU() }) != nil:
		w.violate("R: members are to request something else before all have the last amount")
	}
}

// checkAnew holds for a pod that runs: it is never made anew for what Auto Pilot has it request.
func (w *World) checkAnew(name string) {
	p := w.pod(name)
	if p == nil || !w.resizes() || !w.serverRuns(p) {
		return
	}
	if p.Template == w.template() && p.Version == w.version() && p.Transport == w.Status.Transport.Served() && p.Resources == w.Resources &&
		p.Quota == w.Status.Tuned.Quota {
		w.violate("R: %s is made anew for what Auto Pilot has it request", name)
	}
}

func (e *encoder) resized(r plan.Resized) {
	if r == (plan.Resized{}) {
		return
	}
	e.rare(markResized, int(r.Now.CPU))
	e.number(int(r.Before.CPU))
	e.number(int(r.InsteadOf.Requests.CPU))
	e.number(int(base.Sub(r.Since) / time.Minute))
	e.text(r.GivenUp)
}
