package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Spec is what the user asks for.
type Spec struct {
	Size int
	// Persistent is true for members on PersistentVolumeClaims.
	Persistent bool
	// Version is what every server is to run, for example "3.7.3".
	Version string
	// Follows is true if the user asks for the minor release of that version only: it is the first one that was run then.
	Follows bool
	// Template counts the edits of what takes a new pod. In pods made from a negative one etcd never starts, but for BadSidecar.
	Template int
	// Class counts the edits of the kind of volume. There are no volumes of a negative one.
	Class int
	// Restore counts the snapshots that were to replace the data, and CalledOff is the highest of those that the user does not
	// want any more. FirstSkip and LastSkip are the first and the last of those with which nothing needs to be saved, 0 for none.
	// Unsaved is the number of the one that could not save what it replaces, 0 for none.
	Restore, CalledOff, FirstSkip, LastSkip, Unsaved int
	// Saved is the revision of the safety snapshot that was taken for the last restore, 0 if there is none. Minority is true if no
	// quorum stood behind it.
	Saved    int64
	Minority bool
	// Labels, Resources and Storage count the edits of what disturbs no member. Negative resources have another quality of
	// service.
	Labels, Resources, Storage int
	// Memory is true if what Auto Pilot changes of the members' requests is memory, and not CPU.
	Memory bool
	// Transport is what the members are to have.
	Transport member.Transport
	// Paused and Deleted are true while nothing is to be done. Invalid is true of a spec that cannot be carried out: all of it
	// but the size stays as it was accepted last.
	Paused, Deleted, Invalid bool
	// Hibernate is true while all members are to be stopped.
	Hibernate bool
	// FromSnapshot is true for a cluster that is to start from a snapshot, by an EtcdRestore that the operator creates.
	FromSnapshot bool
	// Legacy is true while members of coreos/etcd-operator are there.
	Legacy bool
}

// sameCluster reports whether two specs are the same EtcdCluster's: restores are other objects.
func (s Spec) sameCluster(other Spec) bool {
	s.Restore, s.CalledOff, s.FirstSkip, s.LastSkip = other.Restore, other.CalledOff, other.FirstSkip, other.LastSkip
	s.Unsaved, s.Saved, s.Minority, s.Legacy = other.Unsaved, other.Saved, other.Minority, other.Legacy
	return s == other
}

// restored reports whether the last of the snapshots was taken up, or canceled.
func (k *Kube) restored() bool {
	n := k.asked()
	return n <= max(k.Status.Off, k.off()) && k.Status.Previous == nil || numberOf(k.Status.Bootstrap) == n
}

// off is the highest of the snapshots that is no longer wanted.
func (k *Kube) off() int { return max(k.CalledOff, k.Gone) }

// asked counts the snapshots that were to replace the data, the one that the cluster is to start from among them.
func (k *Kube) asked() int {
	if k.Await == verified {
		return k.Restore + 1
	}
	return k.Restore
}

// skips reports whether the user has said of the n-th snapshot that nothing needs to be saved of what it replaces.
func (s Spec) skips(n int) bool { return n != 0 && s.FirstSkip <= n && n <= s.LastSkip }

// numberOf is the number of the snapshot that an attempt starts from, 0 for a start from nothing.
func numberOf(b *plan.Bootstrap) int {
	if b == nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimPrefix(b.Restore, "restore"))
	if err != nil {
		return 0
	}
	return n
}

// unwanted reports whether the restore under way cannot or must not come to anything.
func (w *World) unwanted() bool {
	b := w.Status.Bootstrap
	return w.Status.Previous != nil && b != nil && numberOf(b) <= w.off() || w.impossible()
}

// impossible reports whether the restore under way can never be completed.
func (w *World) impossible() bool {
	b := w.Status.Bootstrap
	if w.Status.Previous == nil || b == nil {
		return false
	}
	p := w.pod(b.Members[0])
	if numberOf(b) <= w.Gone { // what is at it goes on, but never begins again
		return !p.stays() || p.Terminal || p.Phase == plan.Running && w.disk(p) == nil
	}
	return p != nil && p.Terminal
}

