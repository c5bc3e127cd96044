package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/world"
)

// switchMutants are mistakes of switches between plain text and TLS.
var switchMutants = map[string]mutant{
	"clients are told of TLS before all serve it": {
		next: toldEarly, want: "T", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{tlsForClients}},
	},
	"members join by TLS before all serve it": {
		next: joinedEarly, want: "S1",
		scenario: scenario{sizes: []int{1}, edits: []edit{tlsForPeers}},
	},
	"the list has new URLs before all serve them": {
		next: listedEarly, want: "S1", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{tlsForPeers}},
	},
	"the leader's URL is changed before it serves it": {
		next: leaderListedFirst, want: "S1", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{tlsForPeers}},
	},
	"plain text ends while the list has it": {
		next: listForgotten, want: "T", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{tlsForPeers}},
	},
	"one step for both": {
		next: atOnce, want: "T", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{tlsForAll}},
	},
	"members join by the scheme that was": {
		next: joinByTheOld, want: "T",
		scenario: scenario{sizes: []int{1}, edits: []edit{tlsForPeers, size(2)}},
	},
	"a switch goes on while members join": {
		next: joinersForgotten, want: "S1",
		scenario: scenario{sizes: []int{1}, edits: []edit{tlsForPeers, size(3)}, only: interruptions, faults: 1},
	},
	"a switch that is rolled back goes on where it is": {
		next: neverBack, want: "L", persistent: true,
		scenario: scenario{sizes: []int{1}, edits: []edit{tlsForPeers, noTLS}},
	},
	"a scheme is given up that somebody was told of": {
		next: givenUpTold, want: "T", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{tlsForPeers, noTLS}},
	},
	"a scheme is given up once all serve both": {
		next: givenUpLate, want: "L", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{tlsForPeers, noTLS}, crowded: true},
	},
	"lost pods serve what the spec asks for": {
		next: lostAsAsked, want: "T", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{tlsForPeers}, only: world.Kills, faults: 1},
	},
	"lost pods serve what the next update brings": {
		next: lostAsRecorded, want: "L1: a bad update costs the quorum", persistent: true,
		scenario: scenario{sizes: []int{3}, edits: []edit{tlsForPeers}, crowded: true, only: world.Kills, faults: 1},
	},
	"members join where none is reached": {
		next: joinAsTold, want: "T",
		scenario: scenario{sizes: []int{3}, edits: []edit{tlsForPeers}, walled: true, only: world.Kills, faults: 1},
	},
}

func TestSwitchMutants(t *testing.T) {
	for title, m := range switchMutants {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			m.scenario.running, m.scenario.lockstep = true, true
			if m.scenario.only == nil {
				m.scenario.only = interruptions
			}
			s := m.scenario.with(m.persistent, false, m.next)
			s.Limit, s.SafetyOnly = 200_000, !strings.HasPrefix(m.want, "L")
			r := world.Explore(s)
			if r.Violation == nil || !strings.HasPrefix(r.Violation.Why, m.want) {
				t.Errorf("the mutant was not found: %v\n%v", r, r.Violation)
				return
			}
			t.Logf("%v: %s", r, r.Violation.Why)
		})
	}
}

// asIfAll has every pod serve what is recorded.
func asIfAll(o plan.Observed) plan.Observed {
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		o.Pods[i].Transport, o.Pods[i].Drift.Template = o.Cluster.Transport.Served(), false
	}
	for _, m := range o.Etcd.Members {
		o.Etcd.Reached = append(o.Etcd.Reached, m.Name)
	}
	return o
}

func toldEarly(o plan.Observed) plan.Action {
	if t := o.Cluster.Transport; t.ClientBoth && t.ClientTLS != o.Cluster.SpecTransport.ClientTLS {
		t.ClientTLS = !t.ClientTLS
		return plan.CommitTransport{Transport: t}
	}
	return plan.Next(o)
}

func joinedEarly(o plan.Observed) plan.Action {
	a, t := plan.Next(o), o.Cluster.Transport
	if add, ok := a.(plan.AddLearner); ok && t.PeerBoth && t.PeerTLS != o.Cluster.SpecTransport.PeerTLS {
		add.PeerURL = t.OtherPeers().PeerURLAt(add.PeerURL)
		return add
	}
	return a
}

