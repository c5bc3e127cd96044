package members_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const clusterID = 0xc1

// seen are that many healthy members that the first one leads.
func seen(voters, learners int) plan.Etcd {
	e := plan.Etcd{Contact: plan.ContactQuorum, ClusterID: clusterID}
	for i := range voters + learners {
		name, id := "demo-"+string(rune('0'+i)), uint64(i+1)
		e.Members = append(e.Members, plan.Member{ID: id, Name: name, Learner: i >= voters})
		e.Answers = append(e.Answers, plan.Answer{
			Pod: name, MemberID: id, ClusterID: clusterID, Leader: 1, Applied: 100, Committed: 100, DBSize: 10, DBSizeInUse: 5,
		})
	}
	return e
}

// TestOf tells who is healthy, and why somebody is not.
func TestOf(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*plan.Etcd)
		want   string
	}{
		"all is well":           {func(*plan.Etcd) {}, ""},
		"it does not answer":    {func(e *plan.Etcd) { e.Answers = e.Answers[:2] }, "it cannot be asked: no tunnel"},
		"another one answers":   {func(e *plan.Etcd) { e.Answers[2].MemberID = 7 }, "it cannot be asked"},
		"another cluster's":     {func(e *plan.Etcd) { e.Answers[2].ClusterID = 7 }, "it cannot be asked"},
		"no leader":             {func(e *plan.Etcd) { e.Answers[2].Leader = 0 }, "it follows no leader"},
		"another leader":        {func(e *plan.Etcd) { e.Answers[2].Leader = 3 }, "it follows another leader than the others"},
		"a little behind":       {func(e *plan.Etcd) { e.Answers[0].Committed = 1000 }, ""},
		"the operator waits":    {func(e *plan.Etcd) { e.Answers[0].Committed = 1600 }, "it has 1500 entries of the log still to apply"},
		"far behind":            {func(e *plan.Etcd) { e.Answers[0].Committed = 9000 }, "it has 8900 entries of the log still to apply"},
		"corrupt":               {alarmOf(plan.AlarmCorrupt, 3), "its data are corrupt"},
		"corrupt, who knows":    {alarmOf(plan.AlarmCorrupt, 0), "its data are corrupt"},
		"another one is":        {alarmOf(plan.AlarmCorrupt, 1), ""},
		"its database is full":  {alarmOf(plan.AlarmNoSpace, 3), ""},
		"an answer of a former": {func(e *plan.Etcd) { e.Answers[2].Pod = "demo-9" }, "it cannot be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			e := seen(3, 0)
			test.change(&e)
			v := members.Of(e, nil, map[string]string{"demo-2": "no tunnel"})
			m, err := v.Member("demo-2")
			if err != nil || m.Healthy != (test.want == "") || !strings.Contains(m.Problem, test.want) {
				t.Errorf("demo-2 is %+v, %v", m, err)
			}
			if v.Leader != "demo-0" {
				t.Errorf("%q leads", v.Leader)
			}
		})
	}
}

func alarmOf(kind plan.AlarmKind, id uint64) func(*plan.Etcd) {
	return func(e *plan.Etcd) { e.Answers[2].Alarms = []plan.Alarm{{Kind: kind, Member: id}} }
}

// TestNoQuorum names who is missing.
func TestNoQuorum(t *testing.T) {
	v := members.Of(plan.Etcd{Contact: plan.ContactMinority, Confirmed: []string{"demo-0"}}, []string{"demo-1", "demo-0", "demo-2"},
		map[string]string{"demo-2": "its pod is Pending"})
	if v.Quorum || !slices.Equal(v.Silent, []string{"demo-1", "demo-2 (its pod is Pending)"}) {
		t.Errorf("seen %+v", v)
	}
}

// TestSpared tells who can be done without, by the others.
func TestSpared(t *testing.T) {
	ill := func(i int) func(*plan.Etcd) { return func(e *plan.Etcd) { e.Answers[i].Leader = 0 } }
	none := func(*plan.Etcd) {}
	for name, test := range map[string]struct {
		voters, learners int
		change           func(*plan.Etcd)
		member, want     string
		needed           bool
	}{
		"one of three":          {3, 0, none, "demo-2", "", false},
		"the leader":            {3, 0, none, "demo-0", "", false},
		"the one that is ill":   {3, 0, ill(2), "demo-2", "", false},
		"another one is ill":    {3, 0, ill(2), "demo-1", "not all others are healthy: demo-2 (it follows no leader)", false},
		"one of five is ill":    {5, 0, ill(4), "demo-1", "not all others are healthy", false},
		"one of two":            {2, 0, none, "demo-1", "no member of 2 can be missed", true},
		"the only one":          {1, 0, none, "demo-0", "no member of 1 can be missed", true},
		"a learner":             {1, 1, none, "demo-1", "", false},
		"an ill learner":        {3, 1, ill(3), "demo-1", "", false},
		"one beside no learner": {2, 1, none, "demo-0", "no member of 2 can be missed", true},
		"nobody":                {3, 0, none, "demo-7", `no member "demo-7", but demo-0, demo-1 and demo-2`, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := seen(test.voters, test.learners)
			test.change(&e)
			needed, err := members.Of(e, nil, nil).Spared(test.member)
			if needed != test.needed || (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("needed is %v: %v", needed, err)
			}
		})
	}
}

// TestViewHeir is the healthy voter that is the furthest.
func TestViewHeir(t *testing.T) {
	e := seen(4, 1)
	e.Answers[0].Committed = 110
	e.Answers[1].Leader, e.Answers[1].Applied = 0, 110
	e.Answers[3].Applied, e.Answers[4].Applied = 105, 110
	if heir, err := members.Of(e, nil, nil).Heir(); err != nil || heir.Name != "demo-3" {
		t.Errorf("the heir is %+v, %v", heir, err)
	}
	e = seen(2, 0)
	e.Answers = e.Answers[:1]
	if _, err := members.Of(e, nil, nil).Heir(); err == nil || err.Error() != "no other voter is healthy: demo-1 (it does not answer)" {
		t.Errorf("of two, one is down: %v", err)
	}
	if _, err := members.Of(seen(1, 0), nil, nil).Heir(); err == nil || !strings.Contains(err.Error(), "the only voter") {
		t.Errorf("of one: %v", err)
	}
}
