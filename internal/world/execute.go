package world

import (
	"fmt"
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// effect takes one effect of an action, and reports whether it succeeded. Stale is true if the EtcdCluster was written after it
// was read.
func (w *World) effect(a plan.Action, effect plan.Effect, o *plan.Observed, stale bool) bool { //nolint:gocyclo // a plain list
	switch e := effect.(type) {
	case plan.WriteStatus:
		return w.mayNote(a, stale)
	case plan.CreateRestore:
		if e.Survivor != "" {
			return w.createRecovery(e)
		}
		return w.createRestore()
	case plan.AdoptVolume:
		return w.onVolume(e.Name, e.UID, func(v *Volume) { v.Owned = true })
	case plan.CreateVolume:
		return w.createVolume(e, o)
	case plan.CreatePod:
		return w.createPod(e.NewPod, o)
	case plan.MarkVolume:
		return w.onVolume(e.Name, e.UID, func(v *Volume) { w.markVolume(v, e, o.Cluster.Transport.Served()) })
	case plan.MarkQuarantined:
		return w.onVolume(e.Name, e.UID, func(v *Volume) { v.Quarantined = e.Quarantined })
	case plan.WritePermit:
		return w.writePermit(e)
	case plan.AddPodToService:
		return w.serve(e)
	case plan.RemoveFromService:
		return w.onPod(e.Pod, e.UID, func(p *Pod) { p.Serving = false })
	case plan.SetBudget:
		w.Budget = Budget{Exists: true, Min: e.MinAvailable}
		return true
	case plan.DeletePod:
		return w.deletePod(e)
	case plan.DeleteVolume:
		return w.deleteVolume(e)
	case plan.SetMetadata:
		return w.onPod(e.Name, e.UID, func(p *Pod) { p.Labels = w.Labels })
	case plan.Resize:
		amount := w.tunedAmount()
		if e.ToSpec {
			amount = 0
		}
		return w.onPod(e.Name, e.UID, func(p *Pod) { w.resize(p, amount) })
	case plan.ChangeImage:
		return w.onPod(e.Name, e.UID, func(p *Pod) { w.changeImage(p, e.Version) })
	case plan.ExpandVolume:
		return w.volume(e.Name) == nil || w.onVolume(e.Name, e.UID, w.expand)
	case plan.CreatePrepullPod:
		name := e.Node + e.Image
		w.Pulls = append(w.Pulls, plan.PrepullPod{Name: name, UID: name, Node: e.Node, Image: e.Image})
		return true
	case plan.DeletePrepullPod:
		w.Pulls = slices.DeleteFunc(w.Pulls, func(p plan.PrepullPod) bool { return p.UID == e.UID })
		return true
	case plan.AddLearner, plan.Promote, plan.MoveLeader, plan.UpdatePeerURL, plan.RemoveMember, plan.EnableDowngrade, plan.CancelDowngrade:
		return w.call(e, o) == nil
	case plan.Compact:
		return w.compact()
	case plan.Disarm:
		return w.disarm(e)
	case plan.Defragment:
		return w.beginDefragment(e)
	}
	return false
}

// onPod changes the very pod that was seen.
func (w *World) onPod(name, uid string, change func(*Pod)) bool {
	p := w.pod(name)
	if p == nil || p.UID != uid {
		return false
	}
	change(p)
	return true
}

// onVolume changes the very claim that was seen.
func (w *World) onVolume(name, uid string, change func(*Volume)) bool {
	v := w.volume(name)
	if v == nil || v.UID != uid {
		return false
	}
	change(v)
	return true
}

// call makes a call to the etcd that answered with a quorum. A call that is refused changes nothing: look again.
func (w *World) call(effect plan.Effect, o *plan.Observed) error {
	switch act := effect.(type) {
	case plan.AddLearner:
		w.Etcd.MaxLearners = w.learners()
		return w.Etcd.AddLearner(o.Etcd.ClusterID, w.newMemberID(act.Name), act.Name, act.PeerURL)
	case plan.Promote:
		return w.Etcd.Promote(o.Etcd.ClusterID, act.ID)
	case plan.MoveLeader:
		return w.Etcd.MoveLeader(o.Etcd.ClusterID, act.To)
	case plan.UpdatePeerURL:
		return w.Etcd.UpdatePeerURL(o.Etcd.ClusterID, act.ID, act.PeerURL)
	case plan.RemoveMember:
		return w.Etcd.Remove(o.Etcd.ClusterID, act.ID)
	case plan.EnableDowngrade:
		return w.Etcd.EnableDowngrade(o.Etcd.ClusterID, minorOf(act.Version))
	case plan.CancelDowngrade:
		return w.Etcd.CancelDowngrade(o.Etcd.ClusterID)
	default:
		return fmt.Errorf("effect %T is no call to etcd", effect)
	}
}

func (w *World) createVolume(e plan.CreateVolume, o *plan.Observed) bool {
	if w.volume(e.Name) != nil {
		return false
	}
	w.Volumes = append(w.Volumes, Volume{Class: w.Class, Volume: plan.Volume{
		Name: e.Name, UID: w.newUID("v", e.Name), Incarnation: e.Incarnation, Owned: true, Requested: int64(w.storage()),
		Transport: o.Cluster.Transport.Served(),
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
	template, labels := w.template(), w.Labels
	if n.FromPreviousSpec {
		template, labels = w.Status.previousTemplate(), w.Status.previousLabels()
	}
	token := ""
	if n.Restores {
		token = o.Cluster.Bootstrap.Token
	}
	w.checkPlace(n)
	avoids := ""
	if n.Avoid.Strictly {
		avoids = n.Avoid.Node
	}
	w.Pods = append(w.Pods, Pod{
		Avoids: avoids, Stuck: avoids != "" && w.cfg.Spareless || w.cfg.Tight && w.tunedAmount() > specAmount, Share: Share{Amount: w.tunedAmount()},
		Name: n.Name, UID: w.newUID("p", n.Name), Incarnation: n.Incarnation, Permit: n.Permit,
		Persistent: n.Persistent, Version: n.Version, Template: template, Token: token,
		Labels: labels, Resources: w.Resources, Transport: n.Transport, Database: Database{Quota: w.Status.Tuned.Quota},
	})
	slices.SortFunc(w.Pods, func(a, b Pod) int { return plan.CompareNames(a.Name, b.Name) })
	return true
}

// markVolume notes whose data the volume holds, and what its pod is to be. The transport is the recorded one.
func (w *World) markVolume(v *Volume, e plan.MarkVolume, recorded member.Transport) {
	if e.ClusterID != 0 {
		v.ClusterID, v.MemberID = e.ClusterID, e.MemberID
	}
	v.Version = e.Version
	switch e.Template {
	case plan.KeepMark:
	case plan.MarkPodTemplate:
		if p := w.pod(v.Name); p != nil {
			v.Template, v.Transport = p.Template, p.Transport
		}
	case plan.MarkSpecTemplate:
		v.Template, v.Transport = w.template(), recorded
	}
}

func (w *World) writePermit(n plan.WritePermit) bool {
	p := w.pod(n.Pod)
	if p == nil || p.UID != n.UID {
		return false
	}
	if n.Permit.Mode == member.ModeNew && w.Status.ID != 0 {
		w.violate("S3: a permit to start a new cluster was written for %s after the cluster ID was recorded", p.Name)
	}
	w.checkAlone(p)
	permit := n.Permit
	if p.Permit == nil {
		p.Old = false
	}
	p.Permit = &permit
	return true
}

func (w *World) serve(e plan.AddPodToService) bool {
	return w.onPod(e.Name, e.UID, func(p *Pod) {
		w.checkServing(p)
		p.Serving = true
		if e.Resume != nil && !w.cfg.KeepPermits {
			p.Permit = e.Resume
		}
	})
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
	w.checkEvidence(v) // of several violations the first one counts
	w.checkVolumeDeletion(v)
	v.Deleting = true
	if !w.used(v) {
		w.removeVolume(v)
	}
	return true
}
