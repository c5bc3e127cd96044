package world

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// trialTime is how long the first member has to be healthy with a patch release.
const trialTime = 10 * time.Minute

// overdue is after how long every deadline has passed that counts from a pod's creation, or from its first permit.
const overdue = 15 * time.Minute

// Seed returns a world in which the operator sees what was observed of a real cluster. The error, for a person, says what the model lacks:
// of some states it knows too little to go on from them.
func Seed(o plan.Observed) (*World, error) {
	if err := seedable(&o); err != nil {
		return nil, err
	}
	w := &World{cfg: &Config{Next: plan.Next, seed: &o, Autopilot: o.Cluster.Autopilot}, Highest: o.Cluster.Incarnations.Last}
	w.cfg.Autopilot.Resources = plan.ModeOff // the model has either CPU or memory, in other amounts
	w.seedSpec(&o.Cluster)
	w.seedStatus(&o)
	for _, v := range o.Volumes {
		w.seedVolume(v)
	}
	for _, p := range o.Pods {
		w.seedPod(p, answerOf(&o, p.Name))
	}
	slices.SortFunc(w.Pods, func(a, b Pod) int { return plan.CompareNames(a.Name, b.Name) })
	w.Pulls = slices.Clone(o.PrepullPods)
	w.Budget = Budget{Exists: o.Budget.Exists, Min: o.Budget.MinAvailable, Seen: o.Budget.Settled}
	w.seedEtcd(&o)
	return w, w.begins(&o)
}

// seedable refuses what the model knows nothing of, or too little.
func seedable(o *plan.Observed) error {
	c := &o.Cluster
	foreign := func(v plan.Volume) bool { return v.Foreign != "" || v.Legacy || !v.Owned }
	odd := func(p plan.Pod) bool { return p.Drift.Image || p.Drift.Rewritten }
	unfit := func(p plan.Pod) bool {
		given := c.Tuned.Resized
		return p.ResizeRefused || given != (plan.Resized{}) && (p.ResizeInfeasible || given.GivenUp != "" && (p.Resizing != "" || p.Drift.LessMemory))
	}
	for _, refuse := range []struct {
		when bool
		why  string
	}{
		{c.Deleting, "the EtcdCluster is being deleted"},
		{c.Invalid != nil, "the spec is refused"},
		{c.ID == 0, "it has not been up yet"},
		{c.Previous != nil || c.Restore != "" || c.CancelReason != nil || c.Resuming != "", "a restore is under way"},
		{o.Etcd.Contact != plan.ContactQuorum, "no quorum of the members answers"},
		{slices.ContainsFunc(o.Pods, unfit), "a member cannot be given the CPU or memory that Auto Pilot has chosen"},
		{len(o.Refused) > 0, "the API server refuses something that the operator has to write"},
		{len(o.Conflicts) > 0, "names of the cluster's are taken by other objects"},
		{switches(c), "connections are being switched to TLS or back"},
		{len(o.Etcd.Handshakes) > 0, "certificates are not accepted"},
		{slices.ContainsFunc(o.Volumes, foreign), "there are volumes that are not the cluster's"},
		{slices.ContainsFunc(o.Pods, func(p plan.Pod) bool { return p.Legacy }), "pods of coreos/etcd-operator are there"},
		{slices.ContainsFunc(o.Pods, odd), "a pod has another repository of the image, or something changes its labels back"},
	} {
		if refuse.when {
			return errors.New(refuse.why)
		}
	}
	return nil
}

// switches reports whether members serve two schemes, or are to serve another one. What else the record has of a switch stays in it.
func switches(c *plan.Cluster) bool {
	has, wants := c.Transport, c.SpecTransport
	return has.PeerBoth || has.ClientBoth || has.PeerTLS != wants.PeerTLS || has.ClientTLS != wants.ClientTLS
}

// seedSpec is what the user asks for. Texts of specs are only compared: here they are numbers.
func (w *World) seedSpec(c *plan.Cluster) {
	w.Spec = Spec{
		Size: c.Size, Persistent: c.Persistent, Version: c.Version, Paused: c.Paused, Hibernate: c.Hibernate, Storage: int(cmp.Or(c.SpecVolumeSize, c.VolumeSize)), Transport: c.SpecTransport,
		Template: presentTemplate, Class: 1, Resources: 1, Follows: c.NewestPatch != "",
	}
	w.Newest = c.NewestPatch
}

// What a seeded world calls the specs that pods are made from.
const (
	earlierTemplate = iota
	previousTemplate
	presentTemplate
)

