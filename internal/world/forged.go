package world

import (
	"slices"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Lie is what a forged pod says. All of them know the cluster's ID, lead it in a term that is later than any, and tell of an alarm.
type Lie int

// Lies. Each serves a purpose that one who may create pods can have.
const (
	honest Lie = iota
	// alone lists nobody but itself: whoever believes that deletes all others.
	alone
	// early and late confirm who the members are, with a revision that is lower or higher than any, and say that nobody
	// has ever started.
	early
	late
)

// forgery is a name that no member gets by itself.
const forgery = "c-7"

// forge makes a pod of the cluster's own shape, as the operator makes them.
func (w *World) forge(name string, lie Lie) {
	incarnation := 0
	if b := w.Status.Bootstrap; b != nil {
		incarnation = b.Incarnation
	}
	w.Pods = append(w.Pods, Pod{
		Name: name, UID: w.newUID("p", name), Incarnation: incarnation, Phase: plan.Running, Lie: lie,
		Permit:  &member.Permit{Mode: member.ModeResume, ClusterID: member.ID(w.Status.ExpectedID()), MemberID: 0xf0},
		Version: w.version(), Runs: w.version(), Template: w.template(), Labels: w.Labels, Resources: w.Resources,
	})
	slices.SortFunc(w.Pods, func(a, b Pod) int { return plan.CompareNames(a.Name, b.Name) })
}

// forgers are the faults in which somebody makes such a pod: beside the members, or in the place of a voter whose own pod
// is gone, as long as a majority of the voters is what it seems.
func forgers() map[Kind]transition {
	table := map[Kind]transition{podForged: {
		name:    "pod forged",
		ifWorld: func(w *World) bool { return w.Status.ExpectedID() != 0 && w.pod(forgery) == nil },
		onWorld: func(w *World) { w.forge(forgery, alone) },
	}}
	for kind, lie := range map[Kind]Lie{voterForged: alone, voterForgedEarly: early, voterForgedLate: late} {
		table[kind] = transition{
			name:    "voter forged",
			ifWorld: func(w *World) bool { return w.vacant() != "" },
			onWorld: func(w *World) { w.forge(w.vacant(), lie) },
		}
	}
	return table
}

// vacant is the name of a voter that has no pod, empty if there is none, or if one more liar were too many.
func (w *World) vacant() string {
	g := w.Etcd.Group(w.Status.ID)
	if w.Status.ID == 0 || g == nil {
		return ""
	}
	vacant, liars := "", 1
	for _, name := range w.Status.Voters {
		if p := w.pod(name); p == nil {
			vacant = name
		} else if p.Lie != honest {
			liars++
		}
	}
	n := len(w.Status.Voters)
	if g.Named(vacant) == nil || liars > n-etcdtest.Quorum(n) {
		return ""
	}
	return vacant
}

// lie is what a forged pod says.
func (w *World) lie(p *Pod) plan.Response {
	const huge = 1 << 40
	id := uint64(0xbad)
	g := w.group()
	if g != nil && g.Named(p.Name) != nil {
		id = g.Named(p.Name).ID
	}
	word := plan.Response{Term: huge, Answer: plan.Answer{
		Pod: p.Name, PodUID: p.UID, MemberID: id, ClusterID: w.Status.ExpectedID(), Leader: id, Version: p.Version,
		Revision: huge, Applied: huge, Committed: huge, Alarms: []plan.Alarm{{Kind: plan.AlarmCorrupt, Member: id}},
	}}
	if p.Lie == alone || g == nil {
		word.Read = &plan.Read{ClusterID: word.ClusterID, Revision: huge, Members: []plan.Member{
			{ID: id, Name: p.Name, PeerURL: w.cluster().PeerURL(p.Name), Published: true},
		}}
		return word
	}
	word.Read = w.linearizable(g)
	for i := range word.Read.Members {
		word.Read.Members[i].Published = false
	}
	if word.Read.Revision = 1; p.Lie == late {
		word.Read.Revision = huge
	}
	return word
}

// addClaims adds what a user may have made of the cluster's own claims: a copy of one with data, at a name that is yet to
// come and at another one, and a claim that has but the labels.
func (w *World) addClaims() {
	var copied plan.Volume
	if len(w.Volumes) > 0 {
		copied = w.Volumes[0].Volume
	}
	for _, name := range []string{"c-3", forgery, "c-8"} {
		c := copied
		if name == "c-8" {
			c = plan.Volume{}
		}
		c.Name, c.UID, c.Owned, c.Foreign = name, "foreign-"+name, false, "a copy"
		w.Volumes = append(w.Volumes, Volume{Volume: c})
	}
}

// addCopy puts a copy in the place of the initial member's claim: restored from a backup it has another UID.
func (w *World) addCopy() {
	if v := w.volume(clusterName + "-0"); v != nil {
		w.Etcd.Lose(v.UID)
		v.UID, v.Owned, v.Foreign = "foreign-"+v.Name, false, "a copy"
		return
	}
	w.addForeign(clusterName + "-0")
}

// addForeign adds a claim of another owner's.
func (w *World) addForeign(name string) {
	w.Volumes = append(w.Volumes, Volume{Volume: plan.Volume{Name: name, UID: "foreign-" + name, Foreign: "somebody else's"}})
}

// unclaimed is a initial member that is to have a volume and has none yet, nor a pod; empty if there is none.
func (w *World) unclaimed() string {
	b := w.Status.Bootstrap
	if w.Status.ID != 0 || b == nil || !w.Persistent {
		return ""
	}
	for _, name := range b.Members {
		if w.volume(name) == nil && w.pod(name) == nil {
			return name
		}
	}
	return ""
}
