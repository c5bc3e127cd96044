package world

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Observe is what a pass sees that has read the Kubernetes objects in k and then asks etcd.
func (w *World) Observe(k *Kube) plan.Observed {
	o := plan.Observed{Now: base, Cluster: w.named(k.cluster())}
	o.Pods = make([]plan.Pod, 0, len(k.Pods))
	o.Conflicts = k.conflicts()
	for i := range k.Pods {
		if k.Pods[i].Former {
			continue
		}
		p := observePod(&k.Pods[i])
		w.placed(&p)
		p.Ready = w.ready(&k.Pods[i]) || k.Pods[i].Lie != honest
		p.NotReadyByKubelet = !p.Ready && !k.Pods[i].Down
		p.Drift = k.drift(&k.Pods[i])
		w.startProblem(k, &k.Pods[i], &p)
		o.Pods = append(o.Pods, p)
	}
	if k.Legacy {
		o.Pods = append(o.Pods, legacyPod)
	}
	former := k.Status.previousTemplate()
	for i := range k.Volumes {
		v := k.Volumes[i].Volume
		v.Drift = k.Volumes[i].Class != k.Class
		v.FromPreviousSpec = k.Volumes[i].Template == former && former != k.template()
		o.Volumes = append(o.Volumes, v)
	}
	o.PrepullPods = slices.Clone(k.Pulls)
	o.Refused = w.refused()
	settled := k.Budget.Seen
	for i := range k.Pods {
		settled = settled && (!k.Pods[i].Evicting || k.Pods[i].Deleting)
	}
	if k.Budget.Exists {
		o.Budget = plan.Budget{Exists: true, MinAvailable: k.Budget.Min, Settled: settled}
	}
	if words := w.words(k, o.ByTLS()); w.cfg.Judge != nil {
		o.Etcd = w.cfg.Judge(o.Electorate(), words)
	} else {
		o.Etcd = o.Electorate().Judge(words)
	}
	if o.Etcd.Contact != plan.ContactQuorum {
		o.Cluster.QuorumLostSince = base.Add(-time.Hour)
	}
	o.Etcd.Disks, o.Etcd.Compared = w.disks(k), w.compared(o.Etcd)
	o.Etcd.Histories = w.histories(o.Etcd.Members)
	o.Etcd.Reached = w.foundByAll(o.Etcd.Members)
	if w.cfg.seed != nil {
		w.recall(&o)
		return o
	}
	w.lookAtDatabases(&o)
	w.lookAtUsage(k, &o)
	return o
}

// startProblem is what Kubernetes says of why a pod, or etcd in it, does not start.
func (w *World) startProblem(k *Kube, p *Pod, seen *plan.Pod) {
	switch {
	case p.Phase == plan.Pending && k.away(p):
		seen.Node, seen.StartProblem = "", unscheduled
	case p.Stuck || k.unmountable(p):
		seen.StartProblem = "cannot be scheduled"
	case p.Mute:
		seen.Node, seen.WaitsFor = "n", "its volume never mounts"
	case p.Terminal:
		seen.RestoreFailure = &failure.Problem{Reason: "SnapshotDamaged", Terminal: true}
	case w.sidecarFails(p.Template) && p.Phase != plan.Finished:
		seen.StartProblem, seen.SidecarNotReady = "another container's image is not there", w.etcdReady(p)
		if p.Permit == nil {
			seen.Phase = plan.Pending
		}
	case p.Phase == plan.Running && !w.serverRuns(p) && (p.Starved || w.ends(p)):
		seen.StartProblem = "etcd ends at every start"
	}
}

// ready is the pod's Ready condition, as long as the node reports it.
func (w *World) ready(p *Pod) bool { return w.etcdReady(p) && !w.sidecarFails(p.Template) && !p.Down }

// etcdReady is what the probe of etcd's container finds.
func (w *World) etcdReady(p *Pod) bool {
	s, runs := w.server(p)
	return runs && s.group.Leader != 0 && s.member != nil && !s.member.Learner && w.Etcd.Connected(s.disk.Dir) &&
		w.Apart != p.Name
}

// zones are two, so that crowding decides who has to go.
var zones = [2]string{"a", "b"}

