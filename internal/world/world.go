package world

import (
	"slices"
	"strconv"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Planner decides; plan.Next is one.
type Planner func(plan.Observed) plan.Action

// Config is what does not change in a run.
type Config struct {
	// Next is the planner.
	Next Planner
	// TrustCache makes the operator act on its cache without planning again on live reads, PassMarks write a permit although the mark before it was
	// refused, and KeepPermits leave its first permit to a member that serves.
	TrustCache, PassMarks, KeepPermits bool
	// Judge makes of what the servers said what holds; nil for the operator's own judgement.
	Judge func(plan.Electorate, []plan.Response) plan.Etcd
	// Unfit are the versions that never start.
	Unfit []string
	// Rigid is true where no volume can be made bigger, Stunted where none ever is, and Silent where dead nodes are never removed, nor pods that linger.
	Rigid, Stunted, Silent bool
	// Asks is true where member-run asks other members whether it was started: those that do not, as in pods of an earlier release, rely on the planner.
	Asks bool
	// Abrupt is true where etcd runs until its pod is gone: with fewer states.
	Abrupt bool
	// Local is true where a volume is on the node on which its pod was scheduled first. Razed is true where no such node ever comes back.
	Local, Razed bool
	// Denied are the versions that the API server lets no pod have. ForGood is true where nothing that is refused is ever allowed again.
	Denied  []string
	ForGood bool
	// Crowded is true where etcd never starts in a pod in which it is to listen for peers on the other port, Walled where no member reaches
	// another on that, and Deaf where the operator reaches no member with TLS.
	Crowded, Walled, Deaf bool
	// Spareless is true where there is no node for a pod that must not be on that of a member, and Tight where none takes a pod that requests more
	// than the spec says.
	Spareless, Tight bool
	// Autopilot is what the operator may do about databases, about members whose data differs, and about new patch releases.
	Autopilot plan.Autopilot
	// Tested are the releases that the operator is tested with one day, the oldest first.
	Tested []string
	// seed is what the world was seeded with, nil for one that is made up. First is what is decided on that if the model cannot decide it: what
	// follows from it is in the world.
	seed  *plan.Observed
	first plan.Action
}

// World is one state: everything that exists, and what the operator is in the middle of.
type World struct {
	cfg *Config
	// Kube is the API server's truth.
	Kube
	// Etcd is every server and its data. A directory is named by the UID of the volume or of the emptyDir's pod.
	Etcd etcdtest.Cluster
	// Cache is what the operator's cache holds, nil while it is up to date.
	Cache *Kube
	// Read is what a pass has read so far when it was held up before it asked etcd.
	Read *Kube
	// Pending is what a pass has decided when it was held up before or between its effects.
	Pending *Pending
	// Stale is true once the EtcdCluster was written after it was read for Read or Pending.
	Stale bool
	// Edits are what the user will still ask for, in this order.
	Edits []Spec
	// Faults is how many more may happen.
	Faults int
	// Harmed is true once there was a fault that a member may not get over by itself.
	Harmed bool
	// Highest is the highest incarnation that was ever committed, whatever status says. Up to Forgotten nothing tells of them but
	// what was made for them, for status was lost.
	Highest, Forgotten int
	// SetBack is true once status was put back to before the cluster ID was recorded, until it is removed.
	SetBack bool
	// SkipAllowed are the clusters whose data need not be saved, as the user said.
	SkipAllowed []uint64
	// Alarm is true while etcd says that the members' data differ.
	Alarm bool
	// Full is true while etcd says that a member's database is at its quota.
	Full bool
	// History is true while there is history of keys that may be given up, HistoryAgeUnknown while the operator does not know how old any is, and
	// Glued once nothing that is done about databases has an effect.
	History, HistoryAgeUnknown, Glued bool
	// Keys is how often keys have filled four fifths of what the quota was then.
	Keys int
	// Apart is the member that alone of all the operator reaches, while the others go on without it; empty if all reach each other, and nobody if
	// the operator reaches none, while they go on.
	Apart string
	// SidecarsEnded: in pods of lower templates, the container beside etcd has ended, and never starts again; 0 if it has in none.
	SidecarsEnded int
	// Differing is what comparisons of the voters' data show, and Allowance what keeps Auto Pilot from acting.
	Differing
	Allowance
	// Patches is what there is to follow, and what that waits for, and Usage what members use.
	Patches
	Usage
	Recalled
	// Refuses is what the API server refuses, and Tried what it has refused, as far as the operator remembers.
	Refuses Refuses
	Tried   []tried
	// Broken is the first invariant that was violated, empty if none.
	Broken string
	// Decided is the planner's last answer. It is no part of the state.
	Decided plan.Action
}

// Kube is what the API server holds of one cluster.
type Kube struct {
	Spec
	Status  Status
	Pods    []Pod
	Volumes []Volume
	Pulls   []plan.PrepullPod
	Budget  Budget
	// Recovery is what has become of a recovery from a lost quorum.
	Recovery recovery
	// Await is what has become of the EtcdRestore that the cluster is to start from.
	Await awaited
	// Taken is true while another owner has a Service of a name that the cluster needs.
	Taken bool
	// Noted is what the members were found to run when status was lost, empty if it never was.
	Noted string
	// Gone is the highest of the snapshots that were to replace the data of which nothing says any more where it is.
	Gone int
}

// Budget is the PodDisruptionBudget and what its controller has seen of it.
type Budget struct {
	Exists bool
	Min    int
	// Seen is false until the disruption controller has worked on the current Min: evictions are refused until then.
	Seen bool
}

// New returns the world right after the user has created an EtcdCluster of that spec.
func New(cfg *Config, spec Spec) *World {
	w := &World{cfg: cfg}
	if cfg.Walled {
		w.Etcd.Walled = strconv.Itoa(member.OtherPeerPort)
	}
	w.Spec = spec
	return w
}

// Clone returns a copy that shares nothing that a move changes.
func (w *World) Clone() *World {
	out := *w
	out.Kube = *w.Kube.clone()
	out.Etcd = w.Etcd.Clone()
	if w.Pending != nil {
		p := *w.Pending
		out.Pending = &p
	}
	return &out
}

// clone shares what is never changed in place: bootstrap records, permits, lists of voters.
func (k *Kube) clone() *Kube {
	out := *k
	out.Pods, out.Volumes = slices.Clone(k.Pods), slices.Clone(k.Volumes)
	out.Pulls = slices.Clone(k.Pulls)
	return &out
}

const clusterName, namespace, clusterUID = "c", "ns", "uid"

// base is the time of every observation; what is late was due an hour ago.
var base = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (w *World) cluster() plan.Cluster {
	return w.named(w.Kube.cluster())
}

func (k *Kube) cluster() plan.Cluster {
	s := &k.Status
	c := plan.Cluster{
		Record: s.Record, Namespace: namespace, Name: clusterName, UID: clusterUID, Size: k.Size, Persistent: k.Persistent,
		Version: k.version(), Spec: specText(k.template(), k.Labels),
		Paused: k.Paused, Deleting: k.Deleted, Hibernate: k.Hibernate, VolumeSize: int64(k.storage()), SpecVolumeSize: int64(k.Storage),
	}
	if k.Invalid {
		c.Invalid = &failure.Problem{Reason: invalidReason}
	}
	c.SpecTransport, c.Certified = k.Transport, true
	k.await(&c)
	if k.asked() > max(s.Taken, k.off()) {
		c.Restore, c.Safety = k.restoreUID(), k.safety()
	}
	k.recovers(&c)
	if n := numberOf(s.Bootstrap); n != 0 && n <= k.off() {
		c.CancelReason, c.SourceGone = &failure.Problem{Reason: "RestoreCalledOff"}, n <= k.Gone
	}
	return c
}

func (k *Kube) pod(name string) *Pod {
	for i := range k.Pods {
		if k.Pods[i].Name == name {
			return &k.Pods[i]
		}
	}
	return nil
}

func (k *Kube) volume(name string) *Volume {
	for i := range k.Volumes {
		if k.Volumes[i].Name == name {
			return &k.Volumes[i]
		}
	}
	return nil
}

// dir is the name of the directory that a pod works on, empty if its volume is missing.
func (w *World) dir(p *Pod) string {
	if !p.Persistent {
		return p.UID
	}
	if v := w.volume(p.Name); v != nil {
		return v.UID
	}
	return ""
}

// disk is the data that a pod works on, nil if there is none.
func (w *World) disk(p *Pod) *etcdtest.Disk { return w.Etcd.Disk(w.dir(p)) }

// serverRuns reports whether an etcd runs in the pod.
func (w *World) serverRuns(p *Pod) bool {
	_, runs := w.server(p)
	return runs
}

// group is the cluster that the operator is to care for: the recorded one, or else the one being started, or else the one
// that is left from before.
func (w *World) group() *etcdtest.Group {
	if id := w.Status.ID; id != 0 {
		return w.Etcd.Group(id)
	}
	if b := w.Status.Bootstrap; b != nil {
		return w.Etcd.Group(b.ClusterID)
	}
	if len(w.Etcd.Groups) > 0 {
		return &w.Etcd.Groups[0]
	}
	return nil
}
