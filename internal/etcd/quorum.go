package etcd

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// readTimeout is how long one member may take for the linearizable reads. It is longer than statusTimeout, for a read waits
// until a new leader has committed something in its own term.
const readTimeout = 2 * time.Second

// readQuorum has those read linearizably whose word counts, all at the same time. Where they contradict each other the
// membership may just have changed: they are asked once more.
func (s *Session) readQuorum(ctx context.Context, peers []peer, electorate plan.Electorate) {
	for range 2 {
		s.Seen = readAll(ctx, peers, electorate)
		if s.Seen.Contact == plan.ContactQuorum || len(s.Seen.Unconfirmed) < 2 {
			break
		}
	}
	s.voters = confirmers(&s.Seen, peers)
}

// readAll reads until a majority has confirmed one list.
func readAll(ctx context.Context, peers []peer, electorate plan.Electorate) plan.Etcd {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	responses := make([]plan.Response, len(peers))
	done := make(chan func(), len(peers))
	asked := 0
	for i, p := range peers {
		if responses[i] = p.response; !electorate.Asks(p.response) {
			continue
		}
		asked++
		go func() {
			said, err := read(ctx, p)
			done <- func() {
				if err == nil {
					responses[i].Read = said
				}
			}
		}()
	}
	for range asked {
		(<-done)()
		if seen := electorate.Judge(responses); seen.Contact == plan.ContactQuorum {
			return seen
		}
	}
	return electorate.Judge(responses)
}

// confirmers are the voters that a change of the membership is asked of: those first that have confirmed the list, and the one
// of them that most call the leader before the others. Those whose reads were not waited for come last: a forged pod may be in
// the leader's own place. They are in order, rather than that one be chosen (plan.LeaderOf), because the next is asked if the first is not there.
func confirmers(seen *plan.Etcd, peers []peer) []peer {
	ids, named := map[string]uint64{}, map[uint64]int{}
	for _, m := range seen.Members {
		if !m.Learner {
			ids[m.Name] = m.ID
		}
	}
	for _, a := range seen.Answers {
		if a.Leader != 0 {
			named[a.Leader]++
		}
	}
	voters := slices.DeleteFunc(slices.Clone(peers), func(p peer) bool {
		return p.response.ClusterID != seen.ClusterID || p.response.MemberID != ids[p.endpoint.Pod] || p.response.Leader == 0
	})
	rank := func(p peer) []int {
		return []int{toInt(slices.Contains(seen.Confirmed, p.endpoint.Pod)), named[p.response.MemberID]}
	}
	slices.SortStableFunc(voters, func(a, b peer) int { return slices.Compare(rank(b), rank(a)) })
	return voters
}

// read returns what the member says that a quorum agrees on. The revision is 0 where etcd refuses to read keys: the member
// list alone is proof of the quorum.
func read(ctx context.Context, p peer) (*plan.Read, error) {
	list, err := p.client.Members(ctx)
	if err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	if n := len(list.Members); n > membersLimit { // they are compared with each other
		return nil, fmt.Errorf("list members: %d are more than an etcd cluster can have", n)
	}
	said := &plan.Read{ClusterID: list.Header.GetClusterId()}
	for _, m := range list.Members {
		said.Members = append(said.Members, memberOf(m.ID, m.Name, m.PeerURLs, len(m.ClientURLs) > 0, m.IsLearner))
	}
	said.Revision, err = p.client.Revision(ctx)
	if err != nil && (etcdclient.Passes(err) || ctx.Err() != nil) {
		return nil, fmt.Errorf("read the revision: %w", err)
	}
	return said, nil
}

func memberOf(id uint64, name string, peerURLs []string, published, learner bool) plan.Member {
	m := plan.Member{ID: id, Name: name, Published: published, Learner: learner}
	if len(peerURLs) > 0 {
		m.PeerURL = peerURLs[0]
		m.Name = nameIn(m.PeerURL, name)
	}
	return m
}

// nameIn is the first label of the host in a peer URL, for a member that has not started has no other name. A host that
// is an IP address has no name in it, so that the member's own stays.
func nameIn(peerURL, name string) string {
	u, err := url.Parse(peerURL)
	if err != nil || u.Hostname() == "" || net.ParseIP(u.Hostname()) != nil {
		return name
	}
	label, _, _ := strings.Cut(u.Hostname(), ".")
	return label
}
