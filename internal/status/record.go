package status

import (
	"cmp"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// RecordOf reads the record that a status holds.
func RecordOf(s *v1beta2.EtcdClusterStatus) plan.Record {
	r := plan.Record{
		ID: uint64(member.ParseID(s.ClusterID)), Bootstrap: bootstrapOf(s.Bootstrap), Revision: s.Revision,
		Voters: Voters(s.MemberStatuses), NextVoters: s.NextVoters,
		LowestVersion: s.CurrentVersion, SnapshotDue: snapshotDue(s.SnapshotDue, s.ClusterID), RanBefore: ranBefore(s),
		Transport:    transportOf(s.Transport),
		AcceptedSpec: textOf(s.AcceptedSpec), PreviousSpec: textOf(s.FormerSpec),
	}
	if n := s.Incarnations; n != nil {
		r.Incarnations = plan.Incarnations{Last: int(n.Last), FirstRestore: int(n.Attempts)}
	}
	if m := s.LeaderMoved; m != nil {
		r.LeaderMoved, r.SlowMember = m.MoveTime.Time, m.Member
	}
	r.Quarantined, r.Doubt = quarantinedOf(s.Quarantined), doubtOf(s.Doubt)
	r.Tuned, r.Relocation, r.Hibernation = tunedOf(s.Autopilot), relocationOf(s.Autopilot), hibernationOf(s)
	r.RefusedPatches = RefusedPatches(s)
	for _, v := range s.KeptVolumes {
		r.KeptUIDs = append(r.KeptUIDs, v.UID)
	}
	readRestore(&r, restoreOf(s, s.Bootstrap))
	if restore := UnderWay(s); restore != nil {
		r.CancelDeclined = restore.NotCalledOff != ""
	}
	if s.Former == nil {
		return r
	}
	r.Previous = recordOfFormer(s.Former)
	readRestore(r.Previous, restoreOf(s, s.Former.Bootstrap))
	return r
}

// readRestore adds what is recorded of the restore that a cluster runs on, or is to run on; nothing if it is nil.
func readRestore(r *plan.Record, restore *v1beta2.RestoreRecord) {
	if restore != nil {
		r.Unsaved, r.SafetySkipped, r.ReplacedID = restore.Unsaved != "", restore.Skipped, uint64(member.ParseID(restore.ReplacedClusterID))
	}
}

// UnderWay is the record of the restore in progress, nil if there is none, or if its cluster ID has been recorded.
func UnderWay(s *v1beta2.EtcdClusterStatus) *v1beta2.RestoreRecord {
	if s.ClusterID != "" {
		return nil
	}
	return restoreOf(s, s.Bootstrap)
}

// restoreOf is the record of the restore that an attempt belongs to, nil if it belongs to none, or to one of long ago.
func restoreOf(s *v1beta2.EtcdClusterStatus, b *v1beta2.BootstrapStatus) *v1beta2.RestoreRecord {
	if b == nil || b.Restore == "" {
		return nil
	}
	i := slices.IndexFunc(s.Restores, func(r v1beta2.RestoreRecord) bool { return r.UID == b.Restore })
	if i < 0 {
		return nil
	}
	return &s.Restores[i]
}

func recordOfFormer(f *v1beta2.FormerStatus) *plan.Record {
	r := &plan.Record{
		ID: uint64(member.ParseID(f.ClusterID)), Bootstrap: bootstrapOf(f.Bootstrap), Revision: f.Revision,
		Voters: Voters(f.MemberStatuses), NextVoters: f.NextVoters,
		LowestVersion: f.CurrentVersion, SnapshotDue: snapshotDue(f.SnapshotDue, f.ClusterID), RanBefore: f.RanBefore, PreviousSpec: textOf(f.Spec),
		Transport: transportOf(f.Transport),
	}
	if m := f.LeaderMoved; m != nil {
		r.LeaderMoved, r.SlowMember = m.MoveTime.Time, m.Member
	}
	r.Quarantined, r.Doubt = quarantinedOf(f.Quarantined), doubtOf(f.Doubt)
	return r
}

// advance brings the status to the record that a pass leaves, and reports whether it is about another cluster from then on. The
// members in status are put aside with the rest, and come back with it.
func advance(s *v1beta2.EtcdClusterStatus, next plan.Record, done plan.Action, in Input) (replaced bool) {
	former, back := s.Former, false
	switch act := done.(type) {
	case plan.CancelRestore:
		if back = former != nil; back {
			s.Leader, s.Size, s.MemberStatuses, replaced = "", former.Size, former.MemberStatuses, true
		}
	case plan.CommitBootstrap:
		if replaced = in.Observed.Cluster.StartsRestore(act.Bootstrap); replaced {
			putAside(s, next.Previous, in)
		}
	default:
	}
	writeRecord(s, next, in.Observed)
	if back {
		s.Doubt = former.Doubt // what only etcd's alarm has told is not in the record
	}
	return replaced
}

func writeRecord(s *v1beta2.EtcdClusterStatus, r plan.Record, o plan.Observed) {
	keepVolumes(s, r, o)
	s.ClusterID, s.Bootstrap, s.Revision = formatID(r.ID), bootstrapFor(r.Bootstrap), r.Revision
	s.NextVoters, s.CurrentVersion, s.SnapshotDue, s.RanBefore = r.NextVoters, r.LowestVersion, &r.SnapshotDue, r.RanBefore
	s.AcceptedSpec, s.FormerSpec = rawOf(r.AcceptedSpec), rawOf(r.PreviousSpec)
	s.LeaderMoved, s.Incarnations, s.Transport = movedFor(r), nil, transportFor(r.Transport)
	s.Quarantined, s.Doubt = quarantinedFor(r.Quarantined), doubtFor(r.Doubt)
	writeTuned(s, r.Tuned)
	writeRefusedPatches(s, r.RefusedPatches)
	writeRelocation(s, r.Relocation)
	s.Hibernation = string(r.Hibernation)
	if r.Incarnations != (plan.Incarnations{}) {
		s.Incarnations = &v1beta2.IncarnationsStatus{
			Last:     int32(r.Incarnations.Last),         //nolint:gosec // counts attempts from 1
			Attempts: int32(r.Incarnations.FirstRestore), //nolint:gosec // the same
		}
	}
	if r.Previous == nil {
		s.Former = nil // as long as it is set it does not change
	}
	if restore := UnderWay(s); restore != nil {
		restore.Skipped, restore.ReplacedClusterID = r.SafetySkipped, formatID(r.ReplacedID)
	}
}

// keepVolumes records for volumes that are kept from now on which restore replaced their data: the one in progress, or else the
// last one. That of a quarantined member was replaced by none.
func keepVolumes(s *v1beta2.EtcdClusterStatus, r plan.Record, o plan.Observed) {
	s.KeptVolumes = slices.DeleteFunc(s.KeptVolumes, func(v v1beta2.KeptVolume) bool { return !slices.Contains(r.KeptUIDs, v.UID) })
	restore := UnderWay(s)
	if restore == nil && len(s.Restores) > 0 {
		restore = &s.Restores[0]
	}
	for _, c := range o.Volumes {
		quarantined := c.Quarantined || o.Cluster.Quarantined.VolumeUID == c.UID
		noted := slices.ContainsFunc(s.KeptVolumes, func(v v1beta2.KeptVolume) bool { return v.UID == c.UID })
		switch {
		case !slices.Contains(r.KeptUIDs, c.UID) || noted:
		case quarantined:
			s.KeptVolumes = append(s.KeptVolumes, v1beta2.KeptVolume{Name: c.Name, UID: c.UID})
		case restore != nil:
			s.KeptVolumes = append(s.KeptVolumes, v1beta2.KeptVolume{Name: c.Name, UID: c.UID, Restore: restore.Name})
		}
	}
}

// putAside moves the status of the cluster that a restore replaces to status.internal.former, unless the restore supersedes another
// one: then it replaces what that was to replace, which is there already.
func putAside(s *v1beta2.EtcdClusterStatus, r *plan.Record, in Input) {
	if s.Former == nil {
		if in.Observed.Etcd.Contact == plan.ContactQuorum { // the voters in status may be one change behind
			setMembers(s, in)
		}
		if s.Former = formerFor(s, r); s.Former.Doubt == nil && alarmTold(s, in) {
			s.Former.Doubt = &v1beta2.DataDoubt{}
		}
	}
	s.Leader, s.Size, s.MemberStatuses = "", 0, nil
}

// formerFor is what is put aside.
func formerFor(s *v1beta2.EtcdClusterStatus, r *plan.Record) *v1beta2.FormerStatus {
	return &v1beta2.FormerStatus{
		ClusterID: formatID(r.ID), Revision: r.Revision, Size: s.Size, MemberStatuses: s.MemberStatuses,
		CurrentVersion: r.LowestVersion, SnapshotDue: &r.SnapshotDue, Spec: rawOf(r.PreviousSpec),
		LeaderMoved: movedFor(*r), Bootstrap: bootstrapFor(r.Bootstrap), NextVoters: r.NextVoters, RanBefore: r.RanBefore,
		Transport: transportFor(r.Transport), Quarantined: quarantinedFor(r.Quarantined), Doubt: doubtFor(r.Doubt),
	}
}

func movedFor(r plan.Record) *v1beta2.LeaderMoved {
	if r.LeaderMoved.IsZero() {
		return nil
	}
	return &v1beta2.LeaderMoved{Member: r.SlowMember, MoveTime: metav1.NewTime(r.LeaderMoved)}
}

// SpecText is the spec to record, always with a version: unchanged if the recorded one is equal. One that cannot be decoded is
// replaced.
func SpecText(c *v1beta2.EtcdCluster) string {
	known, noted := v1beta2.EtcdClusterSpec{}, c.Status.AcceptedSpec
	readable := noted != nil && json.Unmarshal(noted.Raw, &known) == nil
	wanted := c.Spec
	wanted.Version = versionToKeep(c, known.Version)
	if readable && equality.Semantic.DeepEqual(known, wanted) {
		return string(noted.Raw)
	}
	text, err := json.Marshal(&wanted)
	if err != nil {
		return textOf(noted) // an API type has none
	}
	return string(text)
}

// versionToKeep is the version that a later spec without one means: the present spec's, or if etcd cannot go there from the running
// version, the previous one.
func versionToKeep(c *v1beta2.EtcdCluster, before string) string {
	runs := c.Status.CurrentVersion
	if runs == "" {
		return c.Spec.Version
	}
	if _, err := version.Step(runs, version.Normalize(c.Spec.Version)); err != nil {
		return cmp.Or(before, runs)
	}
	return c.Spec.Version
}

func textOf(raw *runtime.RawExtension) string {
	if raw == nil {
		return ""
	}
	return string(raw.Raw)
}

func rawOf(text string) *runtime.RawExtension {
	if text == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: []byte(text)}
}

