package doctor

import (
	"fmt"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/report"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// voters are the members that vote, as status has them.
func (f *Facts) voters() (all []v1beta2.MemberStatus) {
	for _, m := range f.Cluster.Status.MemberStatuses {
		if m.Role == v1beta2.MemberRoleVoter {
			all = append(all, m)
		}
	}
	return all
}

// leader is whom most of those who answer follow, 0 if they know none.
func (f *Facts) leader() uint64 {
	var reported []uint64
	for _, name := range f.spoken() {
		reported = append(reported, f.Answers[name].Leader)
	}
	return plan.LeaderOf(reported)
}

// spoke reports whether a member was asked and has answered.
func spoke(a report.Answer) bool { return a.Problem == "" && a.Unasked == "" }

// down is why a voter does not count for the quorum, empty if it does. Of one that was not asked, status says.
func (f *Facts) down(m v1beta2.MemberStatus, leader uint64) string {
	a, asked := f.Answers[m.Name]
	switch {
	case asked && a.Problem != "":
		return a.Problem
	case asked && a.Unasked == "" && a.Leader == 0:
		return "it knows no leader"
	case asked && a.Unasked == "" && a.Leader != leader:
		return "it follows another leader than the others"
	case (!asked || a.Unasked != "") && !m.Ready:
		if m.Message != "" {
			return m.Message
		}
		return "the operator found it not ready"
	}
	return ""
}

// quorum tells how many voters may fail.
func quorum(f *Facts) []Finding {
	voters := f.voters()
	if len(voters) == 0 {
		found := doubtful("etcd has no members yet")
		found.Next = f.under()
		return []Finding{found}
	}
	up, leader := 0, f.leader()
	for _, m := range voters {
		if f.down(m, leader) == "" {
			up++
		}
	}
	const needsMargin = 3
	needed := len(voters)/2 + 1
	says := fmt.Sprintf("%d of %d voters are up, and %d make a quorum", up, len(voters), needed)
	switch {
	case up < needed:
		found := wrong("lost: %s; clients can neither write nor read", says)
		found.Next, found.Runbook = f.under(), runbook("EtcdQuorumLost")
		found.ByHand = "bring back the members below. Delete nothing: their data is what is left"
		return []Finding{found}
	case up == needed && len(voters) >= needsMargin:
		found := doubtful("the next failure is an outage: %s", says)
		found.Next, found.Runbook = f.under(), runbook("EtcdNoMargin")
		found.ByHand = "bring back the members below"
		return []Finding{found}
	}
	return good("%s: %d may fail", says, up-needed)
}

// members names those that are not well.
func members(f *Facts) []Finding {
	var found []Finding
	leader := f.leader()
	for _, m := range f.Cluster.Status.MemberStatuses {
		if m.Role != v1beta2.MemberRoleVoter {
			if m.Message != "" {
				one := doubtful("%s, a %s: %s", m.Name, kindOf(m.Role), m.Message)
				one.Next = f.under()
				found = append(found, one)
			}
			continue
		}
		if why := f.down(m, leader); why != "" {
			one := wrong("%s%s: %s", m.Name, at(m.Node), why)
			one.Next = f.under()
			one.ByHand = fmt.Sprintf("kubectl -n %s describe pod %s, and kubectl -n %s logs %s -c etcd", f.Cluster.Namespace, m.Name, f.Cluster.Namespace, m.Name)
			if f.Answers[m.Name].Podless {
				one.ByHand = fmt.Sprintf("see why the operator does not create it: kubectl -n %s describe etcdcluster %s", f.Cluster.Namespace, f.Cluster.Name)
			}
			found = append(found, one)
		}
	}
	if len(f.Cluster.Status.MemberStatuses) == 0 {
		return nil
	}
	return orGood(found, "%s", f.names())
}

func kindOf(role v1beta2.MemberRole) string {
	if role == v1beta2.MemberRoleLearner {
		return "learner"
	}
	return "pod that is no member"
}

// names are those of all members, with the leader's mark.
func (f *Facts) names() string {
	var all []string
	leader := f.leader()
	for _, m := range f.Cluster.Status.MemberStatuses {
		name := m.Name
		if a, asked := f.Answers[name]; asked && spoke(a) && a.ID == leader || len(f.spoken()) == 0 && m.Leader {
			name += " (leader)"
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

func at(node string) string {
	if node == "" {
		return ""
	}
	return " on " + node
}