func observePod(p *Pod) plan.Pod {
	n := ordinal(p.Name)
	out := plan.Pod{
		Name: p.Name, UID: p.UID, Incarnation: p.Incarnation, Phase: p.Phase, Node: "n-" + p.Name, Zone: zones[n%2],
		Deleting: p.Deleting, Created: base, Permit: p.Permit, Exit: p.Exit, RefusedAttempt: p.Refused, InService: p.Serving,
		Persistent: p.Persistent, Version: p.Version, Restarting: p.Restarting, Restores: p.Token != "", ResizeInfeasible: p.Unfit,
		Transport: p.Transport, Avoids: p.Avoids, Restarts: p.Restarts, Quota: p.given(),
	}
	if p.Resizing {
		out.Resizing = "in progress"
	}
	if p.Phase != plan.Pending {
		out.IP = "ip-" + p.UID
	}
	if p.Old {
		out.Created = base.Add(-time.Hour)
	}
	if p.Permit != nil {
		out.PermittedAt = out.Created
	}
	if p.Deleting {
		out.Deadline = base.Add(30 * time.Second)
		if p.Overdue {
			out.Deadline = base.Add(-time.Hour)
		}
	}
	return out
}

// words are what the pods say that were read and that are still there, to an operator that connects by TLS or without.
func (w *World) words(k *Kube, tls bool) []plan.Response {
	words := make([]plan.Response, 0, len(k.Pods))
	reads := map[uint64]*plan.Read{}
	for i := range k.Pods {
		asked := &k.Pods[i]
		p := w.pod(asked.Name)
		if asked.Phase != plan.Running || asked.Permit == nil || p == nil || p.UID != asked.UID ||
			asked.Former || !w.speaks(p, tls) || w.Apart != "" && w.Apart != p.Name ||
			!k.Status.CurrentPod(plan.Pod{Incarnation: asked.Incarnation, Permit: asked.Permit}) {
			continue
		}
		if p.Lie != honest {
			words = append(words, w.lie(p))
		} else if p.Foreign {
			words = append(words, plan.Response{Answer: plan.Answer{
				Pod: p.Name, PodUID: p.UID, MemberID: 0xbad, ClusterID: 0xbad, Leader: 0xbad, Version: p.Version,
			}, Term: 1})
		} else if d := w.disk(p); p.Hung && d != nil {
			words = append(words, fromMemory(p, d))
		} else if s, runs := w.server(p); runs {
			word := plan.Response{Answer: w.answer(p, s), Term: 1}
			if word.Answer.Leader != 0 && s.member != nil && !s.member.Learner {
				if reads[s.group.ID] == nil {
					reads[s.group.ID] = w.linearizable(s.group)
				}
				word.Read = reads[s.group.ID]
			}
			words = append(words, word)
		}
	}
	return words
}

// linearizable is what a quorum of the group says, but the revision while etcd refuses to read keys.
func (w *World) linearizable(g *etcdtest.Group) *plan.Read {
	r := &plan.Read{ClusterID: g.ID, Revision: revision(g), Members: make([]plan.Member, 0, len(g.Members))}
	for _, m := range g.Members {
		r.Members = append(r.Members, plan.Member{
			ID: m.ID, Name: m.Name, PeerURL: m.PeerURL, Published: m.Published, Learner: m.Learner,
		})
	}
	if w.Alarm {
		r.Revision = 0
	}
	return r
}

// writtenRevision is that of a cluster that a client has written to: far enough for it to be noted.
const writtenRevision = 2000

func revision(g *etcdtest.Group) int64 {
	if g.Written {
		return writtenRevision
	}
	return 1
}

func (w *World) answer(p *Pod, s server) plan.Answer {
	reached := int64(1)
	if s.disk.Synced {
		reached = revision(s.group)
	}
	a := plan.Answer{
		Pod: p.Name, PodUID: p.UID, MemberID: s.disk.MemberID, ClusterID: s.disk.ClusterID, Leader: s.group.Leader,
		Version: p.Runs, Revision: reached, Committed: 100,
		Learner: s.member != nil && s.member.Learner,
	}
	if !w.Etcd.Connected(s.disk.Dir) || w.Apart != "" {
		a.Leader = 0
	}
	if s.disk.Version >= 6 {
		a.Storage, a.Downgrade = minorName(s.disk.Schema), minorName(s.group.Downgrade)
	}
	if s.disk.Synced {
		a.Applied = 100
	}
	if w.cfg.Autopilot != (plan.Autopilot{}) {
		a.Quota = p.given()
		a.DBSize, a.DBSizeInUse = w.size(p)
	}
	if w.Alarm {
		a.Alarms = append(a.Alarms, w.corruption(s.group))
	}
	if w.Full {
		a.Alarms = append(a.Alarms, plan.Alarm{Kind: plan.AlarmNoSpace, Member: s.group.Leader})
	}
	return a
}
