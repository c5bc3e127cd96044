package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
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
	// Revision is the highest linearizable revision that was noted, 0 if none.
	Revision int64
	// Voters are the names of the voters when a quorum last answered.
	Voters []string
	// NextVoters are the names of the voters after the change of them that is about to be made; empty if none is, or if
	// it needs no such note.
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
	// KeptUIDs are the UIDs of volumes that a restore has replaced, or that an attempt at one was let write to: they are the user's
	// to delete, and nobody's to use. A UID goes from here only with its claim.
	KeptUIDs []string
	// AcceptedSpec is the last spec that could be carried out, and PreviousSpec the one that those members are made from which
	// an update has not reached, empty while there is none: both as Cluster.Spec has it.
	AcceptedSpec, PreviousSpec string
	// Previous is what the restore under way replaces; nil if none is, and once the new cluster ID is recorded. Of its voters it has
	// those who were confirmed when the restore began, none if nobody had written them down.
	Previous *Record
	// Unsaved is true if the restore that Bootstrap is an attempt at has replaced what is not known to be saved. Skipped is true if
	// the user said that it need not be, of that one and of all whose place it took: only then do the volumes go.
	Unsaved, SafetySkipped bool
	// ReplacedID is the ID of the cluster that the same restore has replaced, 0 if it had none, or if it is not recorded.
	ReplacedID uint64 `json:",string"`
	// CancelDeclined is true once it was noted that the restore under way goes on although nobody wants it any more.
	CancelDeclined bool
}

// Apply is what the record becomes by a pass that has seen this and has carried out that action; one that failed is nil.
func (r Record) Apply(a Action, o Observed) Record {
	switch act := a.(type) {
	case CommitBootstrap:
		before := r
		if r = r.begin(act, o); before.StartsRestore(act.Bootstrap) {
			o.Etcd = Etcd{} // what has answered is not the cluster any more
		}
	case CancelRestore:
		o.Etcd = Etcd{}
		r = r.goBack()
	case ContinueRestore:
		r.CancelDeclined = true
	case RecordClusterID:
		r = r.recordClusterID(act, o)
	case Adopt:
		r = r.adopt(act, o)
	case MoveLeader:
		if act.Slow != "" {
			r.LeaderMoved, r.SlowMember = o.Now, act.Slow
		}
	case CancelDowngrade:
		r.SnapshotDue = r.SnapshotDue && !act.Snapshot
	default:
	}
	return r.note(a, o)
}

// note takes down what was seen.
func (r Record) note(a Action, o Observed) Record {
	if o.Etcd.Contact == ContactQuorum {
		runs := cmp.Or(lowestVersion(o), r.LowestVersion)
		r.SnapshotDue = r.SnapshotDue || strings.HasPrefix(r.LowestVersion, "3.5.") && strings.HasPrefix(runs, "3.6.")
		r.LowestVersion, r.Voters = runs, votersOf(o.Etcd.Members)
	}
	r.RanBefore = r.RanBefore && r.Bootstrap == nil && r.ID == 0
	r.NextVoters = r.nextVoters(a, o)
	r.KeptUIDs = r.keeping(o)
	if r.ID != 0 && r.Bootstrap == nil && r.Incarnations == (Incarnations{}) { // an earlier operator has taken up what there is
		r.Incarnations.Last = o.lastIncarnation()
	}
	if r.ID != 0 { // an attempt at a first start may yet be given up, with what was written to it
		r.Revision = checkpoint(r.Revision, o.Etcd.Revision)
	}
	return r.noteSpec(o)
}

// nextVoters is what is to be remembered of the change of voters that was last declared: nothing once it is made, or nothing
// is left to do.
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
	if o.Etcd.Contact == ContactQuorum && SameNames(votersOf(o.Etcd.Members), r.NextVoters) {
		return nil
	}
	return r.NextVoters
}

// noteSpec takes down which spec is carried out, and which one was before as long as a member is made from it.
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

