package world

import (
	"cmp"
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Recalled is what becomes of what was seen in a seeded world.
type Recalled struct {
	// Told are etcd's alarms, but those that the operator has disarmed since.
	Told []plan.Alarm
	// Neat are the members that were defragmented since.
	Neat []uint64
}

// recall has the operator see again in a seeded world what was seen that the model has nothing of: how far Auto Pilot goes, how full databases
// are, and how disks and data are. It stays so, as far as nothing that is done changes it.
func (w *World) recall(o *plan.Observed) {
	seen := w.cfg.seed
	o.Cluster.Autopilot, o.MayDisturb = w.cfg.Autopilot, seen.MayDisturb
	w.recallCluster(&o.Cluster, &seen.Cluster)
	for i := range o.Pods {
		p := &o.Pods[i]
		j := slices.IndexFunc(seen.Pods, func(was plan.Pod) bool { return was.Name == p.Name })
		if j = max(j, 0); len(seen.Pods) > 0 { // what a new one may use follows from the spec, too
			p.StorageLimit = seen.Pods[j].StorageLimit
		}
	}
	e := &o.Etcd
	if e.Revision != 0 {
		e.Revision, e.RevisionCeiling = seen.Etcd.Revision, seen.Etcd.RevisionCeiling
	}
	e.PastRevision, e.DefragmentRate, e.RoomMade = seen.Etcd.PastRevision, seen.Etcd.DefragmentRate, seen.Etcd.RoomMade
	e.Compared, e.Histories = seen.Etcd.Compared, seen.Etcd.Histories
	for i := range e.Answers {
		w.recallAnswer(&e.Answers[i])
	}
	if e.Contact == plan.ContactQuorum && (plan.DatabasesDue(*o) || plan.EvictionsBlocked(*o)) {
		e.Databases = w.recallDatabases()
	}
}

func (w *World) recallCluster(c, was *plan.Cluster) {
	c.NewestPatch, c.BackingUp, c.Backup, c.RefusedElsewhere = was.NewestPatch, was.BackingUp, was.Backup, w.then(was.RefusedElsewhere)
	c.Backup.Taken = w.then(was.Backup.Taken)
	c.Autopilot.Window.Ends, c.Autopilot.Window.Next = w.then(was.Autopilot.Window.Ends), w.then(was.Autopilot.Window.Next)
	if c.SpecQuota, c.Quota = was.SpecQuota, was.Quota; w.Status.Tuned.Quota != was.Tuned.Quota {
		c.Quota = cmp.Or(w.Status.Tuned.Quota, was.SpecQuota)
	}
}

// recallAnswer adds what a member says of its database. A new member's is a copy of the leader's.
func (w *World) recallAnswer(a *plan.Answer) {
	seen := w.cfg.seed
	a.Alarms = slices.DeleteFunc(slices.Clone(w.Told), func(a plan.Alarm) bool {
		return a.Kind == plan.AlarmCorrupt && !w.Alarm || a.Kind == plan.AlarmNoSpace && !w.Full
	})
	i := slices.IndexFunc(seen.Etcd.Answers, func(was plan.Answer) bool { return was.MemberID == a.MemberID })
	if i < 0 {
		i = slices.IndexFunc(seen.Etcd.Answers, func(was plan.Answer) bool { return was.MemberID == was.Leader })
	}
	if i < 0 {
		return
	}
	was := seen.Etcd.Answers[i]
	if a.DBSize, a.DBSizeInUse, a.Quota = was.DBSize, was.DBSizeInUse, was.Quota; slices.Contains(w.Neat, a.MemberID) {
		a.DBSize = a.DBSizeInUse
	}
	if p := w.pod(a.Pod); p != nil && p.UID != was.PodUID && was.Quota > 0 { // etcd has started with another one, perhaps
		a.Quota = cmp.Or(p.Quota, seen.Cluster.SpecQuota)
	}
}

// recallDatabases is what a look at the members' metrics tells: of a pod that was not looked at, nothing that keeps it from being defragmented.
func (w *World) recallDatabases() (all []plan.Database) {
	for i := range w.Pods {
		p := &w.Pods[i]
		s, runs := w.server(p)
		if !runs {
			continue
		}
		d := plan.Database{Pod: p.Name, PodUID: p.UID, Known: true, Rests: true}
		if was := databaseOf(w.cfg.seed, p.UID); was != nil {
			if d = *was; d.Last != nil {
				last := *d.Last
				last.At = w.then(last.At)
				d.Last = &last
			}
		}
		if d.Copied, d.Defragmenting = p.Copied, (time.Time{}); p.Busy {
			d.Defragmenting = base
		}
		if slices.Contains(w.Neat, s.disk.MemberID) {
			d.Last, d.Removed = &plan.Defragmentation{At: base}, 0
		}
		all = append(all, d)
	}
	return all
}

// then is when something was that has a time, by the clock of the world; zero stays zero.
func (w *World) then(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return base.Add(t.Sub(w.cfg.seed.Now))
}

// neaten notes that a member's database has nothing free any more.
func (w *World) neaten(p *Pod) {
	if d := w.disk(p); w.cfg.seed != nil && d != nil {
		w.Neat = append(slices.Clip(w.Neat), d.MemberID)
	}
}

// disarmTold takes one alarm back of those that were seen.
func (w *World) disarmTold(e plan.Disarm) bool {
	w.Told = slices.DeleteFunc(slices.Clone(w.Told), func(a plan.Alarm) bool { return a == e.Alarm })
	left := func(kind plan.AlarmKind) bool {
		return slices.ContainsFunc(w.Told, func(a plan.Alarm) bool { return a.Kind == kind })
	}
	w.Alarm, w.Full = w.Alarm && left(plan.AlarmCorrupt), w.Full && left(plan.AlarmNoSpace)
	return true
}
