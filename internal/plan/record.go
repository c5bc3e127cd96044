package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// Record is what is kept of a cluster from pass to pass: all of its status that a decision depends on. It is written at the
// end of a pass, by compare-and-swap on the version that was read, and only Apply changes it.
type Record struct {
	// ID is the recorded cluster ID: not zero once a quorum has ever answered. It is never reset but by a restore.
	ID uint64 `json:",string"`
	// Bootstrap is the committed plan of the last attempt at a start, from nothing or from a snapshot; nil before the first
	// commit, and for adopted clusters until they are restored.
	Bootstrap *Bootstrap
	// Incarnations are the numbers given to attempts so far.
	Incarnations Incarnations
	// Revision is the highest linearizable revision that was recorded, 0 if none was. It lags: see checkpoint.
	Revision int64
	// Voters are the names of the voters when a quorum last answered.
	Voters []string
	// NextVoters are the names of the voters after the change that is about to be made; empty if none is, or if it need not be
	// recorded beforehand (commitVotersFirst).
	NextVoters []string
	// LowestVersion is the lowest version of the voters when all of them answered last, empty if they never did.
	LowestVersion string
	// SnapshotDue is true while the members' logs may hold entries of etcd 3.5, which etcd 3.7 cannot read.
	SnapshotDue bool
	// LeaderMoved is when leadership was last taken from a member because of its disk, zero if never, and Slow that member.
	LeaderMoved time.Time
	SlowMember  string
	// RanBefore is true if coreos/etcd-operator has run a cluster under this very object, and this operator none yet.
	RanBefore bool
	// KeptUIDs are the UIDs of kept volumes: only the user deletes them, and no member uses them. A UID is removed once its claim no
	// longer exists.
	KeptUIDs []string
	// Quarantined is the member that is replaced because its data differs; the zero value if none is, and once its volume is kept.
	Quarantined Quarantined `json:",omitzero"`
	// Doubt is what is not known of whose data is right; the zero value if nothing is.
	Doubt Doubt `json:",omitzero"`
	// Tuned is what Auto Pilot has changed of the spec's options for etcd; the zero value if nothing is.
	Tuned Tuned `json:",omitzero"`
	// RefusedPatches are the patch releases that were rolled back, the latest last, and that no user has named since.
	RefusedPatches []RefusedPatch `json:",omitempty"`
	// Relocation is the member that is moved off a node whose disk is slow, or the last one that was; the zero value if there was none.
	Relocation Relocation `json:",omitzero"`
	// Hibernation is how far the cluster is with spec.hibernate.
	Hibernation Hibernation `json:",omitempty"`
	// AcceptedSpec is the last spec that could be carried out, and PreviousSpec the one that those members are made from which
	// an update has not reached, empty while there is none: both as Cluster.Spec has it.
	AcceptedSpec, PreviousSpec string
	// Previous is what the restore in progress replaces; nil if none is, and once the new cluster ID is recorded. Its voters are
	// those confirmed when the restore began, none if none had been recorded.
	Previous *Record
	// Unsaved is true if the current restore may have replaced data that is in no safety snapshot. SafetySkipped is true if it and
	// all restores that it superseded had safetySnapshot: Skip: only then are the replaced volumes deleted.
	Unsaved, SafetySkipped bool
	// ReplacedID is the ID of the cluster that the current restore replaces, 0 if it had none, or none was recorded.
	ReplacedID uint64 `json:",string"`
	// Transport says which connections of the members use TLS. It is recorded with an attempt to start, because member IDs and URLs
	// follow from it, and stays until the cluster ID is recorded. From then on the IDs and URLs are those of etcd's member list, and it is
	// switched step by step.
	Transport member.Transport `json:",omitzero"`
	// CancelDeclined is true once status says that the restore in progress continues although it was to be canceled.
	CancelDeclined bool
}

