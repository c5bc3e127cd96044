package etcd

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const (
	// readTimeout is how long one member may take for the linearizable reads. It is longer than statusTimeout, for a
	// read waits until a new leader has committed something in its own term.
	readTimeout = 2 * time.Second
	// readBudget is how long the reads may take together, when one member after the other fails.
	readBudget = 4 * time.Second
)

// readQuorum reads linearizably from the members that can, one after the other until one does.
func (s *Session) readQuorum(ctx context.Context, peers []peer) {
	ctx, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	able := readers(peers)
	for _, p := range able {
		members, revision, err := read(ctx, p)
		if err != nil {
			continue
		}
		id := p.answer.ClusterID
		s.Seen.Contact, s.Seen.ClusterID = plan.ContactQuorum, id
		s.Seen.Members, s.Seen.Revision = members, revision
		s.voters = slices.DeleteFunc(able, func(p peer) bool { return p.answer.ClusterID != id })
		return
	}
}

// readers are the voters that follow a leader: those of the cluster that most belong to come first (a stranger at an
// address of ours must not speak for the rest), and among them the leader. Learners refuse to read for others.
func readers(peers []peer) []peer {
	size := map[uint64]int{}
	for _, p := range peers {
		size[p.answer.ClusterID]++
	}
	able := slices.DeleteFunc(slices.Clone(peers), func(p peer) bool { return p.answer.Learner || p.answer.Leader == 0 })
	slices.SortStableFunc(able, func(a, b peer) int {
		return cmp.Or(
			size[b.answer.ClusterID]-size[a.answer.ClusterID],
			cmp.Compare(a.answer.ClusterID, b.answer.ClusterID), // of two equal ones always the same
			yes(b.answer.Leader == b.answer.MemberID)-yes(a.answer.Leader == a.answer.MemberID),
		)
	})
	return able
}

// read returns the member list and the revision that a quorum agrees on. The revision is 0 where etcd refuses to read
// keys: the member list alone is proof of the quorum.
func read(ctx context.Context, p peer) ([]plan.Member, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	list, err := p.client.MemberList(ctx) // linearizable unless told otherwise
	if err != nil {
		return nil, 0, fmt.Errorf("list members: %w", err)
	}
	if id := list.Header.GetClusterId(); id != p.answer.ClusterID {
		return nil, 0, fmt.Errorf("cluster %016x answers in place of %016x", id, p.answer.ClusterID)
	}
	var members []plan.Member
	for _, m := range list.Members {
		members = append(members, memberOf(m.ID, m.Name, m.PeerURLs, len(m.ClientURLs) > 0, m.IsLearner))
	}
	// The key that etcd's own health check reads. Only the header of the answer matters.
	health, err := p.client.Get(ctx, "health", clientv3.WithCountOnly())
	switch {
	case err == nil:
		return members, health.Header.GetRevision(), nil
	case passes(err) || ctx.Err() != nil:
		return nil, 0, fmt.Errorf("read the revision: %w", err)
	default:
		return members, 0, nil
	}
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
