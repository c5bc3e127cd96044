package etcd

import (
	"context"
	"crypto/tls"
	"sync"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
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
	// Slow is true if a server was waited for without success: servers that hang cost time, those that are down do not.
	Slow bool
	// voters are those of the list that follow a leader, in the order of confirmers; none without a quorum.
	voters []peer
	// electorate is whose word counts.
	electorate plan.Electorate
}

// peer is a member that answered.
type peer struct {
	endpoint Endpoint
	response plan.Response
	client   *etcdclient.Client
}

// Observe asks every endpoint for its own state, and those whose word counts for what the quorum agrees on, until a
// majority of them says the same. It takes at most statusTimeout and readTimeout together, whoever is silent, and
// readTimeout more if they contradict each other; where something is slow, statusTimeout and metricsTimeout more.
//
// An endpoint that answers with a refusal, such as etcd with authentication does to strangers, leaves an Answer that
// holds nothing but the refusal, in Errors. Contact is quorum only together with a member list; Revision is then 0 if
// reading keys is refused.
func (p *Pool) Observe(ctx context.Context, cluster string, config *tls.Config, electorate plan.Electorate,
	endpoints []Endpoint,
) *Session {
	start := time.Now()
	p.retain(cluster, endpoints)
	p.forgetOthers(cluster, endpoints)
	p.forgetUnread(cluster, start)
	peers, mute, refusals := p.askAll(ctx, cluster, config, endpoints)
	s := &Session{electorate: electorate}
	began := time.Now()
	s.readQuorum(ctx, peers, electorate)
	p.noteLags(cluster, &s.Seen, began)
	s.Seen.Handshakes = handshakesOf(refusals, electorate, s.Seen.Members)
	s.Seen.Mute = muteOf(mute, electorate, s.Seen.Members)
	p.watchDisks(ctx, cluster, s, peers, mute, time.Since(began))
	s.Slow = time.Since(start) >= statusTimeout
	return s
}

// askAll returns those that answered, in the order of the endpoints, those that only take connections, and those that take none for want of
// certificates that both sides accept.
func (p *Pool) askAll(ctx context.Context, cluster string, config *tls.Config, endpoints []Endpoint) (
	answered []peer, mute []Endpoint, refusals []plan.HandshakeFailure,
) {
	peers, connected, refused := make([]peer, len(endpoints)), make([]bool, len(endpoints)), make([]string, len(endpoints))
	var wg sync.WaitGroup
	for i, e := range endpoints {
		wg.Go(func() {
			client, err := p.client(cluster, config, e)
			if err != nil {
				return // a malformed address is like one without a server
			}
			answer, err := ask(ctx, client, e)
			if err == nil {
				peers[i] = answer
			}
			refused[i] = etcdclient.Handshake(err)
			connected[i] = client.Connected()
		})
	}
	wg.Wait()
	for i, p := range peers {
		switch {
		case p.client != nil:
			answered = append(answered, p)
		case connected[i]:
			mute = append(mute, endpoints[i])
		case refused[i] != "":
			refusals = append(refusals, plan.HandshakeFailure{Pod: endpoints[i].Pod, Message: printable(refused[i])})
		}
	}
	return answered, mute, refusals
}

func ask(ctx context.Context, c *etcdclient.Client, e Endpoint) (peer, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	p := peer{endpoint: e, client: c}
	p.response.Pod, p.response.PodUID = e.Pod, e.PodUID
	answer := &p.response.Answer
	status, err := c.Status(ctx)
	switch {
	case etcdclient.Refused(err):
		answer.Errors = []string{err.Error()}
		return p, nil
	case err != nil:
		return p, err
	}
	p.response.Term = status.GetRaftTerm()
	answer.MemberID, answer.ClusterID = status.GetHeader().GetMemberId(), status.GetHeader().GetClusterId()
	answer.Revision = status.GetHeader().GetRevision()
	answer.Leader, answer.Learner, answer.Version = status.GetLeader(), status.GetIsLearner(), version.Plain(status.GetVersion())
	answer.Applied, answer.Committed = status.GetRaftAppliedIndex(), status.GetRaftIndex()
	answer.DBSize, answer.DBSizeInUse = status.GetDbSize(), status.GetDbSizeInUse()
	answer.Quota = max(status.GetDbSizeQuota(), 0)
	answer.Errors, answer.Alarms = status.GetErrors(), alarmsOf(status.GetErrors())
	answer.Storage = version.Minor(status.GetStorageVersion())
	if d := status.GetDowngradeInfo(); d.GetEnabled() {
		answer.Downgrade = version.Minor(d.GetTargetVersion())
	}
	return p, nil
}
