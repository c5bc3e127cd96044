package etcd

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/metrics"
)

const (
	// answerLimit is how many bytes one answer may have, so that no server can fill the operator's memory: answers are
	// unpacked to a hundred times as much. The longest that etcd gives here is the list of membersLimit members.
	answerLimit = 64 << 10
	// headerLimit is the same for what comes before and after an answer, such as the text of a refusal.
	headerLimit = 16 << 10
	// membersLimit is how many members a list may have: several times what a spec can ask for.
	membersLimit = 64
)

// Endpoint is how to reach one member's server.
type Endpoint struct {
	// Pod and PodUID name the pod that is expected to answer.
	Pod, PodUID string
	// Address is ip:port.
	Address string
	// ServerName is the name that the server's certificate must carry.
	ServerName string
	// Metrics is where it serves its metrics over plain HTTP, ip:port; empty if it does not.
	Metrics string
}

// Pool keeps connections to members between observations. It is safe for concurrent use, also by several clusters;
// observations of one cluster come one after the other.
type Pool struct {
	// SampleEvery is how often the members of a calm cluster are asked for their metrics; every 5 minutes if it is 0.
	SampleEvery time.Duration

	mu       sync.Mutex
	clusters map[string]map[Endpoint]connection
	watches  map[string]*watch
	reaches  map[string]*reach
	lags     map[string]map[string]time.Time
	upkeeps  map[string]*upkeep
	samplers map[string]*sampler
	// jobs are what goes on beside the passes.
	jobs sync.WaitGroup
}

// connection leads to one endpoint, made with this TLS configuration.
type connection struct {
	client *etcdclient.Client
	config *tls.Config
}

// NewPool returns a pool without connections.
func NewPool() *Pool {
	return &Pool{
		clusters: map[string]map[Endpoint]connection{}, watches: map[string]*watch{}, reaches: map[string]*reach{},
		lags: map[string]map[string]time.Time{}, upkeeps: map[string]*upkeep{}, samplers: map[string]*sampler{},
	}
}

// Disconnect closes the connections to a cluster until it is observed again.
func (p *Pool) Disconnect(cluster string) { p.retain(cluster, nil) }

// Forget drops everything about a cluster that is gone.
func (p *Pool) Forget(cluster string) {
	p.Disconnect(cluster)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.watches, cluster)
	delete(p.reaches, cluster)
	delete(p.lags, cluster)
	p.forgetUpkeep(cluster)
	delete(p.samplers, cluster)
}

// Close closes every connection, and returns once nothing goes on beside the passes. The pool can be used again, with new ones.
func (p *Pool) Close() {
	p.mu.Lock()
	p.abandonJobs()
	clusters := p.clusters
	p.clusters = map[string]map[Endpoint]connection{}
	p.mu.Unlock()
	for _, connections := range clusters {
		for _, c := range connections {
			c.close()
		}
	}
	p.jobs.Wait()
}

// retain closes the connections to endpoints that are not among these.
func (p *Pool) retain(cluster string, endpoints []Endpoint) {
	var gone []connection
	p.mu.Lock()
	for e, c := range p.clusters[cluster] {
		if !slices.Contains(endpoints, e) {
			gone = append(gone, c)
			delete(p.clusters[cluster], e)
		}
	}
	if len(p.clusters[cluster]) == 0 {
		delete(p.clusters, cluster)
	}
	p.mu.Unlock()
	for _, c := range gone {
		c.close()
	}
}

// forgetOthers forgets what is remembered of pods that are none of these. A pod that is not there for a moment is known anew after that.
func (p *Pool) forgetOthers(cluster string, endpoints []Endpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	uids := map[string]bool{}
	for _, e := range endpoints {
		uids[e.PodUID] = true
	}
	if u := p.upkeeps[cluster]; u != nil {
		keepOnly(u.rests, uids)
		keepOnly(u.last, uids)
		keepOnly(u.busy, uids)
	}
	if w := p.watches[cluster]; w != nil {
		keepOnly(w.recent, uids)
		keepOnly(w.still, uids)
	}
}

func keepOnly[V any](of map[string]V, uids map[string]bool) {
	maps.DeleteFunc(of, func(uid string, _ V) bool { return !uids[uid] })
}

// client returns a connection to one member. It is made lazily: a member that is not there yet costs nothing here.
func (p *Pool) client(cluster string, config *tls.Config, e Endpoint) (*etcdclient.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, ok := p.clusters[cluster][e]
	if ok && sameIdentity(old.config, config) {
		return old.client, nil
	}
	client, err := connect(config, e)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", e.Address, err)
	}
	if ok {
		old.close()
	}
	if p.clusters[cluster] == nil {
		p.clusters[cluster] = map[Endpoint]connection{}
	}
	p.clusters[cluster][e] = connection{client: client, config: config}
	return client, nil
}

// close drops the connection. Its error does not matter: the connection is not used again.
func (c connection) close() { _ = c.client.Close() }

func connect(config *tls.Config, e Endpoint) (*etcdclient.Client, error) {
	to := etcdclient.ReachMember(config, e.Address, e.ServerName)
	to.Context = context.Background() // it outlives the observation that needs it first
	// Together with keepalive comes TCP_USER_TIMEOUT, which ends a connection to a node that is gone. There are no
	// pings without calls: etcd takes those for an attack.
	to.DialKeepAliveTime, to.DialKeepAliveTimeout = 10*time.Second, 3*time.Second
	to.MaxCallRecvMsgSize = answerLimit
	to.MaxUnaryRetries = 1 // one attempt: who is asked again, and when, is decided by whoever observes
	to.DialOptions = append(to.DialOptions,
		grpc.WithChainUnaryInterceptor(metrics.CountEtcdCall),
		grpc.WithMaxHeaderListSize(headerLimit),
		grpc.WithConnectParams(grpc.ConnectParams{
			// A member that starts is found by the next observation, not after gRPC's growing pauses.
			Backoff: backoff.Config{
				BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 250 * time.Millisecond,
			},
			MinConnectTimeout: 3 * time.Second,
		}),
	)
	if config != nil {
		// A TLS connection has a buffer of its own. gRPC's would take 32 KiB more for as long as it is open: those of plain connections, and
		// no others, are given back while nothing is read.
		to.DialOptions = append(to.DialOptions, grpc.WithReadBufferSize(0))
	}
	return etcdclient.Dial(to)
}

// sameIdentity reports whether two configurations present the same certificates and trust the same authorities, so that a
// connection made with the one serves the other: the Secret that they come from is read in every pass.
func sameIdentity(a, b *tls.Config) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	return a.RootCAs.Equal(b.RootCAs) && slices.EqualFunc(a.Certificates, b.Certificates,
		func(a, b tls.Certificate) bool { return slices.EqualFunc(a.Certificate, b.Certificate, slices.Equal) })
}
