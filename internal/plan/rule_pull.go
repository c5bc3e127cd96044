package plan

import "slices"

// pulls are what the members' restarts before them need: an image on a node.
func (v *view) pulls() []PullOn {
	var needed []PullOn
	for _, m := range v.Etcd.Members {
		p := v.pods[m.Name]
		on := PullOn{Node: p.Node, Image: v.Cluster.Image(v.versionFor(p))}
		if v.change(m).stops() && v.otherImage(p) && p.Node != "" && !slices.Contains(needed, on) {
			needed = append(needed, on)
		}
	}
	return needed
}

// otherImage tells whether the pod is to run another image than it does.
func (v *view) otherImage(p Pod) bool { return p.Drift.Image || v.otherVersion(p) }

// pulled tells whether the image that the member's pod is to run is on its node, as far as anybody can know: a pod that is
// made again may come to another one.
func (v *view) pulled(p Pod) bool {
	pull, ok := v.pull(p)
	return !v.otherImage(p) || p.Node == "" || ok && pull.Done
}

// pull is the pod that fetches what the member's pod is to run.
func (v *view) pull(p Pod) (Pull, bool) {
	image := v.Cluster.Image(v.versionFor(p))
	i := slices.IndexFunc(v.Pulls, func(f Pull) bool { return f.Node == p.Node && f.Image == image && !f.Deleting })
	if i < 0 {
		return Pull{}, false
	}
	return v.Pulls[i], true
}

// pullImages fetches a new image to all nodes at once before the first member is restarted with it: an image that cannot
// be had then costs no member.
func pullImages(v *view) Action {
	missing := slices.DeleteFunc(v.pulls(), func(on PullOn) bool {
		return slices.ContainsFunc(v.Pulls, func(f Pull) bool { return f.Node == on.Node && f.Image == on.Image })
	})
	if len(missing) == 0 {
		return nil
	}
	return PullImages{Pulls: missing}
}

// endPulls deletes the pods that have served their purpose.
func endPulls(v *view) Action {
	needed := v.pulls()
	for _, f := range v.Pulls {
		if !f.Deleting && !slices.Contains(needed, PullOn{Node: f.Node, Image: f.Image}) {
			return EndPull{Name: f.Name, UID: f.UID}
		}
	}
	return nil
}
