package world

import (
	"time"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// disks is what disks do, and what etcd finds out about the data on them.
var disks = map[Kind]transition{
	diskAnswers: {
		name:  "disk answers again",
		ifPod: func(_ *World, p *Pod) bool { return p.Hung },
		onPod: func(_ *World, p *Pod) { p.Hung = false },
	},
	alarmDisarmed: {
		name:    "somebody disarms the alarm",
		ifWorld: func(w *World) bool { return w.Alarm || w.Full },
		onWorld: func(w *World) { w.Alarm = false; w.empty() },
	},
	diskSlows: {
		name:  "disk is slow",
		ifPod: func(w *World, p *Pod) bool { return !p.Slow && w.serverRuns(p) },
		onPod: func(_ *World, p *Pod) { p.Slow = true },
	},
	diskHangs: {
		name:  "disk does not answer",
		ifPod: func(w *World, p *Pod) bool { return !p.Hung && w.serverRuns(p) },
		onPod: func(w *World, p *Pod) { // the others do without it, and elect one of themselves
			w.Etcd.Stop(w.dir(p))
			p.Hung = true
		},
	},
	alarmRaised: {
		name:    "etcd finds that the data differ",
		ifWorld: func(w *World) bool { return !w.Alarm && w.Etcd.Read(w.Status.ID) },
		onWorld: func(w *World) { w.Alarm = true },
	},
	quotaReached: {
		name:    "a member's database reaches its quota",
		ifWorld: func(w *World) bool { return !w.Full && w.Etcd.Read(w.Status.ID) },
		onWorld: (*World).fill,
	},
	dataRolledBack: {
		name: "somebody puts old data in the place of the members'",
		ifWorld: func(w *World) bool {
			g := w.Etcd.Group(w.Status.ID)
			return w.Status.ID != 0 && g != nil && g.Written && w.Status.Revision >= writtenRevision
		},
		onWorld: func(w *World) { w.Etcd.Group(w.Status.ID).Written = false },
	},
}

// Faults of disks, of the data on them, and of the room for it.
var (
	DiskFaults = []Kind{diskSlows, diskHangs}
	DataFaults = []Kind{alarmRaised, dataRolledBack}
	RoomFaults = []Kind{quotaReached}

	// DisputeFaults are alarms about data, and pods that do not start again.
	DisputeFaults = []Kind{alarmRaised, podKilled, podStuck}
)

// disks is what a look at the disks has shown: there is one only while something is slow.
func (w *World) disks(k *Kube) []plan.Disk {
	var all []plan.Disk
	slow := false
	for i := range k.Pods {
		p := w.pod(k.Pods[i].Name)
		if p == nil || p.UID != k.Pods[i].UID || !p.Hung && !w.serverRuns(p) {
			continue
		}
		d := plan.Disk{Pod: p.Name, PodUID: p.UID, Watched: time.Minute, FlushTime: time.Millisecond}
		switch {
		case p.Hung:
			d.FlushTime, d.Stalled = 0, time.Minute
		case p.Slow:
			d.FlushTime = time.Second
		}
		slow = slow || p.Hung || p.Slow
		all = append(all, d)
	}
	if !slow {
		return nil
	}
	return all
}

// fromMemory is what an etcd says whose disk does not answer: what was so before, at worst that it leads.
func fromMemory(p *Pod, d *etcdtest.Disk) plan.Response {
	return plan.Response{Answer: plan.Answer{
		Pod: p.Name, PodUID: p.UID, Version: p.Runs, MemberID: d.MemberID, ClusterID: d.ClusterID, Leader: d.MemberID,
	}}
}
