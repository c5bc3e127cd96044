package embedtest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// Member is one etcd server.
type Member struct {
	// Name is the member's name.
	Name string
	// Address is where it serves clients, ip:port.
	Address string
	// PeerURL is where the other members reach it.
	PeerURL string

	config *embed.Config
	server *embed.Etcd
	// client and peer hold the ports until the first start.
	client, peer net.Listener
}

// Join starts a server that was added as a learner, and does not wait until it is ready. The initial cluster must list
// all members, this one included: see Cluster.InitialCluster.
func (m *Member) Join(t testing.TB, initialCluster string) {
	t.Helper()
	m.config.ClusterState = embed.ClusterStateFlagExisting
	m.config.InitialCluster = initialCluster
	m.Start(t)
}

// Start starts a server that was stopped, on the data that it has, and does not wait until it is ready.
func (m *Member) Start(t testing.TB) {
	t.Helper()
	if err := m.start(); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the server at once, as a crash does: a leader does not hand over. Its data stays.
func (m *Member) Stop(t testing.TB) {
	t.Helper()
	if m.server == nil {
		t.Fatalf("%s does not run", m.Name)
	}
	m.stop()
}

// WaitReady waits until the running server has announced its client URLs to the others.
func (m *Member) WaitReady(t testing.TB) {
	t.Helper()
	select {
	case <-m.server.Server.ReadyNotify():
	case err := <-m.server.Err():
		t.Fatalf("%s ended: %v", m.Name, err)
	case <-time.After(startTimeout):
		t.Fatalf("%s is not ready after %s", m.Name, startTimeout)
	}
}

// ID is the member ID that the running server has.
func (m *Member) ID() uint64 { return uint64(m.server.Server.MemberID()) }

// ClusterID is the cluster ID that the running server has.
func (m *Member) ClusterID() uint64 { return uint64(m.server.Server.Cluster().ID()) }

func (m *Member) start() error {
	m.release()
	config := *m.config // etcd writes into its configuration, and a restart needs a fresh one
	server, err := embed.StartEtcd(&config)
	if err != nil {
		return fmt.Errorf("start %s: %w", m.Name, err)
	}
	m.server = server
	return nil
}

func (m *Member) stop() {
	m.release()
	if m.server != nil {
		m.server.Server.HardStop() // or a leader would wait for others that are stopped, too
		m.server.Close()
		m.server = nil
	}
}

// release gives the ports free. They are free already if this is not the first start.
func (m *Member) release() {
	_ = m.client.Close()
	_ = m.peer.Close()
}

// reserve listens on a port that the kernel gives to no one by itself: an outgoing connection could otherwise take the
// port of a server that is down for a while.
func reserve(t testing.TB) net.Listener {
	t.Helper()
	const first, last, attempts = 20000, 32000, 100
	config := net.ListenConfig{}
	var err error
	for range attempts {
		var l net.Listener
		address := fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(last-first)) //nolint:gosec // a free port is no secret
		if l, err = config.Listen(t.Context(), "tcp", address); err == nil {
			return l
		}
	}
	t.Fatalf("no free port: %v", err)
	return nil
}
