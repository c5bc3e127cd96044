package plan

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// seatDeadline is how long the youngest pod waits for the rest before a quorum of first members starts without them.
const seatDeadline = 20 * time.Second

// seatOf finds the seat of that name.
func seatOf(b *Bootstrap, name string) (Seat, bool) {
	i := slices.IndexFunc(b.Seats, func(s Seat) bool { return s.Name == name })
	if i < 0 {
		return Seat{}, false
	}
	return b.Seats[i], true
}

// seat commits which pods may start from nothing: all together, or a quorum of them once the others are late. A pod
// that was recreated on the very same volume takes the seat over if nobody has had a permit for that volume.
func seat(v *view) Action {
	b := *v.Cluster.Bootstrap
	seats := slices.Clone(b.Seats)
	var youngest time.Time
	for _, name := range b.Members {
		p, ok := v.pods[name]
		if !ok || p.Deleting || !p.up() {
			continue
		}
		if p.Created.After(youngest) {
			youngest = p.Created
		}
		seats = v.seated(seats, p)
	}
	late := len(seats) >= Quorum(len(b.Members)) && v.Now.Sub(youngest) > seatDeadline
	if len(b.Seats) == 0 && len(seats) < len(b.Members) && !late || slices.Equal(seats, b.Seats) {
		return nil
	}
	b.Seats = seats
	return CommitBootstrap{Bootstrap: b}
}

// seated gives the pod a seat of its own, or that of its predecessor on the same volume.
func (v *view) seated(seats []Seat, p Pod) []Seat {
	s := Seat{Name: p.Name, PodUID: p.UID}
	if p.Persistent {
		s.VolumeUID = v.volumes[p.Name].UID
	}
	i := slices.IndexFunc(seats, func(old Seat) bool { return old.Name == p.Name })
	switch {
	case i < 0:
		return append(seats, s)
	case p.Persistent && p.Permit == nil && !v.seatLost(seats[i]):
		seats[i] = s
	}
	return seats
}

func permitInitial(v *view) Action {
	b := v.Cluster.Bootstrap
	urls := v.peerURLs(b.Members)
	ids, _ := IDs(b.Token, urls)
	var permits []PodPermit
	for _, s := range b.Seats {
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

// seatLost tells whether what a seat's pod may have written can never come back. On a volume any later pod of the name
// speaks for it, and a lost one is not lost to the pod that has it mounted.
func (v *view) seatLost(s Seat) bool {
	p, there := v.pods[s.Name]
	if s.VolumeUID != "" {
		c, ok := v.volumes[s.Name]
		return !ok || c.UID != s.VolumeUID || c.Lost && !p.up() || c.Deleting && !there || p.Exit.Terminal()
	}
	return !there || p.UID != s.PodUID || p.Phase == Terminal || p.Exit.Terminal()
}

// resume is the permit for a pod on this volume: none if nobody ever had one, and after that only for what is there. The
// data may be gone without a trace, and whoever has voted must not start from nothing again.
func (c Volume) resume() *member.Permit {
	if c.MemberID == 0 {
		return nil
	}
	return &member.Permit{Mode: member.ModeResume, ClusterID: member.ID(c.ClusterID), MemberID: member.ID(c.MemberID)}
}