// Apply returns the record after a pass that has observed o and carried out a; a is nil if the action failed.
func (r Record) Apply(a Action, o Observed) Record {
	switch act := a.(type) {
	case CommitBootstrap:
		before := r
		if r = r.startAttempt(act, o); before.StartsRestore(act.Bootstrap) {
			o.Etcd = Etcd{} // what has answered is not the cluster any more
		}
	case CancelRestore:
		o.Etcd = Etcd{}
		r = r.goBack()
	case ContinueRestore:
		r.CancelDeclined = true
	case CommitTransport:
		r.Transport = act.Transport
	case RecordClusterID:
		r = r.recordClusterID(act, o)
	case Adopt:
		r = r.adopt(act, o)
	case MoveLeader:
		if act.Slow != "" {
			r.LeaderMoved, r.SlowMember = o.Now, act.Slow
		}
	case Quarantine:
		r.Quarantined = act.Quarantined
	case CommitTuning:
		if r.Tuned = act.Tuned; act.Refused.Version != "" {
			r.RefusedPatches = refusing(r.RefusedPatches, act.Refused)
		}
	case RemoveMember:
		if act.Name == r.Tuned.Patch.Trial.Member && act.Why == v1beta2.ReasonScaling { // that says nothing of the release that it has tried
			r.Tuned.Patch = r.Tuned.Patch.unproven()
		}
	case CommitRelocation:
		r.Relocation = act.Relocation
	case CommitHibernation:
		r.Hibernation = act.Hibernation
	case CancelDowngrade:
		r.SnapshotDue = r.SnapshotDue && !act.Snapshot
	default:
	}
	return r.note(a, o)
}

// note updates what every pass records.
func (r Record) note(a Action, o Observed) Record {
	if o.Etcd.Contact == ContactQuorum {
		runs := cmp.Or(lowestVersion(o), r.LowestVersion)
		r.SnapshotDue = r.SnapshotDue || strings.HasPrefix(r.LowestVersion, "3.5.") && strings.HasPrefix(runs, "3.6.")
		r.LowestVersion, r.Voters = runs, VotersOf(o.Etcd.Members)
	}
	r.RanBefore = r.RanBefore && r.Bootstrap == nil && r.ID == 0
	r.NextVoters = r.nextVoters(a, o)
	r.KeptUIDs = r.keeping(o)
	r.Hibernation, r.Relocation = r.Hibernation.next(o), r.Relocation.next(o)
	if o.Etcd.Contact == ContactQuorum && (r.Quarantined != Quarantined{} || r.Doubt != Doubt{} || len(o.Etcd.Compared) > 0 || len(o.Cluster.Voters) == 0) {
		v := newView(o)
		r.Quarantined = cmp.Or(r.Quarantined, v.Cluster.Quarantined)
		if r.Doubt = v.doubt(); v.quarantineOver(r.Quarantined) {
			r.Quarantined = Quarantined{}
		}
	}
	if o.Cluster.Invalid == nil {
		r.Tuned = r.Tuned.stillValid(o)
	}
	if r.RefusedPatches = o.stillRefused(r.RefusedPatches); r.Tuned.Patch.InsteadOf != "" {
		o.Cluster.Tuned = r.Tuned
		r.Tuned.Patch = newView(o).nextPatch().after(a)
	}
	if r.ID != 0 && r.Bootstrap == nil && r.Incarnations == (Incarnations{}) { // an earlier operator has taken up what there is
		r.Incarnations.Last = o.lastIncarnation()
	}
	if r.ID != 0 { // an attempt at a first start may yet be given up, with what was written to it
		r.Revision = checkpoint(r.Revision, o.Etcd.Revision)
	}
	return r.noteSpec(o)
}

// nextVoters returns the declared change of voters that is still pending, nil if there is none.
func (r Record) nextVoters(a Action, o Observed) []string {
	switch act := a.(type) {
	case CommitVoters:
		return act.Voters
	case CommitBootstrap:
		return nil
	case Idle:
		if act.Reason == v1beta2.ReasonSpecReached {
			return nil
		}
	default:
	}
	if o.Etcd.Contact == ContactQuorum && sameNames(VotersOf(o.Etcd.Members), r.NextVoters) {
		return nil
	}
	return r.NextVoters
}

// noteSpec updates AcceptedSpec, and keeps PreviousSpec while a member is still made from it.
func (r Record) noteSpec(o Observed) Record {
	changed := o.Cluster.Invalid == nil && o.Cluster.Spec != r.AcceptedSpec
	if !changed && r.PreviousSpec == "" {
		return r
	}
	if n := len(o.Etcd.Members); n > 0 && len(Assess(o).Updated) == n {
		r.PreviousSpec = ""
	} else if changed && r.PreviousSpec == "" {
		r.PreviousSpec = r.AcceptedSpec
	}
	if changed {
		r.AcceptedSpec = o.Cluster.Spec
	}
	return r
}

// StartsRestore reports whether that attempt begins a restore that has not begun yet. Another attempt at the same restore does
// not.
func (r Record) StartsRestore(b Bootstrap) bool {
	return b.Restore != "" && (r.Bootstrap == nil || r.Bootstrap.Restore != b.Restore)
}

