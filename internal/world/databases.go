package world

import (
	"cmp"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Database is the file of a member's database, and what is done with it.
type Database struct {
	// Stuffed is true while the file is as large as the lowest quota of a member, and Holey while much of it is free.
	Stuffed, Holey bool
	// Copied is true while a snapshot of it is read, and Busy while it is being defragmented.
	Copied, Busy bool
	// Quota is what the server was given instead of the spec's, 0 if nothing.
	Quota int64
	// Left is what the operator remembers of the last defragmentation: nothing, that it has left little free, or much.
	Left left
}

type left int

const (
	unknown left = iota
	little
	much
)

// databases is what becomes of databases.
var databases = map[Kind]transition{
	defragmented: {
		name:  "a member is defragmented",
		ifPod: func(_ *World, p *Pod) bool { return p.Busy },
		onPod: func(w *World, p *Pod) {
			p.Busy = false
			if !w.serverRuns(p) {
				return
			}
			w.neaten(p)
			if p.Left = much; !w.Glued {
				p.Stuffed, p.Holey, p.Left = false, false, little
			}
		},
	},
	snapshotRead: {
		name:  "a snapshot is read to its end",
		ifPod: func(_ *World, p *Pod) bool { return p.Copied },
		onPod: func(_ *World, p *Pod) { p.Copied = false },
	},
	fragments: {
		name:  "much of a database is free",
		ifPod: func(w *World, p *Pod) bool { return !p.Holey && !p.Busy && w.serverRuns(p) },
		onPod: func(_ *World, p *Pod) { p.Holey = true },
	},
	snapshotBegins: {
		name:  "a snapshot of a member is read",
		ifPod: func(w *World, p *Pod) bool { return !p.Copied && !p.Busy && w.serverRuns(p) },
		onPod: func(_ *World, p *Pod) { p.Copied = true },
	},
	keysFill: {
		name:    "keys fill more than four fifths of the quota",
		ifWorld: func(w *World) bool { return w.Keys < maxKeys && keysInUse[w.Keys+1] < w.lowestQuota() },
		onWorld: func(w *World) { w.Keys++ },
	},
	roomSticks: {
		name:    "nothing that is done about databases has an effect",
		ifWorld: func(w *World) bool { return !w.Glued },
		onWorld: func(w *World) { w.Glued = true },
	},
}

// DatabaseFaults are what Auto Pilot reacts to, and what it must not act in. PageFaults are those of them that cost clients nothing.
var (
	DatabaseFaults = []Kind{quotaReached, fragments, snapshotBegins, roomSticks}
	PageFaults     = []Kind{fragments}
	SpaceFaults    = []Kind{quotaReached, roomSticks}
	// KeyFaults are of clients that write more and more keys.
	KeyFaults = []Kind{keysFill}
)

// fill has all members' files be at their quotas, by history and keys. Where nobody looks at them it matters to nobody.
func (w *World) fill() {
	w.Full = true
	for i := range w.Pods {
		if w.cfg.Autopilot.NoSpace != plan.ModeOff && w.serverRuns(&w.Pods[i]) {
			w.Pods[i].Stuffed, w.History = true, true
		}
	}
}

// empty is what somebody does who makes room.
func (w *World) empty() {
	w.Full, w.History = false, false
	for i := range w.Pods {
		w.Pods[i].Stuffed = false
	}
}

// forgetDatabases is what becomes of the operator's memory when it ends.
func (w *World) forgetDatabases() {
	for i := range w.Pods {
		w.Pods[i].Left = unknown
	}
}

// compact gives up history: its pages are free then.
func (w *World) compact() bool {
	for i := range w.Pods {
		w.Pods[i].Holey = w.Pods[i].Holey || w.Pods[i].Stuffed && !w.Glued
	}
	w.History = false
	return true
}

// disarm takes an alarm back.
func (w *World) disarm(e plan.Disarm) bool {
	if w.cfg.seed != nil {
		return w.disarmTold(e)
	}
	if e.Kind == plan.AlarmCorrupt {
		return w.disarmCorrupt(e)
	}
	w.Full = false
	return true
}

// beginDefragment is refused while another one is under way: the operator has one request at a time.
func (w *World) beginDefragment(e plan.Defragment) bool {
	p := w.pod(e.Name)
	if p == nil || p.UID != e.UID || !w.serverRuns(p) || w.running(func(p *Pod) bool { return p.Busy }) != nil {
		return false
	}
	p.Busy = true
	return true
}

// running is the first pod that is so and in which a voter runs, nil if none is.
func (w *World) running(is func(*Pod) bool) *Pod {
	for i := range w.Pods {
		p := &w.Pods[i]
		if s, runs := w.server(p); is(p) && runs && s.member != nil && !s.member.Learner {
			return p
		}
	}
	return nil
}

const (
	mebi  = 1 << 20
	quota = 1000 * mebi
)

// Each time that keys fill a quota, they do not fill the next one, of half as much more. The first time they leave less than a tenth of it, so that the
// alarm cannot be disarmed although the file is below the quota. The last one is above what is allowed.
var (
	keysInUse = []int64{290 * mebi, 920 * mebi, 1300 * mebi, 1950 * mebi}
	maxKeys   = len(keysInUse) - 1
)

// given is what the server takes for its quota.
func (p *Pod) given() int64 { return cmp.Or(p.Quota, quota) }

// lowestQuota is the one that servers reach first.
func (w *World) lowestQuota() int64 {
	lowest := int64(0)
	for i := range w.Pods {
		if p := &w.Pods[i]; w.serverRuns(p) && (lowest == 0 || p.given() < lowest) {
			lowest = p.given()
		}
	}
	return cmp.Or(lowest, quota)
}

// nearQuota reports whether the first writes may raise the member's alarm again.
func (w *World) nearQuota(p *Pod) bool {
	const tenth = 10
	file, _ := w.size(p)
	return file > p.given()-p.given()/tenth
}

// size is that of a file, and what of it is in use.
func (w *World) size(p *Pod) (file, inUse int64) {
	inUse = keysInUse[w.Keys]
	file = inUse + 10*mebi
	if p.Stuffed {
		file = w.lowestQuota()
		inUse = file - mebi
	}
	if p.Holey {
		inUse = 90 * mebi
	}
	return file, inUse
}

// lookAtDatabases adds what is known of them, as far as the operator looks.
func (w *World) lookAtDatabases(o *plan.Observed) {
	if o.Cluster.Autopilot, o.MayDisturb = w.autopilot(), !w.Braked; !w.piloted() {
		return
	}
	w.lookAtPatches(o)
	if w.cfg.Autopilot.Grow != plan.ModeOff {
		o.Cluster.SpecQuota, o.Cluster.Quota = quota, cmp.Or(w.Status.Tuned.Quota, quota)
		for i := range o.Pods {
			o.Pods[i].StorageLimit = 8 << 30
		}
	}
	o.Etcd.PastRevision = w.pastRevision()
	if o.Etcd.Contact != plan.ContactQuorum || !plan.DatabasesDue(*o) && !plan.EvictionsBlocked(*o) {
		return
	}
	for _, seen := range o.Pods {
		p := w.pod(seen.Name)
		if p == nil || p.UID != seen.UID || !w.serverRuns(p) {
			continue
		}
		d := plan.Database{Pod: p.Name, PodUID: p.UID, Known: true, Copied: p.Copied, Rests: true}
		if p.Busy {
			d.Defragmenting = base
		}
		if !w.History {
			d.Compacted = pastRevision
		}
		if p.Left != unknown {
			d.Last = &plan.Defragmentation{At: base, Free: 10 * mebi}
			if file, inUse := w.size(p); p.Left == much {
				d.Last.Free = file - inUse
			}
		}
		o.Etcd.Databases = append(o.Etcd.Databases, d)
	}
}
