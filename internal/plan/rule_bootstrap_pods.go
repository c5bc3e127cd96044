package plan

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// bindDeadline is how long after the creation of the youngest running pod a quorum of initial members starts without the
// others.
const bindDeadline = 20 * time.Second

// initialPodOf returns the pod to which the member of that name is bound.
func initialPodOf(b *Bootstrap, name string) (InitialPod, bool) {
	i := slices.IndexFunc(b.InitialPods, func(s InitialPod) bool { return s.Name == name })
	if i < 0 {
		return InitialPod{}, false
	}
	return b.InitialPods[i], true
}

// bindInitialPods commits which pods may start with an empty data directory: all of them, or a quorum if the others are late. A
// pod that was recreated on the same volume takes its predecessor's place as long as no permit was written for that volume.
func bindInitialPods(v *view) Action {
	b := *v.Cluster.Bootstrap
	pods := slices.Clone(b.InitialPods)
	var youngest time.Time
	for _, name := range b.Members {
		p, ok := v.pods[name]
		if !ok || p.Deleting || !p.up() {
			continue
		}
		if p.Created.After(youngest) {
			youngest = p.Created
		}
		pods = v.bindPod(pods, p)
	}
	late := len(pods) >= Quorum(len(b.Members)) && v.Now.Sub(youngest) > bindDeadline
	if len(b.InitialPods) == 0 && len(pods) < len(b.Members) && !late || slices.Equal(pods, b.InitialPods) {
		return nil
	}
	b.InitialPods = pods
	return CommitBootstrap{Bootstrap: b}
}

// bindPod binds a member to the pod, unless it is bound to another one that may have started.
func (v *view) bindPod(pods []InitialPod, p Pod) []InitialPod {
	s := InitialPod{Name: p.Name, PodUID: p.UID}
	if p.Persistent {
		s.VolumeUID = v.volumes[p.Name].UID
	}
	i := slices.IndexFunc(pods, func(old InitialPod) bool { return old.Name == p.Name })
	switch {
	case i < 0:
		return append(pods, s)
	case p.Persistent && p.Permit == nil && !v.initialPodLost(pods[i]):
		pods[i] = s
	}
	return pods
}

func permitInitialPods(v *view) Action {
	b := v.Cluster.Bootstrap
	urls := v.Cluster.peerURLs(b.Members)
	ids, _ := IDs(b.Token, urls)
	var permits []PodPermit
	for _, s := range b.InitialPods {
		p, ok := v.pods[s.Name]
		if !ok || p.UID != s.PodUID || p.Deleting || p.Permit != nil {
			continue
		}
		permits = append(permits, PodPermit{Pod: p.Name, UID: p.UID, Permit: member.Permit{
			Mode: member.ModeNew, ClusterID: member.ID(b.ClusterID), MemberID: member.ID(ids[p.Name]),
			InitialCluster: initialCluster(urls),
			Token:          b.Token, PodUID: p.UID, Attempt: 1,
		}})
	}
	if len(permits) == 0 {
		return nil
	}
	return WritePermits{Permits: permits}
}

// initialPodLost reports whether any data that an initial member has written is lost for good. On a volume, any later pod of
// that name stands for the member, and a volume in phase Lost is not lost to a pod that still has it mounted.
func (v *view) initialPodLost(s InitialPod) bool {
	p, there := v.pods[s.Name]
	if s.VolumeUID != "" {
		c, ok := v.volumes[s.Name]
		return !ok || c.UID != s.VolumeUID || c.Lost && !p.up() || c.Deleting && !there || p.Exit.DataGone() || v.unreachable(s.Name)
	}
	return !there || p.UID != s.PodUID || p.Phase == Finished || p.Exit.DataGone()
}

// resumePermit returns the permit for a pod on this volume: nil if no permit was ever written for it, and otherwise one for
// existing data only. The data may have vanished without a trace, and a member that has voted must not start with an empty data
// directory again.
func (c Volume) resumePermit() *member.Permit {
	if c.MemberID == 0 {
		return nil
	}
	return &member.Permit{Mode: member.ModeResume, ClusterID: member.ID(c.ClusterID), MemberID: member.ID(c.MemberID)}
}
