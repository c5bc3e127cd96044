package world

import (
	"slices"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// canStart reports whether a node takes the pod and mounts its volume.
func (w *World) canStart(p *Pod) bool {
	return p.Phase == plan.Pending && !p.Deleting && !p.Down && !p.Stuck && !p.Mute && !p.Terminal && !w.unmountable(p)
}

// startPod runs the pod's init containers: one that restores leaves alone what is there.
func (w *World) startPod(p *Pod) {
	p.Phase = plan.Running
	if v := w.volume(p.Name); w.cfg.Local && p.Persistent && v != nil {
		v.Tied = true
	}
	if p.Token == "" || w.disk(p) != nil {
		return
	}
	url := w.cluster().PeerURL(p.Name)
	ids, cluster := plan.IDs(p.Token, map[string]string{p.Name: url})
	w.Etcd.Restore(w.dir(p), cluster, etcdtest.Member{ID: ids[p.Name], Name: p.Name, PeerURL: url})
	if w.Status.ID != cluster { // what was written to an attempt that has lost its one volume is nowhere any more
		w.Etcd.Group(cluster).Written = false
	}
}

// unmountable reports whether the scheduler passes a pod over because of its volume.
func (k *Kube) unmountable(p *Pod) bool {
	if !p.Persistent || p.Phase != plan.Pending {
		return false
	}
	v := k.volume(p.Name)
	return v == nil || v.Deleting || v.Lost || v.Away || v.Class < 0
}

// admit is what member-run decides now in a pod with a permit.
func (w *World) admit(p *Pod) (member.Start, *member.Refusal) {
	s := member.Situation{Permit: p.Permit, PodUID: p.UID, Used: p.Used}
	if d := w.disk(p); d != nil {
		s.Data = &member.Identity{ClusterID: member.ID(d.ClusterID), MemberID: member.ID(d.MemberID)}
	} else if w.cfg.Asks {
		s.Started = w.Etcd.ListedStarted(uint64(p.Permit.ClusterID), uint64(p.Permit.MemberID))
	}
	return member.Admit(s)
}

// ends leaves member-run's termination message, none if etcd was started.
func (p *Pod) ends(r *member.Refusal) {
	if p.Exit, p.Refused = plan.ExitNone, 0; r != nil {
		p.Exit, p.Refused = plan.ExitOf(*r), r.Attempt
	}
}

// canRun reports whether member-run has something to do in the pod that it has not done in vain already.
func (w *World) canRun(p *Pod) bool {
	if p.Phase != plan.Running || p.Deleting || p.Down || p.Sick || p.Starved || p.Lie != honest || p.Permit == nil || p.Hung ||
		w.serverRuns(p) || w.ends(p) {
		return false
	}
	if _, refusal := w.admit(p); refusal != nil {
		return p.Exit != plan.ExitOf(*refusal) || p.Refused != refusal.Attempt
	}
	if d := w.disk(p); d != nil { // a member that was removed exits for ever, and so does one whose log is torn
		g := w.Etcd.Group(d.ClusterID)
		return g != nil && g.Member(d.MemberID) != nil && !d.Torn && d.Schema <= minorOf(p.Version) &&
			!(d.Old && minorOf(p.Version) >= 7)
	}
	return p.Permit.Mode != member.ModeJoin || w.Etcd.Compatible(uint64(p.Permit.ClusterID), minorOf(p.Version))
}

// memberRun is one start of the etcd container: member-run, and etcd as far as its write-ahead log.
func (w *World) memberRun(p *Pod) {
	start, refusal := w.admit(p)
	if p.ends(refusal); refusal != nil {
		return
	}
	permit, dir := p.Permit, w.dir(p)
	w.startsAgain(p)
	p.Runs, p.Restarting, p.Hung = p.Version, false, false
	defer func() {
		w.Etcd.Listen(dir, listeners(p.Transport))
		w.Etcd.RunsVersion(dir, minorOf(p.Version))
	}()
	if w.Etcd.Disk(dir) != nil {
		w.Etcd.Listen(dir, listeners(p.Transport))
		_ = w.Etcd.Resume(dir) // there is data: it cannot fail
		return
	}
	p.Used = permit.Attempt
	var err error
	if start.State == member.StateNew {
		err = w.Etcd.StartNew(dir, uint64(permit.ClusterID), uint64(permit.MemberID), initialMembers(start))
	} else {
		names, urls := parseCluster(start.InitialCluster)
		own := w.cluster().PeerURL(p.Name)
		if i := slices.Index(names, p.Name); i >= 0 {
			own = urls[i]
		}
		err = w.Etcd.StartJoin(dir, own, urls)
	}
	if err != nil { // the container ends and starts again, with no permit left
		_, refusal := w.admit(p)
		p.ends(refusal)
	}
}

func parseCluster(initial string) (names, urls []string) {
	for pair := range strings.SplitSeq(initial, ",") {
		name, url, _ := strings.Cut(pair, "=")
		names, urls = append(names, name), append(urls, url)
	}
	return names, urls
}

// initialMembers are what every server computes from the token and the initial cluster.
func initialMembers(start member.Start) []etcdtest.Member {
	names, urls := parseCluster(start.InitialCluster)
	byName := map[string]string{}
	for i, name := range names {
		byName[name] = urls[i]
	}
	ids, _ := plan.IDs(start.Token, byName)
	var members []etcdtest.Member
	for i, name := range names {
		members = append(members, etcdtest.Member{ID: ids[name], Name: name, PeerURL: urls[i]})
	}
	return members
}

// used reports whether a pod keeps the claim from going away: one that has been scheduled, even if it has ended.
func (w *World) used(v *Volume) bool {
	p := w.pod(v.Name)
	return p != nil && p.Persistent && p.Phase != plan.Pending
}

// removePod takes the pod out of the API, and with it an emptyDir.
func (w *World) removePod(p *Pod) {
	w.Etcd.Stop(w.dir(p))
	if !p.Persistent {
		w.Etcd.Lose(p.UID)
	}
	name := p.Name
	w.Pods = slices.DeleteFunc(w.Pods, func(p Pod) bool { return p.Name == name })
}

// removeVolume takes the claim out of the API, and with it the data.
func (w *World) removeVolume(v *Volume) {
	w.Etcd.Lose(v.UID)
	name := v.Name
	w.Volumes = slices.DeleteFunc(w.Volumes, func(v Volume) bool { return v.Name == name })
}
