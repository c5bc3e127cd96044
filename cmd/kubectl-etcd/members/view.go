// Package members is a cluster's etcds to those who change something in them: what a quorum says of them, who can be done without, and
// the few changes that kubectl etcd makes. Whom to believe is decided as the operator decides it (plan.Electorate).
package members

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// View is what a quorum of the voters says of the members, and each of them of itself.
type View struct {
	// Quorum is whether a majority of the voters confirms the member list. Without it only Silent is known.
	Quorum bool
	// Members are those that etcd lists, in the order of their names.
	Members []Member
	// Leader is the name of the member that most call the leader, empty if they call none.
	Leader string
	// Silent are the voters whose word is missing, in the order of their names, each with why if that is known.
	Silent []string
}

// Member is one of them.
type Member struct {
	Name    string
	ID      uint64
	Learner bool
	// Healthy is whether it answers, follows the leader, is in sync, and has no alarm that its data are corrupt.
	Healthy bool
	// Problem says why it is not healthy.
	Problem string
	// Lag is how many entries of the log it has still to apply.
	Lag uint64
	// Bytes is the size of its database's file, InUse how much of it holds data.
	Bytes, InUse int64
}

// Of is what was seen, where these are the voters that status names, and no tunnel leads to some pods.
func Of(seen plan.Etcd, voters []string, unreached map[string]string) View {
	v := View{Quorum: seen.Contact == plan.ContactQuorum}
	if !v.Quorum {
		for _, name := range slices.Sorted(slices.Values(voters)) {
			if !slices.Contains(seen.Confirmed, name) {
				v.Silent = append(v.Silent, because(name, unreached[name]))
			}
		}
		return v
	}
	listed := slices.SortedFunc(slices.Values(seen.Members), func(a, b plan.Member) int { return plan.CompareNames(a.Name, b.Name) })
	leader, furthest := leaderOf(seen, listed), uint64(0)
	for _, a := range seen.Answers {
		if a.ClusterID == seen.ClusterID {
			furthest = max(furthest, a.Committed)
		}
	}
	for _, m := range listed {
		if m.ID == leader && leader != 0 {
			v.Leader = m.Name
		}
		v.Members = append(v.Members, memberOf(m, seen, leader, furthest, unreached[m.Name]))
	}
	return v
}

// answerOf is what the member itself says, false if its pod gives no answer, or somebody else answers there.
func answerOf(m plan.Member, seen plan.Etcd) (plan.Answer, bool) {
	i := slices.IndexFunc(seen.Answers, func(a plan.Answer) bool {
		return a.Pod == m.Name && a.MemberID == m.ID && a.ClusterID == seen.ClusterID
	})
	if i < 0 {
		return plan.Answer{}, false
	}
	return seen.Answers[i], true
}

func memberOf(m plan.Member, seen plan.Etcd, leader, furthest uint64, unreached string) Member {
	out := Member{Name: m.Name, ID: m.ID, Learner: m.Learner}
	a, answers := answerOf(m, seen)
	if !answers {
		out.Problem = "it does not answer"
		if unreached != "" {
			out.Problem = "it cannot be asked: " + unreached
		}
		return out
	}
	out.Bytes, out.InUse, out.Lag = a.DBSize, a.DBSizeInUse, furthest-min(furthest, a.Applied)
	switch {
	case a.Leader == 0:
		out.Problem = "it follows no leader"
	case a.Leader != leader:
		out.Problem = "it follows another leader than the others"
	case out.Lag > plan.LagLimit:
		out.Problem = fmt.Sprintf("it is not in sync: it has %d entries of the log still to apply", out.Lag)
	case slices.ContainsFunc(a.Alarms, func(alarm plan.Alarm) bool {
		return alarm.Kind == plan.AlarmCorrupt && (alarm.Member == m.ID || alarm.Member == 0)
	}):
		out.Problem = "etcd has an alarm that its data are corrupt"
	default:
		out.Healthy = true
	}
	return out
}

// leaderOf is the ID of the member that most of those that are listed call the leader, 0 if they call none.
func leaderOf(seen plan.Etcd, listed []plan.Member) uint64 {
	var reported []uint64
	for _, m := range listed {
		if a, answers := answerOf(m, seen); answers {
			reported = append(reported, a.Leader)
		}
	}
	return plan.LeaderOf(reported)
}

// Voters are the members that vote.
func (v View) Voters() []Member {
	return slices.DeleteFunc(slices.Clone(v.Members), func(m Member) bool { return m.Learner })
}

// Member finds one by its name. The error names those that there are.
func (v View) Member(name string) (Member, error) {
	i := slices.IndexFunc(v.Members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return Member{}, fmt.Errorf("etcd has no member %q, but %s", name, List(names(v.Members)))
	}
	return v.Members[i], nil
}

// Heir is the voter that leadership is best handed to: the healthy one that is the furthest in applying the log.
func (v View) Heir() (Member, error) {
	best := Member{}
	var others []string
	for _, m := range v.Voters() {
		if m.Name == v.Leader {
			continue
		}
		if others = append(others, because(m.Name, m.Problem)); m.Healthy && (best.ID == 0 || m.Lag < best.Lag) {
			best = m
		}
	}
	switch {
	case best.ID != 0:
		return best, nil
	case len(others) == 0:
		return Member{}, fmt.Errorf("%s is the only voter: there is nobody to hand leadership to", v.Leader)
	default:
		return Member{}, fmt.Errorf("no other voter is healthy: %s", strings.Join(others, "; "))
	}
}

// Spared says why a member cannot be done without for a while; nil if it can. Needed is whether it is because there are too few voters, and
// not because one of the others is not healthy.
func (v View) Spared(name string) (needed bool, problem error) {
	m, err := v.Member(name)
	if err != nil || m.Learner {
		return false, err
	}
	voters, healthy := v.Voters(), 0
	var ill []string
	for _, other := range voters {
		switch {
		case other.Name == name:
		case other.Healthy:
			healthy++
		default:
			ill = append(ill, because(other.Name, other.Problem))
		}
	}
	switch {
	case len(ill) > 0:
		return false, fmt.Errorf("%s has to stay: not all others are healthy: %s", name, strings.Join(ill, "; "))
	case healthy < plan.Quorum(len(voters)):
		return true, fmt.Errorf("no member of %d can be missed: all requests would wait until %s is done", len(voters), name)
	default:
		return false, nil
	}
}

// List joins names as a sentence does.
func List(names []string) string {
	const last = 2
	if len(names) < last {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func names(members []Member) (out []string) {
	for _, m := range members {
		out = append(out, m.Name)
	}
	return out
}

// because is a name with why, if that is known.
func because(name, why string) string {
	if why == "" {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, why)
}