// startAttempt commits an attempt to start. The first attempt at a restore moves the present record to Previous; a superseding restore
// keeps the Previous of the one it supersedes.
func (r Record) startAttempt(act CommitBootstrap, o Observed) Record {
	b, incarnations := act.Bootstrap, r.incarnationsAfter(act.Bootstrap)
	transport := o.Cluster.SpecTransport
	if r.Bootstrap != nil && r.Bootstrap.Incarnation == b.Incarnation {
		transport = r.Transport
	}
	if !r.StartsRestore(b) {
		r.Incarnations, r.Bootstrap, r.Transport = incarnations, &b, transport
		return r
	}
	next := Record{
		Bootstrap: &b, Transport: transport, Incarnations: incarnations, KeptUIDs: r.KeptUIDs, AcceptedSpec: r.AcceptedSpec, Tuned: r.Tuned,
		RefusedPatches: r.RefusedPatches,
		Previous:       r.Previous, Unsaved: act.UnsavedReason != "", SafetySkipped: o.Cluster.Safety.Skipped,
	}
	next.Tuned.Patch = next.Tuned.Patch.unproven()
	if r.Previous == nil {
		next.Previous = r.putAside(o)
		next.ReplacedID = next.Previous.ExpectedID()
		return next
	}
	next.ReplacedID = r.Previous.ExpectedID()
	next.Unsaved, next.SafetySkipped = next.Unsaved || r.Unsaved, next.SafetySkipped && r.SafetySkipped
	return next
}

// putAside returns the record to keep as Previous. Its voters may be one change behind. Whose data is wrong is part of it: a restore that is
// called off does not make it right. Its members start again if one is, whether or not they were stopped.
func (r Record) putAside(o Observed) *Record {
	r.PreviousSpec = cmp.Or(r.PreviousSpec, r.AcceptedSpec)
	if o.Etcd.Contact == ContactQuorum {
		r.Voters, r.Doubt = VotersOf(o.Etcd.Members), newView(o).doubt()
	}
	r.Incarnations, r.KeptUIDs, r.AcceptedSpec, r.Tuned, r.Hibernation = Incarnations{}, nil, "", Tuned{}, Awake
	r.Relocation, r.RefusedPatches = Relocation{}, nil
	return &r
}

// goBack restores Previous, but keeps the incarnations, kept volumes and accepted spec of now. The members come back made from
// the spec that they were made from, whatever was asked for since.
func (r Record) goBack() Record {
	if r.Previous == nil {
		return r
	}
	previous := *r.Previous
	previous.Incarnations, previous.KeptUIDs, previous.AcceptedSpec, previous.Tuned = r.Incarnations, r.KeptUIDs, r.AcceptedSpec, r.Tuned
	previous.RefusedPatches = r.RefusedPatches
	return previous
}

// recordClusterID records the cluster ID, and the version of the server that answered with it: the spec may ask for another one
// by now.
func (r Record) recordClusterID(act RecordClusterID, o Observed) Record {
	r.ID, r.Previous, r.CancelDeclined = act.ClusterID, nil, false
	i := slices.IndexFunc(o.Etcd.Answers, func(a Answer) bool { return a.ClusterID == act.ClusterID })
	if i >= 0 {
		r.LowestVersion = o.Runs(o.Etcd.Answers[i])
	}
	return r
}

// adopt records the volumes' cluster ID and lowest version. Whether data last written by 3.6 began on 3.5 is unknown, so
// SnapshotDue is set for it. What Auto Pilot had raised is what the members and their volumes tell: to go back to the spec's quota might fill
// it, and volumes cannot shrink.
func (r Record) adopt(act Adopt, o Observed) Record {
	r.ID, r.Transport, r.Tuned = act.ClusterID, o.adoptedTransport(), o.adoptedResources(o.adoptedVolume(o.adoptedQuota(act.ClusterID)))
	r.Incarnations.Last = o.lastIncarnation() // the objects that it follows from may be gone by the next restore
	if ran := o.versionsOf(act.Volumes); len(ran) > 0 {
		r.LowestVersion, r.SnapshotDue = ran[0], version.Minor(ran[len(ran)-1]) == "3.6"
	}
	return r
}

// checkpoint returns the revision to record. It is coarse: it serves to detect a rollback, not to follow etcd.
func checkpoint(recorded, now int64) int64 {
	if now-revisionStep(recorded) >= recorded {
		return now
	}
	return recorded
}
