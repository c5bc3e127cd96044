package plan

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// Effect is a single change that the operator makes to Kubernetes or to etcd. It may crash before and after each one.
//
//sumtype:decl
type Effect interface{ effect() }

// CreateVolume creates an empty claim. If it exists already, the action fails, and the next pass decides anew.
type CreateVolume struct {
	Name        string
	Incarnation int
}

// CreatePod creates a pod.
type CreatePod struct{ NewPod }

// MarkVolume annotates the claim with exactly that UID with what its member is to run, and whose data it holds.
type MarkVolume struct {
	Name, UID string
	// ClusterID and MemberID are 0 for a member that the volume belongs to already.
	ClusterID, MemberID uint64
	// Version is the etcd version that the member is to run.
	Version string
	// Template is which pod template to write.
	Template TemplateMark
}

// TemplateMark is which pod template, and which transport, MarkVolume writes onto the claim: those that the member's pod is made from.
type TemplateMark int

// The template marks.
const (
	// KeepMark leaves the mark as it is.
	KeepMark TemplateMark = iota
	// MarkPodTemplate writes those of the existing pod.
	MarkPodTemplate
	// MarkSpecTemplate writes the spec's template, and the recorded transport.
	MarkSpecTemplate
)

// WritePermit writes the permit onto its pod.
type WritePermit struct{ PodPermit }

// AddPodToService adds the pod with exactly that UID to the client Service. Its member has started: Resume takes the place of a permit to start on an
// empty directory, nil if the pod has none. Were the member's data lost below the same pod, it would come back without what it has acknowledged.
type AddPodToService struct {
	Name, UID string
	Resume    *member.Permit
}

// AdoptVolume makes the cluster the owner of the claim with exactly that UID.
type AdoptVolume struct{ Name, UID string }

// ChangeImage lets a pod's container restart with the spec's image of that version.
type ChangeImage struct{ Name, UID, Version string }

// ExpandVolume requests more storage for the claim with exactly that UID. If Kubernetes refuses, the claim is marked as not
// expandable.
type ExpandVolume struct{ Name, UID string }

// CreatePrepullPod creates a pod that pulls an image to a node.
type CreatePrepullPod struct{ NodeImage }

// WriteStatus stands for the status write at the end of the pass.
type WriteStatus struct{}

func (CreateVolume) effect()      {}
func (CreatePod) effect()         {}
func (MarkVolume) effect()        {}
func (WritePermit) effect()       {}
func (AddPodToService) effect()   {}
func (AdoptVolume) effect()       {}
func (ChangeImage) effect()       {}
func (ExpandVolume) effect()      {}
func (CreatePrepullPod) effect()  {}
func (WriteStatus) effect()       {}
func (CreateRestore) effect()     {}
func (RemoveFromService) effect() {}
func (AddLearner) effect()        {}
func (Promote) effect()           {}
func (MoveLeader) effect()        {}
func (UpdatePeerURL) effect()     {}
func (RemoveMember) effect()      {}
func (DeletePod) effect()         {}
func (DeleteVolume) effect()      {}
func (SetMetadata) effect()       {}
func (Resize) effect()            {}
func (MarkQuarantined) effect()   {}
func (DeletePrepullPod) effect()  {}
func (EnableDowngrade) effect()   {}
func (CancelDowngrade) effect()   {}
func (SetBudget) effect()         {}
func (Compact) effect()           {}
func (Defragment) effect()        {}
func (Disarm) effect()            {}

// Effects returns the effects of an action in order, whatever others rely on first, without those that the API server refuses and
// what relies on them. One that is refused now ends its chain (AfterRefused); any other failure ends the pass.
func Effects(a Action, o Observed) []Effect { return o.withoutRefused(o.effects(a)) }

func (o Observed) effects(a Action) []Effect {
	switch act := a.(type) {
	case Idle, Wait, Blocked:
		return nil
	case CommitBootstrap, CancelRestore, ContinueRestore, RecordClusterID, CommitVoters, CommitTransport, CommitTuning, CommitHibernation, CommitRelocation,
		Quarantine:
		return []Effect{WriteStatus{}}
	case Adopt:
		return append(each(act.Volumes, func(name string) Effect { return AdoptVolume{name, o.volumeUID(name)} }), WriteStatus{})
	case CreateVolumes:
		return each(act.Names, func(name string) Effect { return CreateVolume{name, act.Incarnation} })
	case CreatePods:
		return each(act.Pods, func(p NewPod) Effect { return CreatePod{p} })
	case WritePermits:
		return o.permitEffects(act)
	case AddToService:
		return each(act.Pods, o.serve)
	case SetImage:
		return append(o.marks(act.Name, MarkVolume{Version: act.Version}), ChangeImage(act))
	case Recreate:
		return append(o.marks(act.Name, MarkVolume{Version: act.Version, Template: MarkSpecTemplate}),
			DeletePod{Name: act.Name, UID: act.UID})
	case CorrectMark:
		mark := MarkVolume{Name: act.Name, UID: act.UID, Version: act.Version}
		if act.Made {
			mark.Template = MarkPodTemplate
		}
		return []Effect{mark}
	case Expand:
		return each(act.Names, func(name string) Effect { return ExpandVolume{name, o.volumeUID(name)} })
	case PrepullImages:
		return each(act.Images, func(on NodeImage) Effect { return CreatePrepullPod{on} })
	case CreateRestore, RemoveFromService, AddLearner, Promote, MoveLeader, UpdatePeerURL, RemoveMember, DeletePod, DeleteVolume, SetMetadata, Resize,
		MarkQuarantined, DeletePrepullPod, EnableDowngrade, CancelDowngrade, SetBudget, Compact, Defragment, Disarm:
		if effect, ok := act.(Effect); ok {
			return []Effect{effect}
		}
	}
	return nil
}

func each[T any](of []T, effect func(T) Effect) []Effect {
	var all []Effect
	for _, one := range of {
		all = append(all, effect(one))
	}
	return all
}

// permitEffects mark each volume as used before the permit lets anybody write to it.
func (o Observed) permitEffects(act WritePermits) []Effect {
	var all []Effect
	for _, p := range act.Permits {
		version := ""
		for _, pod := range o.Pods {
			if pod.Name == p.Pod {
				version = pod.Version
			}
		}
		all = append(append(all, o.marks(p.Pod, MarkVolume{
			ClusterID: uint64(p.Permit.ClusterID), MemberID: uint64(p.Permit.MemberID), Version: version, Template: MarkPodTemplate,
		})...), WritePermit{p})
	}
	return all
}

// marks is the mark on the volume that a pod works on, none if there is no volume.
func (o Observed) marks(name string, m MarkVolume) []Effect {
	persistent := slices.ContainsFunc(o.Pods, func(p Pod) bool { return p.Name == name && p.Persistent })
	if m.Name, m.UID = name, o.volumeUID(name); !persistent || m.UID == "" {
		return nil
	}
	return []Effect{m}
}

func (o Observed) volumeUID(name string) string {
	for _, c := range o.Volumes {
		if c.Name == name {
			return c.UID
		}
	}
	return ""
}

// serve adds a pod to the client Service.
func (o Observed) serve(name string) Effect {
	add := AddPodToService{Name: name}
	for _, p := range o.Pods {
		if p.Name != name {
			continue
		}
		add.UID = p.UID
		if p.Permit != nil && p.Permit.Mode != member.ModeResume {
			add.Resume = &member.Permit{Mode: member.ModeResume, ClusterID: p.Permit.ClusterID, MemberID: p.Permit.MemberID}
		}
	}
	return add
}