func formatID(id uint64) string {
	if id == 0 {
		return ""
	}
	return member.ID(id).String()
}

func bootstrapOf(s *v1beta2.BootstrapStatus) *plan.Bootstrap {
	if s == nil {
		return nil
	}
	b := &plan.Bootstrap{
		Incarnation: int(s.Incarnation), Token: s.Token, Members: s.Members, ClusterID: uint64(member.ParseID(s.ClusterID)),
		Restore: s.Restore, Recovery: s.Recovery,
	}
	for _, seat := range s.Seats {
		b.InitialPods = append(b.InitialPods, plan.InitialPod{Name: seat.Name, PodUID: seat.PodUID, VolumeUID: seat.VolumeUID})
	}
	return b
}

func bootstrapFor(b *plan.Bootstrap) *v1beta2.BootstrapStatus {
	if b == nil {
		return nil
	}
	s := &v1beta2.BootstrapStatus{
		Incarnation: int32(b.Incarnation), //nolint:gosec // counts attempts from 1
		Token:       b.Token, Members: b.Members, ClusterID: formatID(b.ClusterID), Restore: b.Restore,
		Recovery: b.Recovery,
	}
	for _, seat := range b.InitialPods {
		s.Seats = append(s.Seats, v1beta2.BootstrapSeat{Name: seat.Name, PodUID: seat.PodUID, VolumeUID: seat.VolumeUID})
	}
	return s
}

// snapshotDue reports whether the logs of a cluster may hold what etcd 3.5 wrote. Earlier operators recorded that only if they had
// seen 3.5 run, and not of data that they had adopted. Where nothing is recorded it is assumed: a snapshot costs little, and 3.7
// cannot start with such a log.
func snapshotDue(noted *bool, clusterID string) bool {
	if noted == nil {
		return clusterID != ""
	}
	return *noted
}

// ranBefore reports whether coreos/etcd-operator has run this EtcdCluster. Its status has no observedGeneration, which this
// operator's has from its first write on: the finding is recorded with that write, which overwrites the evidence.
func ranBefore(s *v1beta2.EtcdClusterStatus) bool {
	if s.ClusterID != "" || s.Bootstrap != nil {
		return false
	}
	traces := s.Phase != "" || s.Size > 0 || s.CurrentVersion != "" || len(s.Members.Ready)+len(s.Members.Unready) > 0
	return s.RanBefore || s.ObservedGeneration == 0 && traces
}
