package etcdcluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/status"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// TestExploredRecords holds status against the model in every state of some worlds: the model hands a record on as it is, and in a
// cluster it goes by way of the API server. Both have to lead to the same.
func TestExploredRecords(t *testing.T) {
	one := world.Spec{Size: 1, Persistent: true, Version: "3.5.35"}
	edits := func(change ...func(*world.Spec)) (all []world.Spec) {
		last := one
		for _, edit := range change {
			edit(&last)
			all = append(all, last)
		}
		return all
	}
	snapshot := func(n int) func(*world.Spec) { return func(s *world.Spec) { s.Restore = n } }
	skip := func(n int) func(*world.Spec) {
		return func(s *world.Spec) { s.Restore, s.FirstSkip, s.LastSkip = n, n, n }
	}
	off := func(s *world.Spec) { s.CalledOff = s.Restore }
	unsaved := func(s *world.Spec) { s.Restore, s.Unsaved = s.Restore+1, s.Restore+1 }
	for title, s := range map[string]world.Scenario{
		"an update and a restore": {
			Edits: edits(
				func(s *world.Spec) { s.Version, s.Template = "3.6.16", 1 }, snapshot(1), func(s *world.Spec) { s.Template = 2 }),
		},
		"restores after each other":    {Edits: edits(skip(1), snapshot(2))},
		"restores that are called off": {Edits: edits(snapshot(1), off, unsaved)},
		"growth, and what goes wrong":  {Edits: edits(func(s *world.Spec) { s.Size = 2 }, snapshot(1)), Kinds: world.StatusFaults, Faults: 1},
		"restores that go wrong":       {Edits: edits(snapshot(1), off), Kinds: slices.Concat(world.RestoreFaults, world.PodFaults), Faults: 1},
	} {
		t.Run(title, func(t *testing.T) {
			s.Spec, s.Running, s.Lockstep, s.SafetyOnly = one, true, true, true
			wrong := 0
			s.Next = func(o plan.Observed) plan.Action {
				a := plan.Next(o)
				if why := notedOtherwise(t, o, a); why != "" && wrong < 3 {
					wrong++
					t.Error(why)
				}
				return a
			}
			report := world.Explore(s)
			t.Log(report)
			if report.Violation != nil {
				t.Error(report.Violation)
			}
		})
	}
}

// alike compares records: of a time only what it tells matters, and of a list whether anything is in it.
var alike = conversion.EqualitiesOrDie(func(a, b time.Time) bool { return a.Equal(b) })

// notedOtherwise says what a pass leaves otherwise in status than in the model, empty if nothing.
func notedOtherwise(t *testing.T, o plan.Observed, a plan.Action) string {
	t.Helper()
	p := &pass{cluster: &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Generation: 1}}, observed: o, action: a}
	p.cluster.Status = stored(t, statusOf(o.Cluster.Record, o.Volumes))
	if got := status.RecordOf(&p.cluster.Status); !alike.DeepEqual(got, o.Cluster.Record) {
		return fmt.Sprintf("status has the record\n%s, not\n%s", asText(t, got), asText(t, o.Cluster.Record))
	}
	if act, ok := a.(plan.CommitBootstrap); ok && act.Bootstrap.Restore != "" {
		p.restore = &v1beta2.EtcdRestore{ObjectMeta: metav1.ObjectMeta{
			Name: act.Bootstrap.Restore, UID: types.UID(act.Bootstrap.Restore),
		}}
		p.restore.Status.Source = &v1beta2.RestoredFrom{}
	}
	noteDecided(p)
	next := stored(t, status.Compute(status.Input{
		Cluster: p.cluster, Observed: o, Assessment: plan.Assess(o), Action: a,
	}))
	if got, want := status.RecordOf(&next), o.Cluster.Apply(a, o); !alike.DeepEqual(got, want) {
		return fmt.Sprintf("after %T status has the record\n%s, not\n%s", a, asText(t, got), asText(t, want))
	}
	return ""
}