// restoreUID names the snapshot that is to replace the data.
func (k *Kube) restoreUID() string { return fmt.Sprint("restore", k.asked()) }

// Volume is a claim and the kind of volume that it was made as.
type Volume struct {
	plan.Volume
	Class int
	// Tied is true once the volume is on a node, and Away while that is gone.
	Tied, Away bool
	// Template is what the pod of the volume's member is to be made from.
	Template int
}

// left reports whether an earlier cluster has left the volume, with its data.
func (v Volume) left() bool { return !v.Owned && v.ClusterID != 0 }

// BadSidecar is a template whose pods have another container that never starts; etcd serves.
const BadSidecar = -2

// poisoned reports whether etcd never starts in such a pod.
func (w *World) poisoned(version string, template int) bool {
	return template < 0 && template != BadSidecar || slices.Contains(w.cfg.Unfit, version) || version == w.Sour
}

// sidecarFails reports whether another container never starts in a pod of that template, or never again.
func (w *World) sidecarFails(template int) bool {
	return template == BadSidecar || template >= 0 && template < w.SidecarsEnded
}

// ends reports whether etcd ends in the pod at every start.
func (w *World) ends(p *Pod) bool {
	other := p.Transport.PeerBoth || p.Transport.PeerPort == member.OtherPeerPort
	return w.poisoned(p.Version, p.Template) || w.cfg.Crowded && other
}

// current reports whether the pod and its volume are what the spec asks for.
func (w *World) current(p *Pod) bool {
	v := w.volume(p.Name)
	return p.Persistent == w.Persistent && p.Version == w.version() && p.Runs == p.Version && !w.drift(p).Any() &&
		(!p.Resizing || w.stuckResizing(p)) && (v == nil || v.Class == w.Class && v.Requested >= int64(w.storage()) && (!v.Expanding || w.cfg.Stunted))
}

// minorOf is the minor release of a version of etcd 3, such as 6 of "3.6.16" and of "3.6"; 0 of none.
func minorOf(version string) int {
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return 0
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0
	}
	return n
}

// minorName is etcd's own form of it, empty for 0.
func minorName(minor int) string {
	if minor == 0 {
		return ""
	}
	return fmt.Sprintf("3.%d", minor)
}

// learners is the lowest limit of all servers that there are: 1 in etcd 3.5, what member-run asks for from 3.6 on.
func (w *World) learners() int {
	for i := range w.Pods {
		if minorOf(w.Pods[i].Runs) == 5 {
			return 1
		}
	}
	return 8
}

// changeImage changes the image of a pod. Its container is ended later.
func (w *World) changeImage(p *Pod, version string) {
	p.Version, p.Restarting = version, w.serverRuns(p)
	p.Exit, p.Refused = plan.ExitNone, 0
}

// leaps reports whether the spec asks for a version that etcd cannot be brought to in one step.
func (w *World) leaps() bool {
	g := w.group()
	return g != nil && minorOf(w.Version) > g.Version+1
}

// spoilt reports whether the spec asks for what can never run.
func (w *World) spoilt() bool {
	return w.poisoned(w.Version, w.template()) || w.sidecarFails(w.template()) || w.unprovided() ||
		(w.cfg.Crowded || w.cfg.Walled) && w.Transport.PeerTLS || w.cfg.Deaf && w.Transport.ClientTLS
}

// unprovided reports whether the spec asks for volumes that nobody provides.
func (w *World) unprovided() bool { return w.Persistent && w.Class < 0 }

// stopped judges where an update ends that can never succeed: it costs one member, and the others go on. A fault can take
// another one, and then the user has to go back to a spec that works.
func (w *World) stopped(recoverable bool) string {
	if w.Status.Previous != nil {
		return "" // what is restored starts as the spec asks, and the user has to correct it
	}
	if g := w.group(); recoverable && !w.Harmed && (g == nil || g.Leader == 0) {
		return "L1: a bad update costs the quorum"
	}
	return ""
}
