package plan

import (
	"slices"
	"time"
)

// memoryToldWithin is how long a resize of memory is not given up for want of knowing what a member uses: it tells that a quarter of an hour after
// its pod has started.
const memoryToldWithin = 30 * time.Minute

// resizable reports whether the pod can be resized in place now. Where that would restart etcd it is an update like any other. Less memory may end
// etcd, so there one member follows another, as in an update: once all others are healthy, and have been resized. One that keeps what it has is not
// waited for.
func (v *view) resizable(m Member, p Pod) bool {
	if p.ResizeRestarts || !p.Drift.Resources && (!p.Untuned || p.Node == "" || p.ResizeRefused) {
		return false
	}
	if !p.Drift.LessMemory {
		return true
	}
	to := v.Cluster.Requests().Memory
	lowering := func(other Member) bool {
		o := v.pods[other.Name]
		keeps := v.keepsRequests(o) && o.Requests.Memory >= to // or the kubelet has not got to less within ten minutes
		return other.ID != m.ID && !o.Drift.LessMemory && (o.Unseen || o.Resizing != "" && !keeps)
	}
	return v.mayLower(m, to) && !slices.ContainsFunc(v.voters, lowering) && v.waitForVoters(m.ID) == nil
}

// keepsRequests reports whether a pod keeps what it has, because it can be given neither what Auto Pilot has chosen nor what it had before.
func (v *view) keepsRequests(p Pod) bool {
	return p.ResizeRefused || p.Resizing != "" && v.resizesLate(p) && v.Cluster.Tuned.Resized.GivenUp != ""
}

// resizesLate reports whether the kubelet has had the time that it may take to resize the pod.
func (v *view) resizesLate(p Pod) bool { return v.Now.Sub(p.ResizingSince) >= resizeLimit }

// gaveUp reports whether a resize was given up last, so that members go back to what they had. An edit of the spec takes the place of that.
func (v *view) gaveUp() bool {
	r := v.Cluster.Tuned.Resized
	return r.GivenUp != "" && r.InsteadOf == v.Cluster.SpecResources
}

// mayLower reports whether a member may be given so little memory: where a resize was given up, it is known to use no more. An edit of the spec is
// carried out whatever it uses.
func (v *view) mayLower(m Member, to int64) bool {
	most, known := v.mostMemory(m)
	return !v.gaveUp() || known && most <= to
}

// giveUpResize has all members go back to what they had, if a pod cannot be resized. If one of them may use more memory than that by now, all keep so
// much; if one does before it has gone back, they keep what it has. It never costs a restart: where even that is refused, the pod keeps what it has.
func giveUpResize(v *view) Action {
	why := v.resizeFails()
	if why == "" {
		return v.keepMemory()
	}
	r := v.Cluster.Tuned.Resized
	back := r.Before
	for _, m := range v.voters {
		most, known := v.mostMemory(m)
		switch {
		case known:
			back.Memory = max(back.Memory, min(r.Now.Memory, most))
		case r.Now.Memory > r.Before.Memory && v.mayTellMemory(m, r.Since):
			return nil
		default:
			back.Memory = max(back.Memory, r.Now.Memory)
		}
	}
	act := CommitTuning{Tuned: v.Cluster.Tuned, FromResources: r.Now, Because: why}
	act.Resized.Now, act.Resized.Before, act.Resized.Since, act.Resized.GivenUp = back, back, v.Now, why
	return act
}

// keepMemory has all members keep what one has that has not gone back yet, and that may use more than they are to go back to: whoever is created anew
// would have too little. It is what that pod has and not what it uses, which changes all the time. With the feature off it only keeps its own.
func (v *view) keepMemory() Action {
	if v.Cluster.Paused || v.Cluster.Invalid != nil || !v.gaveUp() || v.Cluster.Autopilot.Resources == ModeOff {
		return nil
	}
	r := v.Cluster.Tuned.Resized
	keep, who := r.Now.Memory, ""
	for _, m := range v.voters {
		p := v.pods[m.Name]
		if !p.Drift.LessMemory || p.Deleting || p.Requests.Memory <= keep || v.mayLower(m, r.Now.Memory) {
			continue
		}
		if _, known := v.mostMemory(m); known || !v.mayTellMemory(m, r.Since) {
			keep, who = p.Requests.Memory, p.Name
		}
	}
	if who == "" {
		return nil
	}
	act := CommitTuning{Tuned: v.Cluster.Tuned, FromResources: r.Now, Because: "the member in pod " + who + " may use more memory by now"}
	act.Resized.Now.Memory, act.Resized.Before.Memory = keep, keep
	return act
}

