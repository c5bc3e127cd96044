package world

import (
	"slices"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Observe is what a pass sees that has read the Kubernetes objects in k and then asks etcd.
func (w *World) Observe(k *Kube) plan.Observed {
	o := plan.Observed{Now: base, Cluster: k.cluster()}
	o.Pods = make([]plan.Pod, 0, len(k.Pods))
	for i := range k.Pods {
		p := observePod(&k.Pods[i])
		p.Ready = w.ready(&k.Pods[i])
		p.Drift.Template = k.Pods[i].Template != k.Template
		if k.Pods[i].Stuck || k.unmountable(&k.Pods[i]) {
			p.Problem = "cannot be scheduled"
		} else if p.Phase == plan.Running && w.poisoned(p.Version, k.Pods[i].Template) && !w.serverRuns(&k.Pods[i]) {
			p.Problem = "etcd ends at every start"
		}
		o.Pods = append(o.Pods, p)
	}
	for i := range k.Volumes {
		v := k.Volumes[i].Volume
		v.Drift = k.Volumes[i].Class != k.Class
		v.Former = k.Volumes[i].Template == k.Status.Former && k.Status.Former != k.Template
		o.Volumes = append(o.Volumes, v)
	}
	o.Pulls = slices.Clone(k.Pulls)
	settled := k.Budget.Seen
	for i := range k.Pods {
		settled = settled && (!k.Pods[i].Evicting || k.Pods[i].Deleting)
	}
	if k.Budget.Exists {
		o.Budget = plan.Budget{Exists: true, MinAvailable: k.Budget.Min, Settled: settled}
	}
	o.Etcd = w.observeEtcd(k)
	return o
}

// ready is the pod's Ready condition: etcd's readiness, as long as the node reports it.
func (w *World) ready(p *Pod) bool {
	s, runs := w.server(p)
	return runs && !p.Down && s.group.Leader != 0 && s.member != nil && !s.member.Learner
}

// zones are two, so that crowding decides who has to go.
var zones = [2]string{"a", "b"}

func observePod(p *Pod) plan.Pod {
	n := ordinal(p.Name)
	out := plan.Pod{
		Name: p.Name, UID: p.UID, Incarnation: p.Incarnation, Phase: p.Phase, Node: "n-" + p.Name, Zone: zones[n%2],
		Deleting: p.Deleting, Created: base, Permit: p.Permit, Exit: p.Exit, Refused: p.Refused, Serving: p.Serving,
		Persistent: p.Persistent, Version: p.Version, Restarting: p.Restarting, Restores: p.Token != "",
	}
	if p.Phase != plan.Pending {
		out.IP = "ip-" + p.UID
	}
	if p.Old {
		out.Created = base.Add(-time.Hour)
	}
	if p.Permit != nil {
		out.Permitted = out.Created
	}
	if p.Deleting {
		out.Deadline = base.Add(30 * time.Second)
		if p.Overdue {
			out.Deadline = base.Add(-time.Hour)
		}
	}
	return out
}

// observeEtcd asks the pods that were read and that are still there.
func (w *World) observeEtcd(k *Kube) plan.Etcd {
	var e plan.Etcd
	for i := range k.Pods {
		asked := &k.Pods[i]
		p := w.pod(asked.Name)
		if asked.Phase != plan.Running || asked.Permit == nil || p == nil || p.UID != asked.UID ||
			!k.cluster().Current(asked.Incarnation) {
			continue
		}
		if p.Foreign {
			e.Answers = append(e.Answers, plan.Answer{
				Pod: p.Name, PodUID: p.UID, MemberID: 0xbad, ClusterID: 0xbad, Leader: 0xbad, Version: p.Version,
			})
		} else if s, runs := w.server(p); runs {
			e.Answers = append(e.Answers, w.answer(p, s))
			if e.Contact != plan.ContactQuorum && s.group.Leader != 0 && s.member != nil && !s.member.Learner {
				readLinearizable(&e, s.group)
			}
		}
	}
	if e.Contact != plan.ContactQuorum && len(e.Answers) > 0 {
		e.Contact = plan.ContactMinority
	}
	return e
}

func readLinearizable(e *plan.Etcd, g *etcdtest.Group) {
	e.Contact, e.ClusterID, e.Revision = plan.ContactQuorum, g.ID, revision(g.Written)
	for _, m := range g.Members {
		e.Members = append(e.Members, plan.Member{
			ID: m.ID, Name: m.Name, PeerURL: m.PeerURL, Published: m.Published, Learner: m.Learner,
		})
	}
}

func revision(written bool) int64 {
	if written {
		return 2
	}
	return 1
}

func (w *World) answer(p *Pod, s server) plan.Answer {
	a := plan.Answer{
		Pod: p.Name, PodUID: p.UID, MemberID: s.disk.MemberID, ClusterID: s.disk.ClusterID, Leader: s.group.Leader,
		Version: p.Runs, Revision: revision(s.group.Written && s.disk.Synced), Committed: 100,
		Learner: s.member != nil && s.member.Learner,
	}
	if s.disk.Version >= 6 {
		a.Storage, a.Downgrade = minorName(s.disk.Schema), minorName(s.group.Downgrade)
	}
	if s.disk.Synced {
		a.Applied = 100
	}
	return a
}
