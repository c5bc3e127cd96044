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
	lowering := func(other Member) bool {
		o := v.pods[other.Name]
		return other.ID != m.ID && !o.Drift.LessMemory && !v.keepsRequests(o) && (o.Resizing != "" || o.Unseen)
	}
	return !v.keepsMemory(m) && !slices.ContainsFunc(v.voters, lowering) && v.waitForVoters(m.ID) == nil
}

// keepsRequests reports whether a pod keeps what it has, because it can be given neither what Auto Pilot has chosen nor what it had before.
func (v *view) keepsRequests(p Pod) bool {
	late := v.Now.Sub(p.ResizingSince) >= resizeLimit
	return p.ResizeRefused || p.Resizing != "" && late && v.Cluster.Tuned.Resized.GivenUp != ""
}

// keepsMemory reports whether a pod keeps the memory that it has, because Auto Pilot has gone back to less than its member may use by now, or it is
// not known what that is. An edit of the spec is carried out all the same.
func (v *view) keepsMemory(m Member) bool {
	if r := v.Cluster.Tuned.Resized; r.GivenUp == "" || r.InsteadOf != v.Cluster.SpecResources || !v.pods[m.Name].Drift.LessMemory {
		return false
	}
	most, known := v.mostMemory(m)
	return !known || most > v.Cluster.Requests().Memory
}

// giveUpResize has all members go back to what they had, if a pod cannot be resized. If one of them may use more memory than that by now, all keep
// so much. It never costs a restart: where even that is refused, the pod keeps what it has.
func giveUpResize(v *view) Action {
	r := v.Cluster.Tuned.Resized
	why := v.resizeFails()
	if why == "" {
		return nil
	}
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

// mayTellMemory reports whether it may soon be known what a member uses: it has not been long since the change, or since its pod was created.
func (v *view) mayTellMemory(m Member, since time.Time) bool {
	return v.Now.Sub(since) < memoryToldWithin || v.Now.Sub(v.pods[m.Name].Created) < memoryToldWithin
}

// resizeFails says why a pod cannot be given what Auto Pilot has chosen, empty if it can, or if there is nothing to go back to.
func (v *view) resizeFails() string {
	r := v.Cluster.Tuned.Resized
	if v.Cluster.Paused || r.Now == r.Before || v.Cluster.Invalid != nil {
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
	late := v.Now.Sub(r.Since) >= resizeLimit && v.Now.Sub(p.ResizingSince) >= resizeLimit
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
// back to the spec may leave them too little.
func (o Observed) adoptedResources(t Tuned) Tuned {
	c, now := o.Cluster, o.Cluster.SpecResources.Requests
	for _, p := range o.Pods {
		if p.Permit == nil || p.Deleting {
			continue
		}
		now.CPU, now.Memory = max(now.CPU, p.Requests.CPU), max(now.Memory, p.Requests.Memory)
	}
	most := c.mostResources()
	now = Resources{min(now.CPU, most.CPU), min(now.Memory, most.Memory)}
	if c.Autopilot.Resources == ModeOff || now == c.SpecResources.Requests {
		return t
	}
	t.Resized = Resized{Now: now, Before: now, InsteadOf: c.SpecResources, Since: o.Now}
	return t
}
