package plan

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// bindDeadline is how long the youngest pod waits for the rest before a quorum of first members starts without them.
const bindDeadline = 20 * time.Second

// initialPodOf finds the seat of that name.
func initialPodOf(b *Bootstrap, name string) (InitialPod, bool) {
	i := slices.IndexFunc(b.InitialPods, func(s InitialPod) bool { return s.Name == name })
	if i < 0 {
		return InitialPod{}, false
	}
	return b.InitialPods[i], true
}

// bindInitialPods commits which pods may start from nothing: all together, or a quorum of them once the others are late. A pod
// that was recreated on the very same volume takes the seat over if nobody has had a permit for that volume.
func bindInitialPods(v *view) Action {
	b := *v.Cluster.Bootstrap
	seats := slices.Clone(b.InitialPods)
	var youngest time.Time
	for _, name := range b.Members {
		p, ok := v.pods[name]
		if !ok || p.Deleting || !p.up() {
			continue
		}
		if p.Created.After(youngest) {
			youngest = p.Created
		}
		seats = v.bindPod(seats, p)
	}
	late := len(seats) >= Quorum(len(b.Members)) && v.Now.Sub(youngest) > bindDeadline
	if len(b.InitialPods) == 0 && len(seats) < len(b.Members) && !late || slices.Equal(seats, b.InitialPods) {
		return nil
	}
	b.InitialPods = seats
	return CommitBootstrap{Bootstrap: b}
}

// bindPod gives the pod a seat of its own, or that of its predecessor on the same volume.
func (v *view) bindPod(seats []InitialPod, p Pod) []InitialPod {
	s := InitialPod{Name: p.Name, PodUID: p.UID}
	if p.Persistent {
		s.VolumeUID = v.volumes[p.Name].UID
	}
	i := slices.IndexFunc(seats, func(old InitialPod) bool { return old.Name == p.Name })
	switch {
	case i < 0:
		return append(seats, s)
	case p.Persistent && p.Permit == nil && !v.initialPodLost(seats[i]):
		seats[i] = s
	}
	return seats
}

func permitInitialPods(v *view) Action {
	b := v.Cluster.Bootstrap
	urls := v.peerURLs(b.Members)
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

// initialPodLost tells whether what a seat's pod may have written can never come back. On a volume any later pod of the name
// speaks for it, and a lost one is not lost to the pod that has it mounted.
func (v *view) initialPodLost(s InitialPod) bool {
	p, there := v.pods[s.Name]
	if s.VolumeUID != "" {
		c, ok := v.volumes[s.Name]
		return !ok || c.UID != s.VolumeUID || c.Lost && !p.up() || c.Deleting && !there || p.Exit.DataGone()
	}
	return !there || p.UID != s.PodUID || p.Phase == Finished || p.Exit.DataGone()
}

// resumePermit is the permit for a pod on this volume: none if nobody ever had one, and after that only for what is there. The
// data may be gone without a trace, and whoever has voted must not start from nothing again.
func (c Volume) resumePermit() *member.Permit {
	if c.MemberID == 0 {
		return nil
	}
	return &member.Permit{Mode: member.ModeResume, ClusterID: member.ID(c.ClusterID), MemberID: member.ID(c.MemberID)}
}
