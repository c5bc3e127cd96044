package status

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

func quarantinedOf(s *v1beta2.QuarantinedMember) plan.Quarantined {
	if s == nil {
		return plan.Quarantined{}
	}
	return plan.Quarantined{Member: uint64(member.ParseID(s.MemberID)), Name: s.Name, VolumeUID: s.VolumeUID}
}

func doubtOf(s *v1beta2.DataDoubt) plan.Doubt {
	if s == nil {
		return plan.Doubt{}
	}
	return plan.Doubt{Suspect: uint64(member.ParseID(s.Suspect)), Split: s.Split}
}

// recordedDoubt is what status says of the present cluster. Earlier operators recorded of whose data is in doubt only that something is held: until data
// has been compared, nobody knows more than that, and anybody's may be right. While etcd's alarm stands, that is what is held.
func recordedDoubt(s *v1beta2.EtcdClusterStatus) plan.Doubt {
	held := s.Autopilot != nil && slices.ContainsFunc(s.Autopilot.Held, func(h v1beta2.HeldAct) bool { return h.Feature == plan.FeatureDiverged })
	available := meta.FindStatusCondition(s.Conditions, v1beta2.ConditionAvailable)
	if s.Doubt == nil && s.Quarantined == nil && held && (available == nil || available.Reason != v1beta2.ReasonCorrupt) {
		return plan.Doubt{Split: true}
	}
	return doubtOf(s.Doubt)
}

// setDoubt leaves the record of what is in doubt empty where nothing but etcd's alarm says that data differs: also without a quorum, which alone
// tells of alarms.
func setDoubt(s *v1beta2.EtcdClusterStatus, in Input) {
	alarm := alarmOf(s, in)
	unknown := hasClusterID(s) && in.Observed.Etcd.Contact != plan.ContactQuorum && in.Cluster.Status.Doubt != nil
	if s.Doubt == nil && (unknown || alarm != nil && alarm.Reason == v1beta2.ReasonCorrupt) {
		s.Doubt = &v1beta2.DataDoubt{}
	}
}

func doubtFor(d plan.Doubt) *v1beta2.DataDoubt {
	if d == (plan.Doubt{}) {
		return nil
	}
	return &v1beta2.DataDoubt{Suspect: formatID(d.Suspect), Split: d.Split}
}

func quarantinedFor(q plan.Quarantined) *v1beta2.QuarantinedMember {
	if q == (plan.Quarantined{}) {
		return nil
	}
	return &v1beta2.QuarantinedMember{MemberID: formatID(q.Member), Name: q.Name, VolumeUID: q.VolumeUID}
}

func transportOf(s *v1beta2.TransportStatus) member.Transport {
	if s == nil {
		return member.Transport{}
	}
	return member.Transport(*s)
}

func transportFor(t member.Transport) *v1beta2.TransportStatus {
	if t.IsZero() {
		return nil
	}
	s := v1beta2.TransportStatus(t)
	return &s
}
