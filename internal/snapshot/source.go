package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

const (
	// statusTimeout is how long a member may take to report its own status.
	statusTimeout = 5 * time.Second
	// quorumTimeout is how long a linearizable read may take: long enough for an election.
	quorumTimeout = 5 * time.Second
)

// FromEtcd takes a snapshot from one of the configuration's endpoints, chosen by choose. They must lead to one cluster, and if an expected
// cluster ID is not 0, to that one: the error is an ElsewhereError if all lead to another. The stream is stale if no member has quorum; with a
// password there is none then, and over plain HTTP the only one to choose is the member that has accepted the password.
func FromEtcd(config etcdclient.Config, expected uint64) Source {
	return func(ctx context.Context) (*Stream, error) {
		if len(config.Endpoints) == 0 {
			return nil, failure.New(failure.Problem{Reason: v1beta2.ReasonEtcdUnreachable, Message: "no member to take a snapshot from is known"})
		}
		expected, err := originOf(ctx, config, expected)
		if err != nil {
			return nil, err
		}
		config, err := loggedIn(ctx, config)
		if err != nil {
			return nil, err
		}
		stream, err := fromMembers(ctx, config, expected)
		return stream, withhold(config.Token, err)
	}
}

func fromMembers(ctx context.Context, config etcdclient.Config, expected uint64) (*Stream, error) {
	members, problem := ask(ctx, config)
	origins := make([]origin, 0, len(members))
	for _, m := range members { // again: a name may have led elsewhere before
		origins = append(origins, origin{m.Endpoint, m.ClusterID})
	}
	common, err := agree(origins, expected)
	if err != nil {
		return nil, err
	}
	known := slices.DeleteFunc(slices.Clone(members), func(m Status) bool { return m.ClusterID != common }) // without those that do not say
	if len(known) == 0 && len(members) > 0 {
		return nil, foreign(origins, expected)
	}
	chosen, ok := choose(known)
	switch {
	case ok:
		return open(ctx, config, chosen)
	case len(members) == 0:
		return nil, problem
	}
	return nil, failure.New(failure.Problem{
		Reason:  v1beta2.ReasonEtcdFailed,
		Message: "every member that answers reports that its data is corrupt (alarm CORRUPT): repair the cluster, or restore it",
	})
}

// ask returns the members that answered, and why one did not.
func ask(ctx context.Context, config etcdclient.Config) ([]Status, error) {
	var (
		mu      sync.Mutex
		wg      sync.WaitGroup
		members []Status
		problem error
	)
	for _, endpoint := range config.Endpoints {
		wg.Go(func() {
			m, err := askOne(ctx, config, endpoint)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				problem = err
				return
			}
			members = append(members, m)
		})
	}
	wg.Wait()
	return members, problem
}

func askOne(ctx context.Context, config etcdclient.Config, endpoint string) (Status, error) {
	client, err := connect(ctx, config, endpoint)
	if err != nil {
		return Status{}, explainEtcd(endpoint, err)
	}
	defer func() { _ = client.Close() }()
	limited, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	s, err := client.Status(limited)
	if err != nil {
		return Status{}, explainEtcd(endpoint, err)
	}
	return Status{
		Endpoint: endpoint, MemberID: s.GetHeader().GetMemberId(), ClusterID: s.GetHeader().GetClusterId(),
		Leader: s.GetLeader(), Learner: s.GetIsLearner(), Applied: s.GetRaftAppliedIndex(), Version: s.GetVersion(),
		Corrupt: isCorrupt(s.GetErrors(), s.GetHeader().GetMemberId()), Quorum: hasQuorum(ctx, client),
	}, nil
}

// hasQuorum does a linearizable read, after which the member serves data at least that recent. Why it fails does not matter here: the
// snapshot is requested in the same way, and reports it.
func hasQuorum(ctx context.Context, client *etcdclient.Client) bool {
	ctx, cancel := context.WithTimeout(ctx, quorumTimeout)
	defer cancel()
	_, err := client.Revision(ctx)
	return err == nil
}

// isCorrupt looks for the member's own alarm in its status, because listing alarms needs a quorum.
func isCorrupt(errs []string, member uint64) bool {
	return slices.Contains(etcdclient.Alarms(errs), etcdclient.Alarm{Kind: "CORRUPT", Member: member})
}

// connect creates a client of one endpoint: a snapshot must come from the member whose revision was read.
func connect(ctx context.Context, config etcdclient.Config, endpoint string) (*etcdclient.Client, error) {
	config.Endpoints, config.Context = []string{endpoint}, ctx
	return etcdclient.Dial(config)
}

// open requests a snapshot from a member that has answered.
func open(ctx context.Context, config etcdclient.Config, m Status) (*Stream, error) {
	client, err := connect(ctx, config, m.Endpoint)
	if err != nil {
		return nil, brokenOff(m.Endpoint, err)
	}
	s := &Stream{
		TakenAt: time.Now(), ClusterID: hexadecimal(m.ClusterID), EtcdVersion: m.Version,
		Member: Member{ID: hexadecimal(m.MemberID), Endpoint: m.Endpoint}, Stale: !m.Quorum,
	}
	stream := &body{client: client, endpoint: m.Endpoint, token: config.Token}
	// Before the snapshot, so that what is counted is in it.
	if s.Keys, s.Revision, err = client.Count(ctx); err == nil {
		stream.ReadCloser, s.StorageVersion, err = client.Snapshot(ctx)
	}
	if err != nil {
		_ = client.Close()
		return nil, brokenOff(m.Endpoint, err)
	}
	s.Body = stream
	return s, nil
}

// body ends the connection with the stream.
type body struct {
	io.ReadCloser
	client          *etcdclient.Client
	endpoint, token string
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = withhold(b.token, brokenOff(b.endpoint, err))
	}
	return n, err
}

func (b *body) Close() error {
	_ = b.ReadCloser.Close()
	return b.client.Close()
}

func explainEtcd(endpoint string, err error) error {
	return failure.Because(err, problemOf(endpoint, err))
}

func problemOf(endpoint string, err error) failure.Problem {
	p := failure.Problem{Reason: v1beta2.ReasonEtcdFailed}
	advice := "etcd failed"
	switch {
	case etcdclient.LoginForgotten(err):
		advice = "etcd does not know the login any more: it has expired, or the member was restarted"
	case etcdclient.Denied(err):
		p.Reason, p.Terminal = v1beta2.ReasonEtcdAccessDenied, true
		advice = "etcd denies the snapshot: it takes a user with the role root"
	case etcdclient.Silent(err):
		p.Reason = v1beta2.ReasonEtcdUnreachable
		advice = "etcd is unreachable; check that it is running, and that it accepts the client certificate"
	}
	p.Message = fmt.Sprintf("%s: %s (%v)", endpoint, advice, err)
	return p
}

// brokenOff explains that a member which answered before no longer does: so there is a member with data.
func brokenOff(endpoint string, err error) error {
	p := problemOf(endpoint, err)
	if p.Reason == v1beta2.ReasonEtcdUnreachable {
		p.Reason = v1beta2.ReasonEtcdFailed
		p.Message = fmt.Sprintf("%s: etcd closed the connection before the snapshot was complete; check its log (%v)", endpoint, err)
	}
	return failure.Because(err, p)
}

// hexadecimal is how etcd's own tools write IDs.
func hexadecimal(id uint64) string { return strconv.FormatUint(id, 16) }
