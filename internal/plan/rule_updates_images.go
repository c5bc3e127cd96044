package plan

import (
	"fmt"
	"slices"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// neededImages returns the images that the members' coming restarts need on their nodes.
func (v *view) neededImages() []NodeImage {
	var needed []NodeImage
	for _, m := range v.Etcd.Members {
		p := v.pods[m.Name]
		on := NodeImage{Node: p.Node, Image: v.Cluster.Image(v.versionFor(p))}
		if v.change(m).restartsPod() && v.pullsImage(p) && p.Node != "" && !slices.Contains(needed, on) {
			needed = append(needed, on)
		}
	}
	return needed
}

// changesImage reports whether the pod's image has to change.
func (v *view) changesImage(p Pod) bool { return p.Drift.Image || v.changesVersion(p) }

// pullsImage reports whether the pod, if it is restarted or recreated, runs another image than now. One by another digest comes with a
// restart for another reason only, and the node may not have it.
func (v *view) pullsImage(p Pod) bool { return p.OtherImage || v.changesImage(p) }

// imagePresent reports whether the image that the member's pod is to run is on its node, as far as that is known: a recreated
// pod may be scheduled to another node. Where the API server refuses the pod that would pull it, nothing is known: the update goes on
// without it.
func (v *view) imagePresent(p Pod) bool {
	pull, ok := v.prepullPod(p)
	return !v.pullsImage(p) || p.Node == "" || ok && pull.Done ||
		v.refuses(TargetOf(CreatePrepullPod{NodeImage{Node: p.Node, Image: v.Cluster.Image(v.versionFor(p))}}))
}

// prepullPod returns the pod that pulls the image which the member's pod is to run.
func (v *view) prepullPod(p Pod) (PrepullPod, bool) {
	image := v.Cluster.Image(v.versionFor(p))
	i := slices.IndexFunc(v.PrepullPods, func(f PrepullPod) bool { return f.Node == p.Node && f.Image == image && !f.Deleting })
	if i < 0 {
		return PrepullPod{}, false
	}
	return v.PrepullPods[i], true
}

// prepullImages pulls a new image to all nodes at once before any member is restarted with it, so that an image that cannot be
// pulled takes no member down.
func prepullImages(v *view) Action {
	missing := slices.DeleteFunc(v.neededImages(), func(on NodeImage) bool {
		return slices.ContainsFunc(v.PrepullPods, func(f PrepullPod) bool { return f.Node == on.Node && f.Image == on.Image })
	})
	if len(missing) == 0 {
		return nil
	}
	return PrepullImages{Images: missing}
}

// deletePrepullPods deletes pods whose image is not needed any more, nor soon again.
func deletePrepullPods(v *view) Action {
	needed := v.neededImages()
	var all []Action
	for _, f := range v.PrepullPods {
		if !f.Deleting && !slices.Contains(needed, NodeImage{Node: f.Node, Image: f.Image}) && !v.pullsUntried(f) {
			all = append(all, DeletePrepullPod{Name: f.Name, UID: f.UID})
		}
	}
	return v.firstAllowed(all)
}

// pullsUntried reports whether a pod still pulls the image of a release that no member has yet, and that goes on to be chosen, to the node of one. Whether
// a member may get that now may change with every look: how long the image cannot be pulled is counted from when that pod was made, see untriedProblem.
func (v *view) pullsUntried(f PrepullPod) bool {
	p := v.OnTrial
	return p.Version != "" && p.Trial.Member == "" && v.againstTrying(p) == "" && !f.Done && f.Image == v.Cluster.Image(p.Version) &&
		slices.ContainsFunc(v.Pods, func(on Pod) bool { return on.Node == f.Node })
}

// waitForImage waits for the image that the next restart needs. The kubelet stops the old container before it pulls a new
// image, so the image must be present beforehand.
func waitForImage(v *view) Action { return v.Update.MissingImage }

func (v *view) missingImage() Action {
	for _, m := range v.voters {
		p := v.pods[m.Name]
		if !v.change(m).restartsPod() || v.imagePresent(p) {
			continue
		}
		if pull, _ := v.prepullPod(p); pull.Problem != "" {
			return Wait{
				Reason: v1beta2.ReasonUpdateStopped, After: pollSlow,
				Message: fmt.Sprintf("image %s cannot be pulled to node %s, and %s is not updated: %s",
					pull.Image, p.Node, p.Name, pull.Problem),
			}
		}
		return Wait{
			Reason: v1beta2.ReasonPullingImage, After: pollSlow,
			Message: fmt.Sprintf("waiting for image %s to be pulled to node %s", v.Cluster.Image(v.versionFor(p)), p.Node),
		}
	}
	return nil
}
