package world

import (
	"fmt"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// steps is how many effects an action has: the operator can stop between any two of them.
func steps(a plan.Action) int {
	switch act := a.(type) {
	case plan.Idle, plan.Wait, plan.Blocked:
		return 0
	case plan.CreateVolumes:
		return len(act.Names)
	case plan.CreatePods:
		return len(act.Pods)
	case plan.WritePermits:
		return 2 * len(act.Permits) // the volume's mark, then the permit
	case plan.Serve:
		return len(act.Pods)
	case plan.Adopt:
		return len(act.Volumes) + 1
	case plan.Expand:
		return len(act.Names)
	case plan.SetImage, plan.Recreate:
		return 2 // the volume's mark, then the pod
	default:
		return 1
	}
}

// effect takes one effect of an action, as the controllers do, and tells whether it succeeded. Stale is true if the
// EtcdCluster was written after it was read.
func (w *World) effect(a plan.Action, step int, o *plan.Observed, stale bool) bool {
	switch act := a.(type) {
	case plan.CommitBootstrap, plan.CallOff, plan.ContinueRestore, plan.Latch, plan.CommitVoters:
		return w.mayNote(a, stale) // the status write of the pass is all there is to it
	case plan.Adopt:
		return w.adopt(act, step, o, stale)
	case plan.CreateVolumes:
		return w.createVolume(act.Names[step], act.Incarnation)
	case plan.CreatePods:
		return w.createPod(act.Pods[step], o)
	case plan.WritePermits:
		if step%2 == 0 {
			return w.markVolume(act.Permits[step/2], o)
		}
		return w.writePermit(act.Permits[step/2])
	case plan.Serve:
		return w.serve(act.Pods[step], o)
	case plan.Unserve:
		return w.unserve(act)
	case plan.SetBudget:
		w.Budget = Budget{Exists: true, Min: act.MinAvailable}
		return true
	case plan.DeletePod:
		return w.deletePod(act)
	case plan.DeleteVolume:
		return w.deleteVolume(act)
	case plan.SetImage:
		if step == 0 {
			return w.markVersion(act.Name, act.Version, o)
		}
		return w.setImage(act)
	case plan.Recreate:
		if step == 0 {
			return w.mark(act.Name, o, func(v *Volume) { v.Version, v.Template = act.Version, w.template() })
		}
		return w.deletePod(plan.DeletePod{Name: act.Name, UID: act.UID})
	case plan.SetMetadata:
		return w.setMetadata(act)
	case plan.Resize:
		return w.resize(act)
	case plan.Expand:
		return w.expand(act.Names[step], o)
	case plan.CreateRestore:
		return w.createRestore()
	case plan.PullImages:
		w.pullImages(act)
		return true
	case plan.EndPull:
		w.Pulls = slices.DeleteFunc(w.Pulls, func(p plan.Pull) bool { return p.UID == act.UID })
		return true
	default:
		return w.call(a, o) == nil
	}
}

// call makes a call to the etcd that answered with a quorum. A call that is refused changes nothing: look again.
func (w *World) call(a plan.Action, o *plan.Observed) error {
	switch act := a.(type) {
	case plan.AddLearner:
		w.Etcd.MaxLearners = w.learners()
		return w.Etcd.AddLearner(o.Etcd.ClusterID, w.newMemberID(act.Name), act.Name, act.PeerURL)
	case plan.Promote:
		return w.Etcd.Promote(o.Etcd.ClusterID, act.ID)
	case plan.MoveLeader:
		return w.Etcd.MoveLeader(o.Etcd.ClusterID, act.To)
	case plan.RemoveMember:
		return w.Etcd.Remove(o.Etcd.ClusterID, act.ID)
	case plan.EnableDowngrade:
		return w.Etcd.EnableDowngrade(o.Etcd.ClusterID, minorOf(act.Version))
	case plan.CancelDowngrade:
		return w.Etcd.CancelDowngrade(o.Etcd.ClusterID)
	default:
		return fmt.Errorf("action %T has no effect", a)
	}
}

func (w *World) adopt(act plan.Adopt, step int, o *plan.Observed, stale bool) bool {
	if step < len(act.Volumes) {
		v := w.volume(act.Volumes[step])
		if v == nil || v.UID != seenVolume(o, v.Name) {
			return false
		}
		v.Owned = true
		return true
	}
	return !stale
}

func (w *World) createVolume(name string, incarnation int) bool {
	if w.volume(name) != nil {
		return false
	}
	w.Volumes = append(w.Volumes, Volume{Class: w.Class, Volume: plan.Volume{
		Name: name, UID: w.newUID("v", name), Incarnation: incarnation, Owned: true, Requested: int64(w.Storage),
	}})
	slices.SortFunc(w.Volumes, func(a, b Volume) int { return plan.CompareNames(a.Name, b.Name) })
	return true
}

// restoreOf is the snapshot that an attempt starts from, empty for none.
func restoreOf(b *plan.Bootstrap) string {
	if b == nil {
		return ""
	}
	return b.Restore
}

func (w *World) createPod(n plan.NewPod, o *plan.Observed) bool {
	if w.pod(n.Name) != nil || n.Restores && o.Cluster.SourceGone {
		return false
	}
	template := w.template()
	if n.Former {
		template = w.Status.former()
	}
	token := ""
	if n.Restores {
		token = o.Cluster.Bootstrap.Token
	}
	w.Pods = append(w.Pods, Pod{
		Name: n.Name, UID: w.newUID("p", n.Name), Incarnation: n.Incarnation, Permit: n.Permit,
		Persistent: n.Persistent, Version: n.Version, Template: template, Token: token,
		Labels: w.Labels, Resources: w.Resources,
	})
	slices.SortFunc(w.Pods, func(a, b Pod) int { return plan.CompareNames(a.Name, b.Name) })
	return true
}

// markVolume notes whose data the volume holds, and what its pod is.
func (w *World) markVolume(p plan.PodPermit, o *plan.Observed) bool {
	return w.mark(p.Pod, o, func(v *Volume) {
		v.ClusterID, v.MemberID = uint64(p.Permit.ClusterID), uint64(p.Permit.MemberID)
		if pod := w.pod(p.Pod); pod != nil {
			v.Version, v.Template = pod.Version, pod.Template
		}
	})
}

func (w *World) writePermit(n plan.PodPermit) bool {
	p := w.pod(n.Pod)
	if p == nil || p.UID != n.UID {
		return false
	}
	if n.Permit.Mode == member.ModeNew && w.Status.ID != 0 {
		w.violate("S3: a permit to start a new cluster was written for %s after the cluster ID was latched", p.Name)
	}
	permit := n.Permit
	if p.Permit == nil {
		p.Old = false
	}
	p.Permit = &permit
	return true
}

func (w *World) serve(name string, o *plan.Observed) bool {
	p := w.pod(name)
	for _, seen := range o.Pods {
		if p != nil && seen.Name == name && seen.UID == p.UID {
			w.checkServing(p)
			p.Serving = true
			return true
		}
	}
	return false
}

func (w *World) unserve(act plan.Unserve) bool {
	p := w.pod(act.Pod)
	if p == nil || p.UID != act.UID {
		return false
	}
	p.Serving = false
	return true
}

// deletePod starts the grace period. To delete what is gone already is a success.
func (w *World) deletePod(act plan.DeletePod) bool {
	p := w.pod(act.Name)
	switch {
	case p == nil:
		return true
	case p.UID != act.UID:
		return false
	}
	p.Deleting = true
	return true
}

func (w *World) deleteVolume(act plan.DeleteVolume) bool {
	v := w.volume(act.Name)
	switch {
	case v == nil:
		return true
	case v.UID != act.UID:
		return false
	}
	w.checkVolumeDeletion(v)
	v.Deleting = true
	if !w.used(v) {
		w.removeVolume(v)
	}
	return true
}

func seenVolume(o *plan.Observed, name string) string {
	for _, v := range o.Volumes {
		if v.Name == name {
			return v.UID
		}
	}
	return ""
}
