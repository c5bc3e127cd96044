package plan

import (
	"fmt"
	"slices"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// Disk describes how a member's disk has performed while it was watched.
type Disk struct {
	Pod, PodUID string
	// Watched is how long the disk was watched.
	Watched time.Duration
	// FlushTime is the mean time of an fsync of the write-ahead log in that period, 0 if hardly any has completed.
	FlushTime time.Duration
	// Stalled is how long the member's log has not advanced while the other members' logs have, 0 if it advances.
	Stalled time.Duration
}

const (
	// stalledLimit is how long a log may not advance before its disk counts as hanging.
	stalledLimit = 5 * time.Second
	// minWatch is how long a disk is watched before it is judged.
	minWatch = 5 * time.Second
	// slowFlush is the longest acceptable fsync for a leader. It is etcd's default heartbeat interval: a leader sends no
	// heartbeats during an fsync.
	slowFlush = 100 * time.Millisecond
	// minSpeedup is how many times faster the next leader's disk must be, so that leadership stays where it is if all disks are
	// slow.
	minSpeedup = 4
	// lagPatience is how long a voter may be far behind before that is reported. A calm cluster is looked at once a minute, so two looks
	// in a row have found it so.
	lagPatience = 30 * time.Second
	// leaderCooldown is how long leadership stays after it was moved because of a slow disk.
	leaderCooldown = 5 * time.Minute
	// minPodAge is how old a pod must be before it is restarted because of its disk: it may just have been recreated for that
	// reason.
	minPodAge = 2 * time.Minute
)

// DiskHangs reports whether the disk of a pod's member hangs. What etcd in that pod reports of itself is then out of date.
func DiskHangs(o Observed, pod, uid string) bool {
	for _, d := range o.Etcd.Disks {
		if d.Pod == pod && d.PodUID == uid {
			return d.Stalled >= stalledLimit
		}
	}
	return false
}

// DisksUndecided reports whether more measurements are needed soon to judge the disks.
func DisksUndecided(o Observed) bool {
	for _, d := range o.Etcd.Disks {
		if d.Watched < minWatch || d.Stalled > 0 && d.Stalled < stalledLimit {
			return true
		}
	}
	return false
}

// slowLeader reports that the leader's disk is too slow; nil if it is not.
func (v *view) slowLeader() *failure.Problem {
	m := v.leader()
	if d := v.disk(m); d.Watched < minWatch || d.FlushTime <= slowFlush {
		return nil
	}
	return &failure.Problem{
		Reason:  v1beta2.ReasonDiskSlow,
		Message: fmt.Sprintf("the disk of leader %s is slow: an fsync takes more than %s", m.Name, slowFlush),
	}
}

// laggards reports the voters that have been far behind for a while; nil if none is. It has no numbers that change while they are.
func (v *view) laggards() *failure.Problem {
	var names []string
	for _, m := range v.voters {
		if v.farBehind(m) {
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &failure.Problem{
		Reason:  v1beta2.ReasonMemberBehind,
		Message: fmt.Sprintf("%s: more than %d raft entries behind the others, at every look for %s and longer", list(names), LagLimit, lagPatience),
	}
}

// farBehind reports whether a voter has been far behind for a while.
func (v *view) farBehind(m Member) bool {
	a, ok := v.answer(m)
	return ok && a.Behind >= lagPatience
}

// leader returns the voter that leads, the zero Member if none is known.
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

// restartHungMember restarts a voter whose disk hangs. The other voters have already elected a new leader, but clients that are
// connected to the hung member stay with it: etcd accepts their requests and cannot complete them. Terminating etcd closes its
// connections even if the disk does not respond, and the data stays on the volume.
//
// A member on an emptyDir would lose its data, so it is left to recover.
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

// moveLeaderOffSlowDisk moves leadership away from a slow disk: nothing is committed faster than the leader writes, whereas a
// slow follower does not slow the others down. The thresholds are strict so that leadership does not oscillate.
func moveLeaderOffSlowDisk(v *view) Action {
	leader, all := v.leader(), len(v.voters)
	if v.SlowLeader == nil || v.healthyVoters("") < all || !v.Cluster.LeaderMoved.IsZero() && v.Now.Sub(v.Cluster.LeaderMoved) < leaderCooldown {
		return nil
	}
	heir := Member{}
	for _, m := range v.voters {
		d := v.disk(m)
		able := v.pods[m.Name].Ready && m.ID != v.Quarantined.ID && m.ID != v.Doubt.Suspect && d.Watched >= minWatch && d.FlushTime > 0 && d.FlushTime*minSpeedup <= v.disk(leader).FlushTime
		if able && (heir.ID == 0 || d.FlushTime < v.disk(heir).FlushTime) {
			heir = m
		}
	}
	if heir.ID == 0 {
		return nil
	}
	return MoveLeader{From: leader.ID, To: heir.ID, FromName: leader.Name, ToName: heir.Name, Slow: leader.Name}
}
