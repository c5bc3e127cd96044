package embedtest

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// startTimeout is how long servers may take until they are ready: generous, for machines that run many tests at once.
const startTimeout = 30 * time.Second

// Cluster is a set of etcd servers. It is not safe for concurrent use.
type Cluster struct {
	// Token is the initial-cluster-token, and ID the cluster ID.
	Token string
	ID    uint64
	// Members are the first members, in the order of their names (m-0, m-1, …), and then those of NewMember.
	Members []*Member

	dir     string
	options []func(*embed.Config)
}

// Start bootstraps a cluster of n voters and waits until each of them has announced itself. The options change the
// configuration of every server, also of those that are made later. The servers end with the test.
func Start(t testing.TB, n int, options ...func(*embed.Config)) *Cluster {
	t.Helper()
	c := &Cluster{Token: strings.ReplaceAll(t.Name(), "/", "-"), dir: t.TempDir(), options: options}
	t.Cleanup(func() { each(c.Members, (*Member).stop) })
	for range n {
		c.NewMember(t)
	}
	for _, m := range c.Members {
		m.config.ClusterState = embed.ClusterStateFlagNew
		m.config.InitialCluster = c.InitialCluster(c.Members...)
	}
	// At the same time: the first start asks the others whether they know the member already.
	errs := make(chan error, n)
	each(c.Members, func(m *Member) { errs <- m.start() })
	for range n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range c.Members {
		m.WaitReady(t)
	}
	c.ID = c.Members[0].ClusterID()
	return c
}

// NewMember makes a server and does not start it: see Join. Its PeerURL is that of a learner to be added.
func (c *Cluster) NewMember(t testing.TB) *Member {
	t.Helper()
	m := &Member{Name: fmt.Sprintf("m-%d", len(c.Members)), client: reserve(t), peer: reserve(t)}
	m.Address = m.client.Addr().String()
	m.config = c.config(m)
	c.Members = append(c.Members, m)
	return m
}

// InitialCluster is etcd's name=url list of these members.
func (c *Cluster) InitialCluster(members ...*Member) string {
	var pairs []string
	for _, m := range members {
		pairs = append(pairs, m.Name+"="+m.PeerURL)
	}
	return strings.Join(pairs, ",")
}

// PeerURLs are the peer URLs of all members by name.
func (c *Cluster) PeerURLs() map[string]string {
	urls := map[string]string{}
	for _, m := range c.Members {
		urls[m.Name] = m.PeerURL
	}
	return urls
}

func (c *Cluster) config(m *Member) *embed.Config {
	peer, client := url.URL{Scheme: "http", Host: m.peer.Addr().String()}, url.URL{Scheme: "http", Host: m.Address}
	config := embed.NewConfig()
	config.Name, config.Dir, config.InitialClusterToken = m.Name, filepath.Join(c.dir, m.Name), c.Token
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.TickMs, config.ElectionMs = 20, 200
	config.UnsafeNoFsync = true
	config.BcryptCost = 4 // the lowest: with the race detector a password of the usual cost stops the server for longer than an election takes
	// A server that was just removed panics when it is asked for its status (etcd 3.7.3, RaftCluster.IsLocalMemberLearner), which
	// would end the tests. Here the request gets no answer, as from a process that has exited.
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.New(zapcore.NewNopCore(), zap.WithPanicHook(zapcore.WriteThenGoexit)))
	for _, change := range c.options {
		change(config)
	}
	m.PeerURL = config.AdvertisePeerUrls[0].String() // with https, if an option asks for it
	return config
}

func each(members []*Member, do func(*Member)) {
	var wg sync.WaitGroup
	for _, m := range members {
		wg.Go(func() { do(m) })
	}
	wg.Wait()
}
