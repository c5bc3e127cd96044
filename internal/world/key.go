package world

import (
	"encoding/binary"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// Key is a hash of the state. Two states that differ in nothing that matters have the same key; 64 bits make two others
// meet with a probability of less than one in a million for the numbers of states that are explored. It is the same in
// every run, and depends on no name in the code: decisions are frozen by it.
func (w *World) Key() uint64 {
	e := encoder{buf: make([]byte, 0, 1024)}
	e.kube(&w.Kube)
	e.etcd(&w.Etcd)
	e.snapshot(w.Cache)
	e.snapshot(w.Read)
	if p := w.Pending; p != nil {
		e.text(p.key)
		e.number(p.Step)
		for _, seen := range p.On.Pods {
			e.text(seen.UID)
		}
		for _, seen := range p.On.Volumes {
			e.text(seen.UID)
		}
		e.rare(markPartly, bits(p.Partly))
		e.rare(markTriedOn, len(p.Tried))
		e.refusals(Refuses{}, p.Tried)
	}
	e.flags(w.Stale, w.Pending != nil, w.Broken != "", w.Harmed && w.spoilt())
	for _, id := range w.SkipAllowed {
		e.id(id)
	}
	e.number(w.Faults)
	e.number(w.Highest)
	e.rare(markAlarm, bits(w.Alarm))
	e.rare(markFull, bits(w.Full))
	e.rare(markRecalled, 16*len(w.Neat)+len(w.Told))
	e.rare(markRoom, bits(w.History, w.Glued, w.HistoryAgeUnknown))
	e.rare(markKeys, w.Keys)
	e.named(markApart, w.Apart)
	e.rare(markSidecars, w.SidecarsEnded)
	e.rare(markForgotten, 2*w.Forgotten+bits(w.SetBack))
	e.differing(&w.Differing)
	e.patches(&w.Patches)
	e.allowance(&w.Allowance)
	e.rare(markLoad, 16*bits(w.Usage.Untold)+2*int(w.Load)+bits(w.Usage.Barred))
	e.refusals(w.Refuses, w.Tried)
	for _, spec := range w.Edits {
		e.spec(spec)
	}
	return xxhash.Sum64(e.buf)
}

func (e *encoder) spec(s Spec) {
	e.number(s.Size)
	e.flags(s.Persistent)
	e.text(s.Version)
	e.number(s.Template)
	e.number(s.Class)
	e.number(s.Restore)
	e.number(s.CalledOff)
	e.number(s.FirstSkip)
	e.number(s.LastSkip)
	e.rare(markUnsaved, s.Unsaved)
	e.rare(markSaved, 2*int(s.Saved)+bits(s.Minority))
	e.rare(markLabels, s.Labels)
	e.rare(markResources, s.Resources)
	e.rare(markStorage, s.Storage)
	e.transport(s.Transport)
	e.rare(markSpec, bits(s.Paused, s.Deleted, s.Invalid, s.FromSnapshot, s.Legacy, s.Follows, s.Hibernate))
}

type encoder struct{ buf []byte }

// bits makes a number of flags.
func bits(flags ...bool) int {
	n := 0
	for i, f := range flags {
		if f {
			n |= 1 << i
		}
	}
	return n
}

func (e *encoder) rare(mark byte, n int) {
	if n != 0 {
		e.buf = append(e.buf, mark)
		e.number(n)
	}
}

func (e *encoder) number(n int)  { e.buf = binary.AppendVarint(e.buf, int64(n)) }
func (e *encoder) id(n uint64)   { e.buf = binary.AppendUvarint(e.buf, n) }
func (e *encoder) text(s string) { e.buf = append(append(e.buf, s...), 0) }

func (e *encoder) flags(flags ...bool) {
	e.buf = append(e.buf, byte(bits(flags...))) //nolint:gosec // eight at most
}

func (e *encoder) snapshot(k *Kube) {
	e.flags(k != nil)
	if k != nil {
		e.kube(k)
	}
}

// former is the record of the cluster that a restore replaces.
func (e *encoder) former(f *plan.Record) {
	e.id(f.ID)
	e.number(int(f.Revision / (writtenRevision / 2)))
	e.text(strings.Join(f.Voters, ","))
	e.text(strings.Join(f.NextVoters, ","))
	e.number(template(f.PreviousSpec))
	e.bootstrap(f.Bootstrap)
	e.rare(markFormerLogs, logs(f))
	e.rare(markFormerSkipped, bits(f.SafetySkipped))
	e.quarantined(markFormerWrong, f.Quarantined)
	e.doubt(f.Doubt)
	e.transport(f.Transport)
	e.replaced(f)
}

func (e *encoder) kube(k *Kube) {
	e.spec(k.Spec)
	e.number(len(k.Pulls))
	for _, p := range k.Pulls {
		e.text(p.Node)
		e.text(p.Image)
		e.flags(p.Done)
	}
	e.id(k.Status.ID)
	e.number(int(k.Status.Revision / (writtenRevision / 2)))
	e.text(strings.Join(k.Status.Voters, ","))
	e.text(strings.Join(k.Status.NextVoters, ","))
	e.number(template(k.Status.AcceptedSpec))
	e.number(k.Status.previousTemplate())
	e.bootstrap(k.Status.Bootstrap)
	e.number(k.Status.Incarnations.Last)
	e.number(k.Status.Incarnations.FirstRestore)
	e.number(k.Status.Taken)
	e.number(k.Status.Off)
	e.text(strings.Join(k.Status.KeptUIDs, ","))
	e.flags(k.Status.Previous != nil, k.Status.CancelDeclined, k.Status.SafetySkipped)
	e.replaced(&k.Status.Record)
	if f := k.Status.Previous; f != nil {
		e.former(f)
	}
	e.rare(markLogs, logs(&k.Status.Record))
	e.rare(markUnnoted, bits(k.Status.AcceptedSpec == ""))
	e.transport(k.Status.Transport)
	e.rare(markMoved, bits(k.Status.moved(), k.Status.RanBefore))
	e.rare(markNeighbours, 2*int(k.Await)+bits(k.Taken))
	e.rare(markGone, k.Gone)
	e.recovery(k.Recovery)
	e.quarantined(markQuarantined, k.Status.Quarantined)
	e.doubt(k.Status.Doubt)
	e.rare(markTuned, int(k.Status.Tuned.Quota/mebi))
	e.rare(markTunedVolume, int(k.Status.Tuned.Volume/mebi))
	e.rare(markHibernation, len(k.Status.Hibernation)) // each is of another length
	e.chosen(k)
	e.relocation(k.Status.Relocation)
	e.resized(k.Status.Tuned.Resized)
	e.number(len(k.Pods))
	for i := range k.Pods {
		e.pod(&k.Pods[i])
	}
	e.number(len(k.Volumes))
	for _, v := range k.Volumes {
		e.text(v.Name)
		e.text(v.UID)
		e.flags(v.Deleting, v.Lost, v.Owned)
		e.number(v.Incarnation)
		e.id(v.ClusterID)
		e.id(v.MemberID)
		e.text(v.Version)
		e.number(v.Class)
		e.number(v.Template)
		e.text(v.Foreign)
		e.rare(markStorage, int(v.Requested))
		e.transport(v.Transport)
		e.rare(markVolume, bits(v.Expanding, v.NotExpandable, v.Tied, v.Away, v.Quarantined))
	}
	e.flags(k.Budget.Exists, k.Budget.Seen)
	e.number(k.Budget.Min)
}

// replaced is whose volumes go. Where nothing needs to be kept nobody asks, and of a restore under way that follows from the rest.
func (e *encoder) replaced(r *plan.Record) {
	if r.SafetySkipped && r.Previous == nil && r.ReplacedID != 0 {
		e.buf = append(e.buf, markReplaced)
		e.id(r.ReplacedID)
	}
}

func (e *encoder) bootstrap(b *plan.Bootstrap) {
	e.flags(b != nil)
	if b == nil {
		return
	}
	e.number(b.Incarnation)
	e.text(b.Restore)
	e.rare(markSurvivor, bits(b.Recovery))
	e.text(strings.Join(b.Members, ","))
	for _, s := range b.InitialPods {
		e.text(s.Name)
		e.text(s.PodUID)
		e.text(s.VolumeUID)
	}
}

func (e *encoder) pod(p *Pod) {
	e.text(p.Name)
	e.text(p.UID)
	e.number(p.Incarnation)
	e.number(int(p.Phase))
	e.flags(p.Deleting, p.Serving, p.Old, p.Overdue, p.Down, p.Stuck, p.Evicting, p.Foreign)
	e.flags(p.Sick, p.Persistent, p.Restarting, p.Terminal)
	e.number(int(p.Lie))
	e.text(p.Version)
	e.text(p.Runs)
	e.number(p.Template)
	e.text(p.Token)
	e.number(p.Used)
	e.number(p.Refused)
	e.text(string(p.Exit))
	e.flags(p.Permit != nil)
	if p.Permit != nil {
		e.permit(p.Permit)
	}
	e.transport(p.Transport)
	e.rare(markLabels, p.Labels)
	e.rare(markResources, p.Resources)
	e.rare(markFixed, 2*p.FixedAt+bits(p.Fixed))
	e.rare(markPod, bits(p.Resizing, p.Unfit, p.Slow, p.Hung, p.Former, p.Starved, p.Mute, p.Held, p.Lowered))
	e.rare(markDatabase, 16*int(p.Left)+bits(p.Stuffed, p.Holey, p.Copied, p.Busy))
	e.rare(markTuned, int(p.Quota/mebi))
	e.rare(markDrags, bits(p.Drags))
	e.named(markAvoids, p.Avoids)
	e.rare(markPodTrial, 2*p.Restarts+bits(p.Aged))
	e.rare(markAmount, 2*p.Amount+bits(p.Deferred))
	e.rare(markBarred, 2*p.BarredAt+bits(p.Barred))
}

func (e *encoder) permit(p *member.Permit) {
	e.text(string(p.Mode))
	e.id(uint64(p.ClusterID))
	e.id(uint64(p.MemberID))
	e.text(p.InitialCluster)
	e.text(p.PodUID)
	e.number(p.Attempt)
}
