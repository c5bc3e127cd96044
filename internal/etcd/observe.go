package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// statusTimeout is how long a member may take to answer for itself.
const statusTimeout = time.Second

// Session is one observation, with the connections that it was made over: what is done next goes to the members that
// answered then. It is good until the next observation of the same cluster.
type Session struct {
	// Seen is what the servers said.
	Seen plan.Etcd
	// Slow tells that somebody was waited for in vain: servers that hang cost time, those that are down do not.
	Slow bool
	// voters are the members of the observed cluster that follow a leader, the leader first; none without a quorum.
	voters []peer
}

// peer is a member that answered.
type peer struct {
	answer plan.Answer
	client *clientv3.Client
}

// Observe asks every endpoint for its own state, and one that follows a leader for what the quorum agrees on. It takes
// at most statusTimeout and readBudget together, whoever is silent.
//
// An endpoint that answers with a refusal, such as etcd with authentication does to strangers, leaves an Answer that
// holds nothing but the refusal, in Errors. Contact is quorum only together with a member list; Revision is then 0 if
// reading keys is refused.
func (p *Pool) Observe(ctx context.Context, cluster string, config *tls.Config, endpoints []Endpoint) *Session {
	start := time.Now()
	p.retain(cluster, endpoints)
	peers := p.askAll(ctx, cluster, config, endpoints)
	s := &Session{}
	for _, peer := range peers {
		s.Seen.Answers = append(s.Seen.Answers, peer.answer)
	}
	if len(peers) > 0 {
		s.Seen.Contact = plan.ContactMinority
		s.readQuorum(ctx, peers)
	}
	s.Slow = time.Since(start) >= statusTimeout
	return s
}

// askAll returns those that answered, in the order of the endpoints.
func (p *Pool) askAll(ctx context.Context, cluster string, config *tls.Config, endpoints []Endpoint) []peer {
	peers := make([]peer, len(endpoints))
	var wg sync.WaitGroup
	for i, e := range endpoints {
		wg.Go(func() {
			client, err := p.client(cluster, config, e)
			if err != nil {
				return // a malformed address answers as little as one where nobody listens
			}
			if answer, ok := ask(ctx, client, e); ok {
				peers[i] = peer{answer: answer, client: client}
			}
		})
	}
	wg.Wait()
	return slices.DeleteFunc(peers, func(p peer) bool { return p.client == nil })
}

func ask(ctx context.Context, c *clientv3.Client, e Endpoint) (plan.Answer, bool) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	answer := plan.Answer{Pod: e.Pod, PodUID: e.PodUID}
	// The client's own Status makes a connection for each call.
	status, err := pb.NewMaintenanceClient(c.ActiveConnection()).Status(ctx, &pb.StatusRequest{})
	if err != nil {
		var refusal rpctypes.EtcdError
		if errors.As(rpctypes.Error(err), &refusal) {
			answer.Errors = []string{refusal.Error()}
			return answer, true
		}
		return answer, false
	}
	answer.MemberID, answer.ClusterID = status.GetHeader().GetMemberId(), status.GetHeader().GetClusterId()
	answer.Revision = status.GetHeader().GetRevision()
	answer.Leader, answer.Learner, answer.Version = status.GetLeader(), status.GetIsLearner(), status.GetVersion()
	answer.Applied, answer.Committed = status.GetRaftAppliedIndex(), status.GetRaftIndex()
	answer.DBSize, answer.DBSizeInUse = status.GetDbSize(), status.GetDbSizeInUse()
	answer.Errors = status.GetErrors()
	answer.Storage = version.Minor(status.GetStorageVersion())
	if d := status.GetDowngradeInfo(); d.GetEnabled() {
		answer.Downgrade = version.Minor(d.GetTargetVersion())
	}
	return answer, true
}
