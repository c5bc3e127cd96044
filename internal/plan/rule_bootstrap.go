package plan

import (
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

const (
	// pollFast is how soon to look at etcd again while something is expected of it within a second.
	pollFast = 100 * time.Millisecond
	// pollSlow is how soon to look again at what takes seconds or needs somebody else.
	pollSlow = 2 * time.Second
	// seatDeadline is how long the youngest pod waits for the rest before a quorum of first members starts without them.
	seatDeadline = 20 * time.Second
)

// adoptVolumes takes up data that has no status to go with it: volumes retained by a deleted cluster of this name, or
// pods and volumes of this cluster after its status was lost.
func adoptVolumes(v *view) Action {
	if v.Cluster.Bootstrap != nil || len(v.Volumes) == 0 && len(v.Pods) == 0 {
		return nil
	}
	ids := map[uint64]bool{}
	var names []string
	for _, c := range v.Volumes {
		names = append(names, c.Name)
		if c.ClusterID != 0 {
			ids[c.ClusterID] = true
		}
	}
	for _, p := range v.Pods {
		if p.Permit != nil {
			ids[p.Permit.ClusterID] = true
		}
	}
	if len(ids) != 1 {
		return Blocked{
			Reason: v1beta2.ReasonVolumesExist,
			Message: fmt.Sprintf("volumes of an earlier cluster of this name are there (%s) and cannot be taken up: "+
				"they hold the data of %d clusters; delete those that are not wanted", list(names), len(ids)),
		}
	}
	for id := range ids {
		return Adopt{ClusterID: id, Volumes: names}
	}
	return nil
}

func invalidSpec(v *view) Action {
	if p := v.Cluster.Invalid; p != nil && v.Cluster.Bootstrap == nil {
		return Blocked(*p)
	}
	return nil
}

// commitBootstrap writes the plan of the first start, and another one for another size while nobody could start yet.
func commitBootstrap(v *view) Action {
	b := v.Cluster.Bootstrap
	switch {
	case b == nil:
		return CommitBootstrap{Bootstrap: v.incarnation(1)}
	case len(b.Seats) == 0 && len(b.Members) != v.Cluster.Size:
		return CommitBootstrap{Bootstrap: v.incarnation(b.Incarnation + 1)}
	}
	return nil
}

// incarnation is the plan of one attempt: the token, and with it every ID, is different in each.
func (v *view) incarnation(n int) Bootstrap {
	b := Bootstrap{Incarnation: n, Token: fmt.Sprintf("%s-%d", v.Cluster.UID, n)}
	for i := range v.Cluster.Size {
		b.Members = append(b.Members, v.memberName(i))
	}
	_, b.ClusterID = IDs(b.Token, v.peerURLs(b.Members))
	return b
}

func (v *view) peerURLs(names []string) map[string]string {
	urls := map[string]string{}
	for _, name := range names {
		urls[name] = v.Cluster.PeerURL(name)
	}
	return urls
}

func latch(v *view) Action {
	if v.Etcd.Contact == ContactQuorum && v.Etcd.ClusterID == v.Cluster.Bootstrap.ClusterID {
		return Latch{ClusterID: v.Etcd.ClusterID}
	}
	return nil
}

// restartBootstrap gives up an incarnation only when it can never form a quorum and nobody has written to it.
func restartBootstrap(v *view) Action {
	b := v.Cluster.Bootstrap
	lost := 0
	for _, s := range b.Seats {
		if v.seatLost(s) {
			lost++
		}
	}
	if len(b.Members)-lost >= Quorum(len(b.Members)) {
		return nil
	}
	for _, a := range v.answers {
		if a.ClusterID == b.ClusterID && a.Revision > 1 {
			return Blocked{
				Reason: v1beta2.ReasonDataLost,
				Message: fmt.Sprintf("the first members lost their data before the cluster was up, but %s has been "+
					"written to (revision %d): save what is needed, then delete and recreate the cluster",
					a.Pod, a.Revision),
			}
		}
	}
	return CommitBootstrap{Bootstrap: v.incarnation(b.Incarnation + 1)}
}

// seatLost tells whether what a seat's pod may have written can never come back.
func (v *view) seatLost(s Seat) bool {
	p, there := v.pods[s.Name]
	there = there && p.UID == s.PodUID
	if v.Cluster.Persistent {
		c, ok := v.volumes[s.Name]
		return !ok || c.UID != s.VolumeUID || c.Lost || c.Deleting && !there || there && p.Exit != ExitNone
	}
	return !there || p.Phase == Terminal || p.Exit != ExitNone
}

func clearOld(v *view) Action {
	current := v.Cluster.Bootstrap.Incarnation
	var leaving []string
	for _, p := range v.Pods {
		if p.Incarnation < current {
			if !p.Deleting {
				return DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonBootstrapping}
			}
			leaving = append(leaving, p.Name)
		}
	}
	for _, c := range v.Volumes {
		if _, used := v.pods[c.Name]; c.Incarnation < current && !used {
			if !c.Deleting {
				return DeleteVolume{Name: c.Name, UID: c.UID, Why: v1beta2.ReasonBootstrapping}
			}
			leaving = append(leaving, c.Name)
		}
	}
	if len(leaving) == 0 {
		return nil
	}
	return Wait{
		Reason: v1beta2.ReasonBootstrapping, After: pollSlow,
		Message: "waiting until what the failed first attempt left is gone: " + list(leaving),
	}
}