// mayTellMemory reports whether it may soon be known what a member uses: it has not been long since the change, or since its pod was created.
func (v *view) mayTellMemory(m Member, since time.Time) bool {
	return v.Now.Sub(since) < memoryToldWithin || v.Now.Sub(v.pods[m.Name].Created) < memoryToldWithin
}

// resizeFails says why a pod cannot be given what Auto Pilot has chosen, empty if it can, or if that is given up already.
func (v *view) resizeFails() string {
	r := v.Cluster.Tuned.Resized
	if v.Cluster.Paused || r == (Resized{}) || r.GivenUp != "" || v.Cluster.Invalid != nil {
		return ""
	}
	for _, m := range v.Etcd.Members {
		p, there := v.pods[m.Name]
		if !there || p.Deleting || p.Untuned && p.Node == "" {
			continue
		}
		if why := v.resizeFailsOf(p, r); why != "" {
			return why
		}
	}
	return ""
}

// resizeFailsOf says why that pod cannot be resized, empty if it can.
func (v *view) resizeFailsOf(p Pod, r Resized) string {
	late := v.Now.Sub(r.Since) >= resizeLimit && v.resizesLate(p)
	switch {
	case p.ResizeRefused:
		return "Kubernetes does not resize pod " + p.Name
	case v.refused(Resize{Name: p.Name, UID: p.UID}):
		return "the API server refuses to resize pod " + p.Name
	case p.ResizeInfeasible:
		return "the node of pod " + p.Name + " can never provide that"
	case p.Resizing != "" && late:
		return "pod " + p.Name + " could not be resized within ten minutes (" + p.Resizing + ")"
	}
	return ""
}

// fitUnscheduled has a pod that no node takes request what the spec says, where Auto Pilot has chosen more: nobody is to be missing for that. It is
// resized once it runs.
func fitUnscheduled(v *view) Action {
	var all []Action
	for _, p := range v.Pods {
		if v.resizes() && p.Phase == Pending && p.Node == "" && p.StartProblem != "" && !p.Deleting && !p.Untuned &&
			p.Requests.Exceeds(v.Cluster.SpecResources.Requests) {
			all = append(all, Resize{Name: p.Name, UID: p.UID, ToSpec: true})
		}
	}
	return v.firstAllowed(all)
}

// resizes reports whether what members request is what Auto Pilot has chosen, if only to go back. Then no pod is made anew because it cannot be
// resized.
func (v *view) resizes() bool { return v.Cluster.Tuned.Resized != (Resized{}) }

// unfit reports whether the pod takes another one because its node can never provide what the spec asks for.
func (v *view) unfit(p Pod) bool { return p.ResizeInfeasible && !v.resizes() }

// adoptedResources adds what the members request to what is adopted of a cluster whose status was lost, if Auto Pilot may have changed it. To go
// back to the spec may leave them too little: of memory, if it has a bound, that counts whatever the maximum is by now.
func (o Observed) adoptedResources(t Tuned) Tuned {
	c, now := o.Cluster, o.Cluster.SpecResources.Requests
	for _, p := range o.Pods {
		if p.Permit == nil || p.Deleting {
			continue
		}
		now.CPU, now.Memory = max(now.CPU, p.Requests.CPU), max(now.Memory, p.Requests.Memory)
	}
	most := c.mostResources()
	if now.CPU = min(now.CPU, most.CPU); c.bounded(now).Memory == 0 {
		now.Memory = min(now.Memory, most.Memory)
	}
	if c.Autopilot.Resources == ModeOff || now == c.SpecResources.Requests {
		return t
	}
	t.Resized = Resized{Now: now, Before: now, InsteadOf: c.SpecResources, Since: o.Now}
	return t
}
