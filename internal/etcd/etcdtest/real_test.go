package etcdtest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
)

const (
	// callTimeout is how long a call may take that a quorum takes.
	callTimeout = 2 * time.Second
	// patience is how long an outcome is waited for: etcd's health interval of five seconds, and a slow machine.
	patience = 20 * time.Second
	// pause is what the servers, on a machine with few cores, have to themselves between two looks.
	pause = 20 * time.Millisecond
)

// server is one real etcd.
type server struct {
	name, peerURL, clientURL string
	config                   *embed.Config
	etcd                     *embed.Etcd
	client                   *clientv3.Client
}

// newServers prepares servers on free ports that no outgoing connection takes.
func newServers(t *testing.T, n, maxLearners int) []*server {
	t.Helper()
	dir := t.TempDir()
	servers := make([]*server, n)
	for i := range servers {
		s := &server{name: fmt.Sprintf("m-%d", i), peerURL: freeURL(t), clientURL: freeURL(t)}
		c := embed.NewConfig()
		c.Name, c.Dir, c.InitialClusterToken = s.name, filepath.Join(dir, s.name), t.Name()
		peer, client := []url.URL{parse(t, s.peerURL)}, []url.URL{parse(t, s.clientURL)}
		c.ListenPeerUrls, c.AdvertisePeerUrls = peer, peer
		c.ListenClientUrls, c.AdvertiseClientUrls = client, client
		c.TickMs, c.ElectionMs, c.MaxLearners = 50, 500, maxLearners
		c.UnsafeNoFsync = true
		c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
		s.config = c
		servers[i] = s
		t.Cleanup(s.stop)
	}
	return servers
}

// nextPort counts, so that no server takes the port of another that is down for a while; it starts anywhere below the
// range of outgoing connections.
var nextPort atomic.Int32

func init() { nextPort.Store(15000 + rand.Int32N(4000)) }

func freeURL(t *testing.T) string {
	t.Helper()
	config := net.ListenConfig{}
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", nextPort.Add(1))
		l, err := config.Listen(t.Context(), "tcp", address)
		if err == nil {
			_ = l.Close()
			return "http://" + address
		}
	}
	t.Fatal("no free port")
	return ""
}

func parse(t *testing.T, text string) url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return *u
}

// start runs etcd with that state and initial cluster, and tells in the fake's words why it does not start.
func (s *server) start(t *testing.T, state string, initial []*server) error {
	t.Helper()
	var pairs []string
	for _, other := range initial {
		pairs = append(pairs, other.name+"="+other.peerURL)
	}
	config := *s.config // etcd writes into its configuration
	config.ClusterState, config.InitialCluster = state, strings.Join(pairs, ",")
	var err error
	if s.etcd, err = embed.StartEtcd(&config); err != nil {
		return startError(err)
	}
	s.client, err = clientv3.New(clientv3.Config{
		Endpoints: []string{s.clientURL}, DialTimeout: callTimeout, Logger: zap.NewNop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return nil
}

// startError knows the texts of errors that have no type in etcd.
func startError(err error) error {
	for text, is := range map[string]error{
		"has already been bootstrapped": etcdtest.ErrBootstrapped,
		"cannot fetch cluster info":     etcdtest.ErrNoPeer,
		"error validating peerURLs":     etcdtest.ErrMemberCount,
	} {
		if strings.Contains(err.Error(), text) {
			return is
		}
	}
	return err
}

// stop ends the server as a crash does: a leader does not hand over.
func (s *server) stop() {
	if s.etcd != nil {
		_ = s.client.Close()
		s.etcd.Server.HardStop()
		s.etcd.Close()
		s.etcd = nil
	}
}

func (s *server) wipe(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(s.config.Dir); err != nil {
		t.Fatal(err)
	}
}

// callError is what a call was answered, in the fake's words. An added member's ID is made of its peer URL and the time in
// seconds: who asks twice within a second is told so in other words.
func callError(err error) error {
	for real, is := range map[error]error{
		rpctypes.ErrUnhealthy: etcdtest.ErrUnhealthy, rpctypes.ErrMemberNotEnoughStarted: etcdtest.ErrNotEnoughStarted,
		rpctypes.ErrPeerURLExist: etcdtest.ErrPeerURLExists,
		rpctypes.ErrMemberExist:  etcdtest.ErrPeerURLExists, rpctypes.ErrTooManyLearners: etcdtest.ErrTooManyLearners,
		rpctypes.ErrMemberNotFound: etcdtest.ErrNotFound, rpctypes.ErrMemberNotLearner: etcdtest.ErrNotLearner,
		rpctypes.ErrMemberLearnerNotReady: etcdtest.ErrNotReady, rpctypes.ErrBadLeaderTransferee: etcdtest.ErrBadTransferee,
		rpctypes.ErrNoLeader: etcdtest.ErrNoLeader, rpctypes.ErrTimeout: etcdtest.ErrNoLeader,
		rpctypes.ErrTimeoutDueToConnectionLost: etcdtest.ErrNoLeader,
		rpctypes.ErrTimeoutDueToLeaderFail:     etcdtest.ErrNoLeader, context.DeadlineExceeded: etcdtest.ErrNoLeader,
	} {
		if errors.Is(err, real) {
			return is
		}
	}
	return err
}
