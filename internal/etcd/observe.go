package etcd

import (
	"context"
	"crypto/tls"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdpilot/etcd-operator/internal/plan"
)

const (
	// statusTimeout is how long a member may take to answer for itself, and readTimeout how long a linearizable read
	// may take: longer, for it may have to wait for an election.
	statusTimeout = time.Second
	readTimeout   = 2 * time.Second
)

// Session is one observation, with the connections that it was made over: what is done next goes to the members that
// answered then.
type Session struct {
	// Seen is what the servers said.
	Seen    plan.Etcd
	clients map[uint64]*clientv3.Client // by the member ID that answered
}

// Observe asks every endpoint for its own state, and one that follows a leader for what the quorum agrees on. It takes
// at most a few seconds, whoever is silent.
func (p *Pool) Observe(ctx context.Context, cluster string, config *tls.Config, endpoints []Endpoint) *Session {
	p.retain(cluster, endpoints)
	s := &Session{clients: map[uint64]*clientv3.Client{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, e := range endpoints {
		wg.Go(func() {
			c, err := p.client(cluster, config, e)
			if err != nil {
				return // a malformed address is that of a pod without one
			}
			answer, ok := ask(ctx, c, e)
			if !ok {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			s.Seen.Answers = append(s.Seen.Answers, answer)
			s.clients[answer.MemberID] = c
		})
	}
	wg.Wait()
	slices.SortFunc(s.Seen.Answers, func(a, b plan.Answer) int { return plan.CompareNames(a.Pod, b.Pod) })
	if len(s.Seen.Answers) > 0 {
		s.Seen.Contact = plan.ContactMinority
		s.readQuorum(ctx)
	}
	return s
}

func ask(ctx context.Context, c *clientv3.Client, e Endpoint) (plan.Answer, bool) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	status, err := c.Status(ctx, c.Endpoints()[0])
	if err != nil {
		return plan.Answer{}, false
	}
	return plan.Answer{
		Pod: e.Pod, PodUID: e.PodUID,
		MemberID: status.Header.MemberId, ClusterID: status.Header.ClusterId, Leader: status.Leader,
		Learner: status.IsLearner, Version: status.Version, Revision: status.Header.Revision,
		Applied: status.RaftAppliedIndex, Committed: status.RaftIndex,
		DBSize: status.DbSize, DBSizeInUse: status.DbSizeInUse, Errors: status.Errors,
	}, true
}

// readQuorum reads linearizably from the members that follow a leader, the leader itself first, until one can. Learners
// are not asked: they refuse.
func (s *Session) readQuorum(ctx context.Context) {
	for _, id := range s.voters() {
		c := s.clients[id]
		list, err := memberList(ctx, c)
		if err != nil {
			continue
		}
		s.Seen.Contact, s.Seen.ClusterID = plan.ContactQuorum, list.Header.ClusterId
		for _, m := range list.Members {
			member := plan.Member{ID: m.ID, Name: m.Name, Published: len(m.ClientURLs) > 0, Learner: m.IsLearner}
			if len(m.PeerURLs) > 0 {
				member.PeerURL = m.PeerURLs[0]
				member.Name = firstLabel(m.PeerURLs[0], m.Name)
			}
			s.Seen.Members = append(s.Seen.Members, member)
		}
		s.Seen.Revision = revision(ctx, c)
		return
	}
}

// voters are the members to ask, the leader first.
func (s *Session) voters() []uint64 {
	var ids []uint64
	for _, a := range s.Seen.Answers {
		switch {
		case a.Learner || a.Leader == 0:
		case a.Leader == a.MemberID:
			ids = slices.Insert(ids, 0, a.MemberID)
		default:
			ids = append(ids, a.MemberID)
		}
	}
	return ids
}

func memberList(ctx context.Context, c *clientv3.Client) (*clientv3.MemberListResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return c.MemberList(ctx) // linearizable unless told otherwise
}

// revision is that of a linearizable read, 0 where reading is not permitted.
func revision(ctx context.Context, c *clientv3.Client) int64 {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	answer, err := c.Get(ctx, "health")
	if err != nil {
		return 0
	}
	return answer.Header.Revision
}

// firstLabel is the member's name: the first label of the host in its peer URL, for a member that has not started has
// no other. A host that is an address has no name in it.
func firstLabel(peerURL, name string) string {
	u, err := url.Parse(peerURL)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(u.Hostname()[:1], "0123456789[") {
		return name
	}
	label, _, _ := strings.Cut(u.Hostname(), ".")
	return label
}
