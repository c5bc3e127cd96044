package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// firstIP is the first pod's address. All of 127.0.0.0/8 is the loopback interface's.
var firstIP = netip.MustParseAddr("127.64.0.1")

// world is every simulated member.
type world struct {
	server *server
	// tls is whether the members serve clients over TLS.
	tls bool

	mu      sync.RWMutex
	next    netip.Addr
	pods    map[types.NamespacedName]*node
	byIP    map[netip.Addr]*node
	members map[types.NamespacedName]*ensemble
}

// node is one pod's server: an address, and a member once it has started.
type node struct {
	ip       netip.Addr
	cluster  types.NamespacedName
	ensemble *ensemble
	// uid is the pod's; it names the data directory.
	uid                 types.UID
	version             string
	clusterID, memberID uint64 // 0 until it has started
	// pair is the certificate that it presents to clients, nil without TLS.
	pair *tls.Certificate
	// reads are those of its metrics.
	reads atomic.Int64
	gate  gate
}

// ensemble is all servers of one EtcdCluster.
type ensemble struct {
	mu    sync.Mutex
	state etcdtest.Cluster
}

func newWorld(ctx context.Context, secure bool, metrics *exposition) (*world, error) {
	w := &world{
		tls:  secure,
		next: firstIP, pods: map[types.NamespacedName]*node{}, byIP: map[netip.Addr]*node{},
		members: map[types.NamespacedName]*ensemble{},
	}
	var doors [2]*doorman
	for i, port := range []int{member.ClientPort, member.MetricsPort} {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			return nil, fmt.Errorf("listen for the operator's calls: %w", err)
		}
		doors[i] = &doorman{Listener: listener, world: w}
	}
	w.server = serve(doors[0], doors[1], w, metrics)
	return w, nil
}

// stop ends all servers, also those that are frozen.
func (w *world) stop() {
	w.mu.Lock()
	for _, n := range w.pods {
		n.gate.thaw()
	}
	w.mu.Unlock()
	w.server.stop()
}

// pod gives a pod its address.
func (w *world) pod(name, cluster types.NamespacedName, uid types.UID, version string) *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, ok := w.pods[name]; ok && n.uid == uid {
		return n
	}
	if w.members[cluster] == nil {
		w.members[cluster] = &ensemble{state: etcdtest.Cluster{MaxLearners: 8}}
	}
	n := &node{ip: w.next, cluster: cluster, ensemble: w.members[cluster], uid: uid, version: version}
	w.next = w.next.Next()
	w.pods[name], w.byIP[n.ip] = n, n
	return n
}

// start does what member-run and etcd do with a permit.
func (n *node) start(p *member.Permit) error {
	n.ensemble.mu.Lock()
	defer n.ensemble.mu.Unlock()
	if n.memberID != 0 {
		return nil
	}
	if p.Mode != member.ModeNew {
		return fmt.Errorf("permit mode %s is not simulated", p.Mode)
	}
	initial, err := initialMembers(p)
	if err != nil {
		return err
	}
	err = n.ensemble.state.StartNew(string(n.uid), uint64(p.ClusterID), uint64(p.MemberID), initial)
	if err != nil {
		return err
	}
	n.clusterID, n.memberID = uint64(p.ClusterID), uint64(p.MemberID)
	for _, m := range initial { // the first ones could not publish before there was a quorum
		n.ensemble.state.Publish(n.clusterID, m.ID)
	}
	return nil
}

// started reports whether a server listens on the address.
func (n *node) started() bool {
	n.ensemble.mu.Lock()
	defer n.ensemble.mu.Unlock()
	return n.memberID != 0
}

// serves reports whether the member follows a leader: what its readiness probe says.
func (n *node) serves() bool {
	n.ensemble.mu.Lock()
	defer n.ensemble.mu.Unlock()
	return !n.gate.frozen() && n.memberID != 0 && n.ensemble.state.Read(n.clusterID) && n.ensemble.state.Running(n.clusterID, n.memberID)
}

// end is the pod's end.
func (w *world) end(name types.NamespacedName) {
	w.mu.Lock()
	n, ok := w.pods[name]
	if ok {
		delete(w.pods, name)
		delete(w.byIP, n.ip)
	}
	w.mu.Unlock()
	if ok {
		n.ensemble.mu.Lock()
		n.ensemble.state.Lose(string(n.uid))
		n.ensemble.mu.Unlock()
	}
}

// freeze stops all members of these clusters from answering, thaws all others, and returns all pods.
func (w *world) freeze(frozen map[types.NamespacedName]bool) []types.NamespacedName {
	w.mu.RLock()
	defer w.mu.RUnlock()
	var pods []types.NamespacedName
	for name, n := range w.pods {
		pods = append(pods, name)
		if frozen[n.cluster] {
			n.gate.freeze()
		} else {
			n.gate.thaw()
		}
	}
	return pods
}

// at finds who has the address on which a connection came in.
func (w *world) at(local net.Addr) *node {
	tcp, ok := local.(*net.TCPAddr)
	if !ok {
		return nil
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.byIP[tcp.AddrPort().Addr().Unmap()]
}

func initialMembers(p *member.Permit) ([]etcdtest.Member, error) {
	urls := map[string]string{}
	for _, pair := range strings.Split(p.InitialCluster, ",") {
		name, url, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("initial cluster %q", p.InitialCluster)
		}
		urls[name] = url
	}
	ids, _ := plan.IDs(p.Token, urls)
	var members []etcdtest.Member
	for name, url := range urls {
		members = append(members, etcdtest.Member{ID: ids[name], Name: name, PeerURL: url})
	}
	slices.SortFunc(members, func(a, b etcdtest.Member) int { return strings.Compare(a.Name, b.Name) })
	return members, nil
}
