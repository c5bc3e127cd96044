package etcdcluster

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/controllers/internal/restores"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/status"
)

// swap exchanges what status tells of the cluster for what it has put aside: it is the one list of what that is.
func swap(s *v1beta2.EtcdClusterStatus, f *v1beta2.FormerStatus) {
	exchange(&s.ClusterID, &f.ClusterID)
	exchange(&s.Revision, &f.Revision)
	exchange(&s.Size, &f.Size)
	exchange(&s.MemberStatuses, &f.MemberStatuses)
	exchange(&s.NextVoters, &f.NextVoters)
	exchange(&s.RanBefore, &f.RanBefore)
	exchange(&s.CurrentVersion, &f.CurrentVersion)
	exchange(&s.SnapshotDue, &f.SnapshotDue)
	exchange(&s.FormerSpec, &f.Spec)
	exchange(&s.LeaderMoved, &f.LeaderMoved)
	exchange(&s.Bootstrap, &f.Bootstrap)
}

func exchange[T any](a, b *T) { *a, *b = *b, *a }

// putAside keeps what status tells of the cluster that a restore replaces, and has status tell nothing of it. A restore that
// takes the place of another one replaces what that was to replace.
func putAside(s *v1beta2.EtcdClusterStatus) {
	s.FormerSpec, s.RanBefore = cmp.Or(s.FormerSpec, s.AcceptedSpec), ranBefore(s)
	present := &v1beta2.FormerStatus{}
	swap(s, present)
	s.Former, s.Leader = cmp.Or(s.Former, present), ""
}

// callOff has status tell again what it told before the restore began. Its members come back made from the spec that they
// were made from, whatever was asked for since.
func (r *Reconciler) callOff(p *pass, a plan.CallOff) {
	s := &p.cluster.Status
	keep(s, a.Kept, p.claims)
	if record := restores.UnderWay(s); record != nil {
		record.CalledOff = &v1beta2.RestoreCalledOff{
			Reason: a.Why.Reason, Message: a.Why.Message, At: metav1.NewTime(p.observed.Now),
		}
	}
	swap(s, s.Former)
	s.Former, s.Leader = nil, ""
	p.observed = plan.Observed{Now: p.observed.Now, Cluster: r.desired(p.cluster, p.observed.Cluster.Invalid)}
}

// continueRestore notes why the restore under way is not called off.
func continueRestore(p *pass, a plan.ContinueRestore) {
	if record := restores.UnderWay(&p.cluster.Status); record != nil {
		record.NotCalledOff = a.Why.Message
	}
}

// keep notes the volumes whose data was replaced unsaved, and forgets those that somebody has deleted.
func keep(s *v1beta2.EtcdClusterStatus, kept []plan.KeptVolume, claims map[string]*corev1.PersistentVolumeClaim) {
	s.KeptVolumes = slices.DeleteFunc(s.KeptVolumes, func(v v1beta2.KeptVolume) bool {
		claim, ok := claims[v.Name]
		return !ok || string(claim.UID) != v.UID
	})
	for _, v := range kept {
		s.KeptVolumes = append(s.KeptVolumes, v1beta2.KeptVolume{Name: v.Name, UID: v.UID, Restore: s.Restores[0].Name})
	}
}

// observeFormer reads what status tells of attempts at a start, and of what they replace.
func observeFormer(into *plan.Cluster, s *v1beta2.EtcdClusterStatus) {
	if n := s.Incarnations; n != nil {
		into.Incarnations = plan.Incarnations{Last: int(n.Last), Attempts: int(n.Attempts)}
	}
	if f := s.Former; f != nil {
		into.Former = &plan.Former{
			ID: parseID(f.ClusterID), Bootstrap: bootstrapOf(f.Bootstrap),
			Voters: status.Voters(f.MemberStatuses), NextVoters: f.NextVoters,
		}
	}
	for _, v := range s.KeptVolumes {
		into.Kept = append(into.Kept, v.UID)
	}
	if len(s.Restores) > 0 {
		if off := s.Restores[0].CalledOff; off != nil && off.ResumedAt == nil {
			into.Resuming = "EtcdRestore " + s.Restores[0].Name + " is called off: " + off.Message
		}
	}
}

func incarnationsFor(n plan.Incarnations) *v1beta2.IncarnationsStatus {
	return &v1beta2.IncarnationsStatus{
		Last:     int32(n.Last),     //nolint:gosec // counts attempts from 1
		Attempts: int32(n.Attempts), //nolint:gosec // the same
	}
}
