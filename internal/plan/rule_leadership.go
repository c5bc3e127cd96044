package plan

import (
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Disk is what was seen of a member's disk while it was watched.
type Disk struct {
	Pod, PodUID string
	// Watched is how long that was.
	Watched time.Duration
	// FlushTime is the mean time of a flush of the log to the disk in that time, 0 if hardly any has ended.
	FlushTime time.Duration
	// Stalled is how long the log has not moved although the others' have: the disk does not answer. 0 while it does.
	Stalled time.Duration
}

const (
	// stalledLimit is how long a log may stand still before its disk counts as one that does not answer.
	stalledLimit = 5 * time.Second
	// minWatch is how long a disk is watched before anything is said of how slow it is.
	minWatch = 5 * time.Second
	// slowFlush is more than a leader may take for a flush. It is etcd's default interval between heartbeats: a leader
	// sends none while it flushes.
	slowFlush = 100 * time.Millisecond
	// minSpeedup is how many times as quick the next leader's disk must be, so that where all are slow nobody moves.
	minSpeedup = 4
	// leaderCooldown is how long a leader stays after leadership was moved because of a disk, whatever the disks do.
	leaderCooldown = 5 * time.Minute
	// minPodAge is how old a pod must be to be ended because of its disk: it may have been made a moment ago for that.
	minPodAge = 2 * time.Minute
)

// DiskHangs tells whether the disk of a pod's member does not answer. What etcd in it says of itself is then out of date.
func DiskHangs(o Observed, pod, uid string) bool {
	for _, d := range o.Etcd.Disks {
		if d.Pod == pod && d.PodUID == uid {
			return d.Stalled >= stalledLimit
		}
	}
	return false
}

// DisksUndecided tells whether disks have to be looked at again soon to judge them.
func DisksUndecided(o Observed) bool {
	for _, d := range o.Etcd.Disks {
		if d.Watched < minWatch || d.Stalled > 0 && d.Stalled < stalledLimit {
			return true
		}
	}
	return false
}

// slowLeader says that the leader's disk is too slow to lead, nil if it is not.
func (v *view) slowLeader() *failure.Problem {
	m := v.leader()
	if d := v.disk(m); d.Watched < minWatch || d.FlushTime <= slowFlush {
		return nil
	}
	return &failure.Problem{
		Reason:  v1beta2.ReasonDiskSlow,
		Message: fmt.Sprintf("%s leads and its disk is slow: a flush takes more than %s", m.Name, slowFlush),
	}
}

// leader is the voter that leads, the zero Member if none is known to.
func (v *view) leader() Member {
	i := slices.IndexFunc(v.voters, func(m Member) bool { return m.ID == v.Leader })
	if i < 0 {
		return Member{}
	}
	return v.voters[i]
}

func (v *view) disk(m Member) Disk {
	for _, d := range v.Etcd.Disks {
		if d.Pod == m.Name && d.PodUID == v.pods[m.Name].UID {
			return d
		}
	}
	return Disk{}
}

// restartHungMember ends a voter whose disk hangs. The others have elected another leader by themselves, but clients that are
// connected to it stay with it and wait: etcd takes their requests and cannot carry them out. As it ends it closes its
// connections, whatever the disk does, and its data stays where it is.
//
// A member on an emptyDir volume would lose its data by that: it is waited for.
func restartHungMember(v *view) Action {
	for _, m := range v.voters {
		p := v.pods[m.Name]
		running := p.Phase == Running && !p.Deleting && !p.Restarting && !p.Ready
		if !running || !DiskHangs(v.Observed, p.Name, p.UID) || !p.Persistent || !v.usable(v.volumes[m.Name]) {
			continue
		}
		old := v.Now.Sub(p.Created) > minPodAge
		if others := v.healthyVoters(m.Name); old && others == len(v.voters)-1 && v.safeToRestart(m) {
			return DeletePod{Name: p.Name, UID: p.UID, Why: v1beta2.ReasonDiskHangs}
		}
	}
	return nil
}

// moveLeaderOffSlowDisk moves leadership away from a slow disk: nothing is committed faster than the leader writes, while a follower
// that is slow is missed by nobody. It asks for much, so that leadership never goes back and forth.
func moveLeaderOffSlowDisk(v *view) Action {
	leader, all := v.leader(), len(v.voters)
	if v.SlowLeader == nil || v.healthyVoters("") < all || !v.Cluster.LeaderMoved.IsZero() && v.Now.Sub(v.Cluster.LeaderMoved) < leaderCooldown {
		return nil
	}
	heir := Member{}
	for _, m := range v.voters {
		d := v.disk(m)
		able := v.pods[m.Name].Ready && d.Watched >= minWatch && d.FlushTime > 0 && d.FlushTime*minSpeedup <= v.disk(leader).FlushTime
		if able && (heir.ID == 0 || d.FlushTime < v.disk(heir).FlushTime) {
			heir = m
		}
	}
	if heir.ID == 0 {
		return nil
	}
	return MoveLeader{From: leader.ID, To: heir.ID, Slow: leader.Name}
}