func (w *World) seedStatus(o *plan.Observed) {
	r := o.Cluster.Record
	rename := func(text string) string {
		switch text {
		case "":
			return ""
		case o.Cluster.Spec:
			return strconv.Itoa(presentTemplate)
		default:
			return strconv.Itoa(previousTemplate)
		}
	}
	r.AcceptedSpec, r.PreviousSpec = rename(r.AcceptedSpec), rename(r.PreviousSpec)
	r.LeaderMoved, r.Relocation.Since = w.then(r.LeaderMoved), w.then(r.Relocation.Since)
	r.Tuned.Resized = plan.Resized{} // pods that have it are as the spec asks, here
	r.Tuned.Patch.Since = w.then(r.Tuned.Patch.Since)
	trial := &r.Tuned.Patch.Trial
	for _, at := range []*time.Time{&trial.Began, &trial.Healthy, &trial.Failing} {
		if *at = w.then(*at); base.Sub(*at) < trialTime { // whatever time has to pass yet passes at once
			*at = base
		}
	}
	w.Status = Status{Record: r}
}

func (w *World) seedVolume(v plan.Volume) {
	out := Volume{Volume: v, Class: w.Class, Template: w.Template}
	if v.Drift {
		out.Class = 0
	}
	if v.FromPreviousSpec {
		out.Template = previousTemplate
	}
	w.Volumes = append(w.Volumes, out)
}

// seedPod is a pod, with what its server says; nil if it says nothing.
func (w *World) seedPod(p plan.Pod, said *plan.Answer) {
	now := w.cfg.seed.Now
	out := Pod{
		Name: p.Name, UID: p.UID, Incarnation: p.Incarnation, Phase: p.Phase, Deleting: p.Deleting, Permit: p.Permit, Exit: p.Exit,
		Serving: p.InService, Refused: p.RefusedAttempt, Used: p.RefusedAttempt, Persistent: p.Persistent, Version: p.Version,
		Transport: p.Transport, Restarting: p.Restarting, Resizing: p.Resizing != "", Unfit: p.ResizeInfeasible,
		Old:     now.Sub(p.Created) > overdue && (p.PermittedAt.IsZero() || now.Sub(p.PermittedAt) > overdue),
		Overdue: p.Deleting && now.After(p.Deadline), Stuck: p.Phase == plan.Pending && p.StartProblem != "",
		Template: w.Template, Resources: w.Resources, Avoids: p.Avoids, Restarts: p.Restarts,
	}
	if d := databaseOf(w.cfg.seed, p.UID); d != nil {
		out.Copied, out.Busy = d.Copied, !d.Defragmenting.IsZero()
	}
	if p.Restores {
		out.Token = "restored"
	}
	ran := slices.ContainsFunc(w.cfg.seed.Etcd.Members, func(m plan.Member) bool { return m.Name == p.Name && m.Published })
	if p.Permit != nil && !p.Exit.DataGone() && (said != nil || ran) {
		out.Used = max(out.Used, p.Permit.Attempt)
	}
	if said != nil {
		out.Runs = said.Version
	}
	if out.Quota = w.Status.Tuned.Quota; p.Drift.Template {
		out.Template = earlierTemplate
	}
	if p.Drift.Metadata {
		out.Labels = 1
	}
	if p.Drift.Resources || p.Untuned {
		out.Resources = 0
	}
	w.Pods = append(w.Pods, out)
}

// seedEtcd is the member list that a quorum confirms, and the data of every member that has not lost it.
func (w *World) seedEtcd(o *plan.Observed) {
	g := etcdtest.Group{ID: o.Etcd.ClusterID, Leader: plan.Assess(*o).Leader, Written: true}
	newest := uint64(0)
	for _, a := range o.Etcd.Answers {
		newest = max(newest, a.Committed)
		for _, minor := range []int{minorOf(a.Version), minorOf(a.Storage)} {
			if minor != 0 && (g.Version == 0 || minor < g.Version) {
				g.Version = minor // the data follow the cluster's version, and in a downgrade they precede the servers
			}
		}
		if a.Downgrade != "" {
			g.Downgrade = minorOf(a.Downgrade)
		}
	}
	w.Told = plan.Assess(*o).Alarms
	for _, a := range w.Told {
		w.Alarm, w.Full = w.Alarm || a.Kind == plan.AlarmCorrupt, w.Full || a.Kind == plan.AlarmNoSpace
	}
	w.History = w.Full // to give it up changes something
	for _, m := range o.Etcd.Members {
		d, there := w.seedDisk(m, g, answerOf(o, m.Name), newest)
		g.Members = append(g.Members, etcdtest.Member{
			ID: m.ID, Name: m.Name, PeerURL: m.PeerURL, Published: m.Published, Learner: m.Learner, Founder: m.Published,
			Remembers: there || m.Published, Matched: m.Learner && d.Synced,
		})
		if there {
			w.Etcd.Disks = append(w.Etcd.Disks, d)
		}
	}
	w.seedFormer(&g)
	w.Etcd.Groups = []etcdtest.Group{g}
}

