package record

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/tests/v3/robustness/client"
	"go.etcd.io/etcd/tests/v3/robustness/identity"
	"go.etcd.io/etcd/tests/v3/robustness/report"
	"go.etcd.io/etcd/tests/v3/robustness/traffic"
	"go.uber.org/zap"
	"golang.org/x/time/rate"
)

const (
	// perSecond is how many operations all clients do together: what minutes of them can be checked in.
	perSecond = 40
	// deletions is how many requests that are no writes of a value of their own may be under way: each may have happened or not.
	deletions = 3
	keys      = 10
	// lastLimit bounds the last write and the last look at what all members have.
	lastLimit = time.Minute
)

// Recorder is traffic, and all that it saw. Each member has clients of its own: what is written through one is read through others.
type Recorder struct {
	kind    traffic.Traffic
	set     *client.ClientSet
	load    traffic.RunTrafficLoopParam
	watch   traffic.RunWatchLoopParam
	log     *zap.Logger
	all     sync.WaitGroup
	members map[string]context.CancelFunc
}

// Start checks that a cluster is empty, which the validators expect, and prepares the traffic: that of Kubernetes or of all kinds
// of requests. Follow begins it.
func Start(ctx context.Context, log *zap.Logger, endpoints []string, kubernetes bool) (*Recorder, error) {
	// Members under faults are slow: a request that is given up sooner only leaves more that is unknown.
	traffic.RequestTimeout = time.Second
	ids := identity.NewIDProvider()
	r := &Recorder{
		kind: traffic.EtcdPutDeleteLease, log: log, set: client.NewSet(ids, time.Now()), members: map[string]context.CancelFunc{},
	}
	if kubernetes {
		r.kind = traffic.Kubernetes
	}
	limiter, store, storage := rate.NewLimiter(perSecond, perSecond), traffic.NewKeyStore(keys, "key"), traffic.NewKubernetesStorage()
	never := make(chan struct{}) // a loop ends with its context
	r.load = traffic.RunTrafficLoopParam{
		QPSLimiter: limiter, IDs: ids, LeaseIDStorage: identity.NewLeaseIDStorage(), KeyStore: store, Storage: storage, Finish: never,
		NonUniqueRequestConcurrencyLimiter: traffic.NewConcurrencyLimiter(deletions),
	}
	r.watch = traffic.RunWatchLoopParam{
		Config: traffic.WatchDefault, QPSLimiter: limiter, KeyStore: store, Storage: storage, Finish: never, Logger: log,
	}
	ctx, cancel := context.WithTimeout(ctx, lastLimit)
	defer cancel()
	if err := traffic.CheckEmptyDatabaseAtStart(ctx, log, endpoints, r.set); err != nil {
		return nil, fmt.Errorf("look at the empty cluster: %w", err)
	}
	return r, nil
}

// Follow begins traffic at endpoints that are new, and ends it at those that are gone. Those that map to false are there and get
// none yet: a learner refuses all requests, and the traffic does not pause after that. It is not to be called concurrently.
func (r *Recorder) Follow(ctx context.Context, endpoints map[string]bool) error {
	for endpoint, voter := range endpoints {
		if !voter || r.members[endpoint] != nil {
			continue
		}
		ctx, cancel := context.WithCancel(ctx)
		r.members[endpoint] = cancel
		if err := r.begin(ctx, endpoint); err != nil {
			return err
		}
	}
	for endpoint, cancel := range r.members {
		if _, here := endpoints[endpoint]; !here {
			cancel()
			delete(r.members, endpoint)
		}
	}
	return nil
}

// begin has two clients write and read at a member, and one watch.
func (r *Recorder) begin(ctx context.Context, endpoint string) error {
	for _, work := range []func(*client.RecordingClient){
		func(c *client.RecordingClient) { r.kind.RunKeyValueLoop(ctx, c, r.load) },
		func(c *client.RecordingClient) { r.kind.RunKeyValueLoop(ctx, c, r.load) },
		func(c *client.RecordingClient) { r.kind.RunWatchLoop(ctx, c, r.watch) },
	} {
		c, err := r.set.NewClient([]string{endpoint})
		if err != nil {
			return fmt.Errorf("connect to %s: %w", endpoint, err)
		}
		r.all.Go(func() {
			work(c)
			_ = c.Close() // what it saw is recorded
		})
	}
	return nil
}

// Finish ends the traffic, writes once more, which must succeed, and has every member tell all that ever happened.
func (r *Recorder) Finish(ctx context.Context, endpoints []string) ([]report.ClientReport, error) {
	for _, cancel := range r.members {
		cancel()
	}
	r.all.Wait()
	ctx, cancel := context.WithTimeout(ctx, lastLimit)
	defer cancel()
	c, err := r.set.NewClient(endpoints)
	if err != nil {
		return nil, fmt.Errorf("connect to write last: %w", err)
	}
	last, err := c.Put(ctx, "tombstone", "true")
	if err != nil {
		return nil, fmt.Errorf("write last: %w", err)
	}
	revision := make(chan int64, 1)
	revision <- last.Header.Revision
	err = client.CollectClusterWatchEvents(ctx, client.CollectClusterWatchEventsParam{
		Lg: r.log, Endpoints: endpoints, MaxRevisionChan: revision, ClientSet: r.set,
	})
	if err != nil {
		return nil, fmt.Errorf("watch what every member has: %w", err)
	}
	return r.set.Reports(), nil
}
