package plan

// giveUpResize has all members go back to what they had, if a pod cannot be resized. It never costs a restart: where even that is refused, the pod
// keeps what it has.
func giveUpResize(v *view) Action {
	r := v.Cluster.Tuned.Resized
	why := v.resizeFails()
	if why == "" {
		return nil
	}
	act := CommitTuning{Tuned: v.Cluster.Tuned, FromResources: r.Now, Because: why}
	act.Resized.Now, act.Resized.Since, act.Resized.GivenUp = r.Before, v.Now, why
	return act
}

// resizeFails says why a pod cannot be given what Auto Pilot has chosen, empty if it can, or if there is nothing to go back to.
func (v *view) resizeFails() string {
	r := v.Cluster.Tuned.Resized
	if v.Cluster.Paused || r.Now == r.Before || v.Cluster.Invalid != nil {
		return ""
	}
	for _, m := range v.Etcd.Members {
		p, there := v.pods[m.Name]
		switch {
		case !there || p.Deleting || p.Untuned && p.Node == "":
		case p.ResizeRefused:
			return "Kubernetes does not resize pod " + p.Name
		case v.refused(Resize{Name: p.Name, UID: p.UID}):
			return "the API server refuses to resize pod " + p.Name
		case p.ResizeInfeasible:
			return "the node of pod " + p.Name + " can never provide that"
		case p.Resizing != "" && v.Now.Sub(r.Since) >= resizeLimit && v.Now.Sub(p.ResizingSince) >= resizeLimit:
			return "pod " + p.Name + " could not be resized within ten minutes (" + p.Resizing + ")"
		}
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
	if c.Autopilot.Resources == ModeOff || now == c.SpecResources.Requests || now.Exceeds(c.mostResources()) {
		return t
	}
	t.Resized = Resized{Now: now, Before: now, InsteadOf: c.SpecResources, Since: o.Now}
	return t
}
