package world

import (
	"cmp"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Usage is what members use of CPU or memory, and whether it can be changed.
type Usage struct {
	// Load is how much they use, and Untold is true while they do not tell that.
	Load   load
	Untold bool
	// Barred is true once Kubernetes resizes no pod any more to what Auto Pilot has chosen.
	Barred bool
}

// Share is what a pod requests.
type Share struct {
	// Amount is that, if it is not what the spec says, in thousandths of a core or in MiB of memory. Deferred is true while the pod's node has no
	// room for it, and Lowered while the kubelet has not followed a resize to less memory. Barred is true once Kubernetes has refused to give it
	// what is in BarredAt.
	Amount   int
	Deferred bool
	Lowered  bool
	Barred   bool
	BarredAt int
}

type load int

const (
	usual load = iota
	heavy
	light   // for a week
	swollen // of memory: more than the spec gives, where there is more
)

// specAmount is what the spec requests, and leastAmount and mostAmount the bounds: from the one to the others there is a step or two.
const specAmount, leastAmount, mostAmount = 1000, 800, 1300

// heavyMemory is what members use of what the spec gives them, and swollenMemory what they use of what Auto Pilot does.
const heavyMemory, swollenMemory = 900, 1200

// using is what becomes of load, and of pods that are resized.
var using = map[Kind]transition{
	loadRises: {
		name:    "members use most of what they request",
		ifWorld: func(w *World) bool { return w.Load != heavy },
		onWorld: func(w *World) { w.Load = heavy },
	},
	loadSwells: {
		name: "members use more memory than the spec gives them",
		ifWorld: func(w *World) bool {
			return w.Memory && w.Load == heavy && w.running(swells) != nil
		},
		onWorld: func(w *World) { w.Load = swollen },
	},
	usageUntold: {
		name:    "members do not tell what they use any more, or do again",
		ifWorld: func(*World) bool { return true },
		onWorld: func(w *World) { w.Untold = !w.Untold },
	},
	loadFalls: {
		name:    "members have used little for a week",
		ifWorld: func(w *World) bool { return w.Load != light },
		onWorld: func(w *World) { w.Load = light },
	},
	resizeDeferred: {
		name:  "the node has no room for the resize for now",
		ifPod: func(_ *World, p *Pod) bool { return p.Resizing && p.Amount > specAmount && !p.Deferred && !p.Lowered },
		onPod: func(_ *World, p *Pod) { p.Deferred = true },
	},
	resizesBarred: {
		name:    "Kubernetes resizes no pod to what Auto Pilot has chosen",
		ifWorld: func(w *World) bool { return !w.Barred },
		onWorld: func(w *World) { w.Barred = true },
	},
}

// UsageFaults are members that use much or little, at any time, MemoryFaults those that use more than the spec gives them, and may not tell it, and
// UnfitFaults pods that cannot be given what they are to.
var (
	UsageFaults  = []Kind{loadRises, loadFalls}
	MemoryFaults = []Kind{loadRises, loadSwells, usageUntold}
	UnfitFaults  = []Kind{resizeInfeasible, resizeDeferred, resizesBarred}
)

// requirements are what the spec has a member request.
func (k *Kube) requirements() plan.Requirements {
	return plan.Requirements{Requests: k.amounts(specAmount + 100*k.Resources)}
}

// amounts are so many thousandths of a core, or so many MiB of memory.
func (k *Kube) amounts(n int) plan.Resources {
	if k.Memory {
		return plan.Resources{Memory: int64(n) << 20}
	}
	return plan.Resources{CPU: int64(n)}
}

// amount is the number of those.
func (k *Kube) amount(r plan.Resources) int {
	if k.Memory {
		return int(r.Memory >> 20)
	}
	return int(r.CPU)
}

// amountOf is what a pod requests, and dueAmount what each is to.
func (k *Kube) amountOf(p *Pod) int { return cmp.Or(p.Amount, specAmount+100*p.Resources) }
func (k *Kube) dueAmount() int      { return cmp.Or(k.tunedAmount(), specAmount+100*k.Resources) }

// tunedAmount is what Auto Pilot has members request instead of what the spec says, 0 if that counts.
func (k *Kube) tunedAmount() int {
	r := k.Status.Tuned.Resized
	if r == (plan.Resized{}) || r.InsteadOf != k.requirements() || r.Now == k.requirements().Requests {
		return 0
	}
	return k.amount(r.Now)
}

// resizes reports whether Auto Pilot has anything to do with what members request.
func (k *Kube) resizes() bool { return k.Status.Tuned.Resized != (plan.Resized{}) }

// untuned reports whether a pod has what the spec says although Auto Pilot has chosen something else.
func (k *Kube) untuned(p *Pod) bool {
	return k.tunedAmount() != 0 && p.Amount == 0 && p.Resources == k.Resources
}

// barred reports whether Kubernetes has refused to resize a pod to what it is to have.
func (k *Kube) barred(p *Pod) bool {
	return k.resizes() && p.Barred && p.BarredAt == k.tunedAmount() && p.Amount != k.tunedAmount()
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
		seen.Requests = k.amounts(k.amountOf(p))
		if p.Stuck {
			seen.Node = ""
		}
		if seen.ResizingSince = base; p.Deferred {
			seen.ResizingSince = base.Add(-time.Hour)
		}
	}
	for _, m := range o.Etcd.Members {
		p := w.pod(m.Name)
		if m.Learner || p == nil || !w.serverRuns(p) || w.Untold {
			continue
		}
		o.Etcd.Usages = append(o.Etcd.Usages, w.usageOf(p, o.Cluster.Requests().CPU))
	}
}

// usageOf is what the member in that pod tells that it uses, of as much CPU.
func (w *World) usageOf(p *Pod, have int64) plan.Usage {
	u := plan.Usage{Pod: p.Name, PodUID: p.UID}
	switch {
	case w.Memory:
		u.Used, u.Heap = w.amounts(w.memoryOf(p)), 1
		u.Peak = u.Used
	case w.Load == heavy:
		u.Used.CPU = have * 9 / 10
	case w.Load == light:
		u.Used.CPU, u.Peak = 1, plan.Resources{CPU: 1, Memory: 1}
	default:
		u.Used.CPU = have / 2
	}
	return u
}

// memoryOf is how many MiB the member in that pod uses, whether it tells that or not.
func (w *World) memoryOf(p *Pod) int {
	switch {
	case w.Load == swollen && swells(p):
		return swollenMemory
	case w.Load == heavy || w.Load == swollen:
		return heavyMemory
	}
	return specAmount / 2
}

// swells reports whether a member has room for more than the spec gives it: the kubelet has followed.
func swells(p *Pod) bool { return p.Amount >= swollenMemory && !p.Resizing && !p.Unfit }

// cramps reports whether no node takes a pod that requests more than the spec.
func (w *World) cramps(p *Pod) bool { return w.cfg.Tight && p.Amount > specAmount }

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

func (e *encoder) resized(r plan.Resized) {
	if r == (plan.Resized{}) {
		return
	}
	e.rare(markResized, int(r.Now.CPU+r.Now.Memory>>20))
	e.number(int(r.Before.CPU + r.Before.Memory>>20))
	e.number(int(r.InsteadOf.Requests.CPU + r.InsteadOf.Requests.Memory>>20))
	e.number(int(base.Sub(r.Since) / time.Minute))
	e.text(r.GivenUp)
}
