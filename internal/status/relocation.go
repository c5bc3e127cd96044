package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// relocationOf reads which member is moved off a node, or was.
func relocationOf(a *v1beta2.AutopilotStatus) plan.Relocation {
	if a == nil || a.Relocation == nil {
		return plan.Relocation{}
	}
	r := a.Relocation
	return plan.Relocation{
		Member: uint64(member.ParseID(r.MemberID)), Name: r.Member, Node: r.Node, Since: r.Since.Time, GivenUp: r.GivenUp,
		Successor: uint64(member.ParseID(r.SuccessorID)),
	}
}

// writeRelocation writes that.
func writeRelocation(s *v1beta2.EtcdClusterStatus, r plan.Relocation) {
	if r == (plan.Relocation{}) {
		if s.Autopilot != nil {
			s.Autopilot.Relocation = nil
		}
		return
	}
	if s.Autopilot == nil {
		s.Autopilot = &v1beta2.AutopilotStatus{}
	}
	s.Autopilot.Relocation = &v1beta2.Relocation{
		MemberID: formatID(r.Member), Member: r.Name, Node: r.Node, Since: metav1.NewTime(r.Since), GivenUp: r.GivenUp,
		SuccessorID: formatID(r.Successor),
	}
}
