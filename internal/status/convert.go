package status

import (
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