// seedFormer is the data of members that were removed, and whose pods are still there: etcd ends on it.
func (w *World) seedFormer(g *etcdtest.Group) {
	for i := range w.Pods {
		p := &w.Pods[i]
		if p.Permit == nil || p.Permit.Mode != member.ModeResume || g.Member(uint64(p.Permit.MemberID)) != nil ||
			p.Exit.DataGone() || w.dir(p) == "" || w.disk(p) != nil {
			continue
		}
		w.Etcd.Disks = append(w.Etcd.Disks, etcdtest.Disk{
			Dir: w.dir(p), ClusterID: uint64(p.Permit.ClusterID), MemberID: uint64(p.Permit.MemberID), Version: g.Version, Schema: g.Version,
		})
	}
}

// seedDisk is a member's data, false if it has none, as far as that is known.
func (w *World) seedDisk(m plan.Member, g etcdtest.Group, said *plan.Answer, newest uint64) (etcdtest.Disk, bool) {
	p := w.pod(m.Name)
	dir := ""
	switch v := w.volume(m.Name); {
	case p != nil && p.Exit.DataGone():
	case v != nil && v.MemberID == m.ID && !v.Lost:
		dir = v.UID
	case p != nil && !p.Persistent && p.Permit != nil && (m.Published || said != nil):
		dir = p.UID
	}
	if dir == "" || said == nil && !m.Published {
		return etcdtest.Disk{}, false
	}
	d := etcdtest.Disk{
		Dir: dir, ClusterID: g.ID, MemberID: m.ID, Version: g.Version, Schema: g.Version, Synced: !m.Learner,
		Old: w.Status.SnapshotDue || g.Version == 5,
	}
	if p != nil {
		d.Listeners = listeners(p.Transport)
	}
	if said != nil {
		const synced, of = 9, 10 // etcd promotes a learner that has this share of the leader's log
		d.Running, d.Version = true, minorOf(said.Version)
		d.Synced = d.Synced || said.Applied*of >= newest*synced
		if stored := minorOf(said.Storage); stored != 0 {
			d.Schema = stored
		}
	}
	return d, true
}

// databaseOf is what is known of the database of a pod's member, nil if nothing is.
func databaseOf(o *plan.Observed, uid string) *plan.Database {
	i := slices.IndexFunc(o.Etcd.Databases, func(d plan.Database) bool { return d.PodUID == uid })
	if i < 0 {
		return nil
	}
	return &o.Etcd.Databases[i]
}

// answerOf is what the server of a member says of itself, nil if it does not answer as that.
func answerOf(o *plan.Observed, name string) *plan.Answer {
	for i := range o.Etcd.Answers {
		a := &o.Etcd.Answers[i]
		listed := slices.ContainsFunc(o.Etcd.Members, func(m plan.Member) bool { return m.Name == name && m.ID == a.MemberID })
		if a.Pod == name && listed && a.ClusterID == o.Etcd.ClusterID {
			return a
		}
	}
	return nil
}

// named puts the names of a real cluster in the place of those of the model.
func (w *World) named(c plan.Cluster) plan.Cluster {
	if s := w.cfg.seed; s != nil {
		c.Namespace, c.Name, c.UID, c.Domain = s.Cluster.Namespace, s.Cluster.Name, s.Cluster.UID, s.Cluster.Domain
		c.Repository, c.Pinned = s.Cluster.Repository, s.Cluster.Pinned
	}
	return c
}

// placed puts a pod where the real one of that name was. Nobody knows where a new one will be.
func (w *World) placed(p *plan.Pod) {
	if w.cfg.seed == nil {
		return
	}
	p.Node, p.Zone = "the node of "+p.Name, ""
	for _, seen := range w.cfg.seed.Pods {
		if seen.Name == p.Name && seen.Node != "" {
			p.Node, p.Zone = seen.Node, seen.Zone
		}
	}
}