// begin takes down an attempt at a start. The first one at a restore puts aside what is known of the cluster; a restore that
// takes the place of another one replaces what that was to replace.
func (r Record) begin(act CommitBootstrap, o Observed) Record {
	b, incarnations := act.Bootstrap, r.begun(act.Bootstrap)
	if !r.StartsRestore(b) {
		r.Incarnations, r.Bootstrap = incarnations, &b
		return r
	}
	next := Record{
		Bootstrap: &b, Incarnations: incarnations, KeptUIDs: r.KeptUIDs, AcceptedSpec: r.AcceptedSpec,
		Previous: r.Previous, Unsaved: act.UnsavedReason != "", SafetySkipped: o.Cluster.Safety.Skipped,
	}
	if r.Previous == nil {
		next.Previous = r.putAside(o)
		next.ReplacedID = next.Previous.ExpectedID()
		return next
	}
	next.ReplacedID = r.Previous.ExpectedID()
	next.Unsaved, next.SafetySkipped = next.Unsaved || r.Unsaved, next.SafetySkipped && r.SafetySkipped
	return next
}

// putAside is what is known of the cluster, without what is not of it alone. The voters may be one change behind.
func (r Record) putAside(o Observed) *Record {
	r.PreviousSpec = cmp.Or(r.PreviousSpec, r.AcceptedSpec)
	if o.Etcd.Contact == ContactQuorum {
		r.Voters = votersOf(o.Etcd.Members)
	}
	r.Incarnations, r.KeptUIDs, r.AcceptedSpec = Incarnations{}, nil, ""
	return &r
}

// goBack takes up again what was known of the cluster before the restore began. Its members come back made from the spec that
// they were made from, whatever was asked for since. No number is given twice.
func (r Record) goBack() Record {
	if r.Previous == nil {
		return r
	}
	previous := *r.Previous
	previous.Incarnations, previous.KeptUIDs, previous.AcceptedSpec = r.Incarnations, r.KeptUIDs, r.AcceptedSpec
	return previous
}

// recordClusterID takes down what answered, not what the spec asks for by now.
func (r Record) recordClusterID(act RecordClusterID, o Observed) Record {
	r.ID, r.Previous, r.CancelDeclined = act.ClusterID, nil, false
	i := slices.IndexFunc(o.Etcd.Answers, func(a Answer) bool { return a.ClusterID == act.ClusterID })
	if i >= 0 {
		r.LowestVersion = o.Etcd.Answers[i].Version
	}
	return r
}

// adopt takes down whose data there is, and which version wrote it: it goes on with that. Whether 3.6 was the first one to do so
// nobody knows any more, unless a later one has come since, which reads nothing that 3.5 has left.
func (r Record) adopt(act Adopt, o Observed) Record {
	r.ID = act.ClusterID
	r.Incarnations.Last = o.lastIncarnation() // what says so may be gone by the next restore
	if ran := o.versionsOf(act.Volumes); len(ran) > 0 {
		r.LowestVersion, r.SnapshotDue = ran[0], version.Minor(ran[len(ran)-1]) == "3.6"
	}
	return r
}

// versionsOf are those that have run on these volumes, or may run on an emptyDir, the lowest first.
func (o Observed) versionsOf(volumes []string) (all []string) {
	for _, c := range o.Volumes {
		if c.Version != "" && slices.Contains(volumes, c.Name) {
			all = append(all, c.Version)
		}
	}
	for _, p := range o.Pods {
		if p.Version != "" && p.Permit != nil {
			all = append(all, p.Version)
		}
	}
	slices.SortFunc(all, version.Compare)
	return all
}

// lowestVersion is that of the voters, empty unless all of them answer.
func lowestVersion(o Observed) string {
	lowest := ""
	for _, m := range o.Etcd.Members {
		i := slices.IndexFunc(o.Etcd.Answers, func(a Answer) bool {
			return a.Pod == m.Name && a.MemberID == m.ID && a.ClusterID == o.Etcd.ClusterID
		})
		switch {
		case m.Learner:
		case i < 0:
			return ""
		case lowest == "" || version.Compare(o.Etcd.Answers[i].Version, lowest) < 0:
			lowest = o.Etcd.Answers[i].Version
		}
	}
	return lowest
}

// checkpoint moves the noted revision: it is there to notice a cluster that went back in time, and to tell about where its
// clients are, not to follow it.
func checkpoint(noted, now int64) int64 {
	if now-RevisionStep(noted) >= noted {
		return now
	}
	return noted
}