// listedEarly changes URLs as soon as the switch has begun.
func listedEarly(o plan.Observed) plan.Action {
	if t := o.Cluster.Transport; t.PeerBoth && o.Etcd.Contact == plan.ContactQuorum {
		for _, m := range o.Etcd.Members {
			if url := t.OtherPeers().PeerURLAt(m.PeerURL); url != m.PeerURL && !m.Learner {
				return plan.UpdatePeerURL{ID: m.ID, Name: m.Name, PeerURL: url}
			}
		}
	}
	return plan.Next(o)
}

func leaderListedFirst(o plan.Observed) plan.Action {
	if t := o.Cluster.Transport; t.PeerBoth && o.Etcd.Contact == plan.ContactQuorum && len(o.Etcd.Answers) > 0 {
		for _, m := range o.Etcd.Members {
			if url := t.OtherPeers().PeerURLAt(m.PeerURL); url != m.PeerURL && m.ID == o.Etcd.Answers[0].Leader {
				return plan.UpdatePeerURL{ID: m.ID, Name: m.Name, PeerURL: url}
			}
		}
	}
	return plan.Next(o)
}

func listForgotten(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if _, ok := a.(plan.UpdatePeerURL); ok {
		t := o.Cluster.Transport
		t.PeerBoth = false
		return plan.CommitTransport{Transport: t}
	}
	return a
}

func atOnce(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if commit, ok := a.(plan.CommitTransport); ok && commit.Transport.PeerBoth && !o.Cluster.Transport.PeerBoth {
		return plan.CommitTransport{Transport: o.Cluster.SpecTransport}
	}
	return a
}

func joinByTheOld(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if add, ok := a.(plan.AddLearner); ok {
		add.PeerURL = member.Transport{}.PeerURLAt(add.PeerURL)
		return add
	}
	return a
}

// joinersForgotten takes the next step as if those who join were not there.
func joinersForgotten(o plan.Observed) plan.Action {
	a := plan.Next(o)
	without := o
	without.Etcd.Members = slices.DeleteFunc(slices.Clone(o.Etcd.Members), func(m plan.Member) bool { return m.Learner })
	if len(without.Etcd.Members) == len(o.Etcd.Members) {
		return a
	}
	switch step := plan.Next(asIfAll(without)).(type) {
	case plan.CommitTransport, plan.UpdatePeerURL:
		return step
	default:
		return a
	}
}

// givenUpTold drops the scheme that was told before as soon as the spec's one is told again.
func givenUpTold(o plan.Observed) plan.Action {
	if t := o.Cluster.Transport; t.PeerBoth && t.PeerTLS == o.Cluster.SpecTransport.PeerTLS {
		t.PeerBoth = false
		return plan.CommitTransport{Transport: t}
	}
	return plan.Next(o)
}

// givenUpLate goes by what every member serves, whether anybody was told or not.
func givenUpLate(o plan.Observed) plan.Action {
	o.Cluster.Transport.PeerUntold, o.Cluster.Transport.ClientUntold = false, false
	return plan.Next(o)
}

func lostAsAsked(o plan.Observed) plan.Action { return lostAs(o, o.Cluster.SpecTransport) }

func lostAsRecorded(o plan.Observed) plan.Action { return lostAs(o, o.Cluster.Transport.Served()) }

// lostAs creates the pods of members that there are with that transport.
func lostAs(o plan.Observed, t member.Transport) plan.Action {
	a := plan.Next(o)
	create, ok := a.(plan.CreatePods)
	if !ok {
		return a
	}
	create.Pods = slices.Clone(create.Pods)
	for i := range create.Pods {
		if create.Pods[i].Permit != nil {
			create.Pods[i].Transport = t
		}
	}
	return create
}

// joinAsTold adds members by the scheme that is told by now.
func joinAsTold(o plan.Observed) plan.Action {
	a := plan.Next(o)
	if add, ok := a.(plan.AddLearner); ok {
		add.PeerURL = o.Cluster.PeerURL(add.Name)
		return add
	}
	return a
}

func neverBack(o plan.Observed) plan.Action {
	if t := o.Cluster.Transport; t.PeerBoth {
		o.Cluster.SpecTransport.PeerTLS = t.PeerTLS
	}
	return plan.Next(o)
}