// stored is a status as it comes back from the API server.
func stored(t *testing.T, s v1beta2.EtcdClusterStatus) (read v1beta2.EtcdClusterStatus) {
	t.Helper()
	if err := json.Unmarshal([]byte(asText(t, s)), &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func asText(t *testing.T, what any) string {
	t.Helper()
	text, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// statusOf is a status that holds the record, written by somebody else than the operator.
func statusOf(r plan.Record, volumes []plan.Volume) v1beta2.EtcdClusterStatus {
	s := v1beta2.EtcdClusterStatus{
		ObservedGeneration: 1, ClusterID: idOf(r.ID), CurrentVersion: r.LowestVersion, MemberStatuses: votersOf(r.Voters),
		InternalStatus: v1beta2.InternalStatus{
			AcceptedSpec: specOf(r.AcceptedSpec), FormerSpec: specOf(r.PreviousSpec), Bootstrap: attemptOf(r.Bootstrap),
			NextVoters: r.NextVoters, Revision: r.Revision, SnapshotDue: &r.SnapshotDue, RanBefore: r.RanBefore,
			LeaderMoved: movedOf(r), Incarnations: &v1beta2.IncarnationsStatus{
				Last: int32(r.Incarnations.Last), Attempts: int32(r.Incarnations.FirstRestore),
			},
		},
	}
	s.Restores = append(s.Restores, restoresOf(r)...)
	if f := r.Previous; f != nil {
		s.Former = &v1beta2.FormerStatus{
			ClusterID: idOf(f.ID), Revision: f.Revision, MemberStatuses: votersOf(f.Voters), NextVoters: f.NextVoters,
			RanBefore: f.RanBefore, CurrentVersion: f.LowestVersion, SnapshotDue: &f.SnapshotDue, Spec: specOf(f.PreviousSpec),
			LeaderMoved: movedOf(*f), Bootstrap: attemptOf(f.Bootstrap),
		}
		s.Restores = append(s.Restores, restoresOf(*f)...)
	}
	if r.Incarnations.FirstRestore != 0 {
		s.Restores = append(s.Restores, v1beta2.RestoreRecord{UID: "earlier", Name: "earlier"})
	}
	for _, uid := range r.KeptUIDs {
		name := "gone"
		if i := slices.IndexFunc(volumes, func(v plan.Volume) bool { return v.UID == uid }); i >= 0 {
			name = volumes[i].Name
		}
		s.KeptVolumes = append(s.KeptVolumes, v1beta2.KeptVolume{Name: name, UID: uid, Restore: "earlier"})
	}
	return s
}

// restoresOf is what status notes of the restore that the record's cluster runs on, or is to.
func restoresOf(r plan.Record) []v1beta2.RestoreRecord {
	if r.Bootstrap == nil || r.Bootstrap.Restore == "" {
		return nil
	}
	note := v1beta2.RestoreRecord{
		UID: r.Bootstrap.Restore, Name: r.Bootstrap.Restore, Skipped: r.SafetySkipped, ReplacedClusterID: idOf(r.ReplacedID),
	}
	if r.Unsaved {
		note.Unsaved = "why"
	}
	if r.CancelDeclined {
		note.NotCalledOff = "why"
	}
	return []v1beta2.RestoreRecord{note}
}

func votersOf(names []string) (all []v1beta2.MemberStatus) {
	for _, name := range names {
		all = append(all, v1beta2.MemberStatus{Name: name, Role: v1beta2.MemberRoleVoter})
	}
	return all
}

func attemptOf(b *plan.Bootstrap) *v1beta2.BootstrapStatus {
	if b == nil {
		return nil
	}
	s := &v1beta2.BootstrapStatus{
		Incarnation: int32(b.Incarnation), Token: b.Token, Members: b.Members, ClusterID: idOf(b.ClusterID),
		Restore: b.Restore,
	}
	for _, seat := range b.InitialPods {
		s.Seats = append(s.Seats, v1beta2.BootstrapSeat{Name: seat.Name, PodUID: seat.PodUID, VolumeUID: seat.VolumeUID})
	}
	return s
}

func movedOf(r plan.Record) *v1beta2.LeaderMoved {
	if r.LeaderMoved.IsZero() {
		return nil
	}
	return &v1beta2.LeaderMoved{Member: r.SlowMember, MoveTime: metav1.NewTime(r.LeaderMoved)}
}

func specOf(text string) *runtime.RawExtension {
	if text == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: []byte(text)}
}

func idOf(id uint64) string {
	if id == 0 {
		return ""
	}
	return member.ID(id).String()
}
