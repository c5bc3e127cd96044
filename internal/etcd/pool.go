package etcd

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// Endpoint is how to reach one member's server.
type Endpoint struct {
	// Pod and PodUID name the pod that is expected to answer.
	Pod, PodUID string
	// Address is ip:port.
	Address string
	// ServerName is the name that the server's certificate must carry.
	ServerName string
}

// Pool keeps connections to members between observations. It is safe for concurrent use.
type Pool struct {
	mu       sync.Mutex
	clusters map[string]map[string]*clientv3.Client
}

// NewPool returns a pool without connections.
func NewPool() *Pool { return &Pool{clusters: map[string]map[string]*clientv3.Client{}} }

// Forget closes the connections to a cluster that is gone.
func (p *Pool) Forget(cluster string) { p.retain(cluster, nil) }

// Close closes every connection.
func (p *Pool) Close() {
	p.mu.Lock()
	clusters := p.clusters
	p.clusters = map[string]map[string]*clientv3.Client{}
	p.mu.Unlock()
	for _, clients := range clusters {
		for _, c := range clients {
			_ = c.Close() // the connection is of no further use, whatever it says
		}
	}
}

// retain closes the connections to pods that are gone.
func (p *Pool) retain(cluster string, endpoints []Endpoint) {
	keep := map[string]bool{}
	for _, e := range endpoints {
		keep[e.key()] = true
	}
	var gone []*clientv3.Client
	p.mu.Lock()
	for key, c := range p.clusters[cluster] {
		if !keep[key] {
			gone = append(gone, c)
			delete(p.clusters[cluster], key)
		}
	}
	if len(p.clusters[cluster]) == 0 {
		delete(p.clusters, cluster)
	}
	p.mu.Unlock()
	for _, c := range gone {
		_ = c.Close() // the pod is gone
	}
}

func (e Endpoint) key() string { return e.PodUID + "@" + e.Address }

// client returns a connection to one member. It is made lazily: a member that is not there yet costs nothing here.
func (p *Pool) client(cluster string, config *tls.Config, e Endpoint) (*clientv3.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.clusters[cluster][e.key()]; ok {
		return c, nil
	}
	scheme := "http"
	if config != nil {
		scheme = "https"
		config = config.Clone()
		config.ServerName = e.ServerName
	}
	c, err := clientv3.New(clientv3.Config{
		Context:              context.Background(),
		Endpoints:            []string{scheme + "://" + e.Address},
		TLS:                  config,
		Logger:               zap.NewNop(),
		DialKeepAliveTime:    30 * time.Second,
		DialKeepAliveTimeout: 5 * time.Second,
		MaxUnaryRetries:      1,
		DialOptions: []grpc.DialOption{
			// A member that starts is asked again within a pass or two, not after gRPC's growing pauses.
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff: backoff.Config{
					BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second,
				},
				MinConnectTimeout: statusTimeout,
			}),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", e.Address, err)
	}
	if p.clusters[cluster] == nil {
		p.clusters[cluster] = map[string]*clientv3.Client{}
	}
	p.clusters[cluster][e.key()] = c
	return c, nil
}