func createInitial(v *view) Action {
	b := v.Cluster.Bootstrap
	var volumes []string
	var pods []NewPod
	for _, name := range b.Members {
		s, seated := seatOf(b, name)
		if seated && v.seatLost(s) {
			continue
		}
		c, there := v.volumes[name]
		if v.Cluster.Persistent && !there && !seated {
			volumes = append(volumes, name)
		}
		if _, ok := v.pods[name]; !ok && !c.Deleting {
			pods = append(pods, NewPod{Name: name, Incarnation: b.Incarnation})
		}
	}
	switch {
	case len(volumes) > 0:
		return CreateVolumes{Names: volumes, Incarnation: b.Incarnation}
	case len(pods) > 0:
		return CreatePods{Pods: pods}
	}
	return nil
}

func seatOf(b *Bootstrap, name string) (Seat, bool) {
	i := slices.IndexFunc(b.Seats, func(s Seat) bool { return s.Name == name })
	if i < 0 {
		return Seat{}, false
	}
	return b.Seats[i], true
}

// seat commits which pods may start from nothing: all together, or a quorum of them once the others are late. A pod
// that was recreated on the very same volume takes its seat again, for there the data decides.
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
		s := Seat{Name: name, PodUID: p.UID, VolumeUID: v.volumes[name].UID}
		old, seated := seatOf(&b, name)
		switch {
		case !seated:
			seats = append(seats, s)
		case v.Cluster.Persistent && old.PodUID != s.PodUID && !v.seatLost(old):
			seats[slices.Index(seats, old)] = s
		}
	}
	late := len(seats) >= Quorum(len(b.Members)) && v.Now.Sub(youngest) > seatDeadline
	if len(b.Seats) == 0 && len(seats) < len(b.Members) && !late || slices.Equal(seats, b.Seats) {
		return nil
	}
	b.Seats = seats
	return CommitBootstrap{Bootstrap: b}
}

func permitInitial(v *view) Action {
	b := v.Cluster.Bootstrap
	ids, _ := IDs(b.Token, v.peerURLs(b.Members))
	var permits []PodPermit
	for _, s := range b.Seats {
		p, ok := v.pods[s.Name]
		if !ok || p.UID != s.PodUID || p.Deleting || p.Permit != nil {
			continue
		}
		permits = append(permits, PodPermit{Pod: p.Name, UID: p.UID, Permit: Permit{
			Mode: ModeNew, ClusterID: b.ClusterID, MemberID: ids[p.Name],
			InitialCluster: initialCluster(v.peerURLs(b.Members)),
			Token:          b.Token, PodUID: p.UID, Attempt: 1,
		}})
	}
	if len(permits) == 0 {
		return nil
	}
	return WritePermits{Permits: permits}
}

func awaitBootstrap(v *view) Action {
	b := v.Cluster.Bootstrap
	waiting := v.waitForPods(b.Members)
	if waiting != nil && len(b.Seats) < Quorum(len(b.Members)) {
		return waiting
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForEtcd, After: v.poll(),
		Message: fmt.Sprintf("waiting until a quorum of the first members (%s) answers", list(b.Members)),
	}
}

// poll is how soon to ask etcd again: fast while a pod is young, slowly once it is clear that this takes longer.
func (v *view) poll() time.Duration {
	for _, p := range v.Pods {
		if v.Now.Sub(p.Created) < 30*time.Second {
			return pollFast
		}
	}
	return pollSlow
}

// waitForPods names the pods that are missing, on their way out, or without an address.
func (v *view) waitForPods(names []string) Action {
	var waiting []string
	for _, name := range names {
		p, ok := v.pods[name]
		switch {
		case ok && p.Problem != "":
			return Wait{
				Reason: v1beta2.ReasonPodCannotStart, After: pollSlow,
				Message: fmt.Sprintf("pod %s: %s", name, p.Problem),
			}
		case !ok || p.Deleting || !p.up():
			waiting = append(waiting, name)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return Wait{
		Reason: v1beta2.ReasonWaitingForPods, After: pollSlow,
		Message: "waiting for the pods " + list(waiting),
	}
}
