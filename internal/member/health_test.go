package member_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/health" // clients ask for it with this
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/etcdpilot/etcd-operator/internal/member"
)

// TestServesNobodyWhileDefragmented runs each etcd as member-run configures it, and defragments one of two members. A snapshot that is read from
// that one keeps it from ending. Meanwhile the member says that it does not serve, a client that asks for that is served by the other one, and a
// client as etcd makes it waits for its share of requests.
func TestServesNobodyWhileDefragmented(t *testing.T) {
	t.Parallel()
	for minor, asset := range map[string]string{"3.5": "TEST_ASSET_ETCD35", "3.6": "TEST_ASSET_ETCD", "3.7": "TEST_ASSET_ETCD37"} {
		t.Run(minor, func(t *testing.T) {
			program := os.Getenv(asset)
			if program == "" {
				t.Fatalf("%s is not set: run this with `make test-unit`", asset)
			}
			servesNobody(t, program)
		})
	}
}

func servesNobody(t *testing.T, program string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	members := runTwo(t, program)
	asking, usual := askingClient(ctx, t, members[0]), connect(t, members)
	servedByBoth(ctx, t, asking)
	servedByBoth(ctx, t, usual)
	says := health(ctx, t, members[0])
	says(grpc_health_v1.HealthCheckResponse_SERVING)

	release := holdSnapshot(ctx, t, connect(t, members[:1]))
	ended := make(chan error, 1)
	go func() {
		_, err := usual.Defragment(ctx, "http://"+members[0].client)
		ended <- err
	}()
	says(grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	waits(ctx, t, usual)
	for range 20 {
		if _, err := put(ctx, asking, 10*time.Second); err != nil {
			t.Fatalf("a client that asks is not served: %v", err)
		}
	}
	select {
	case err := <-ended:
		t.Fatalf("the defragmentation has ended: %v", err)
	default:
	}
	release()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	says(grpc_health_v1.HealthCheckResponse_SERVING)
	servedByBoth(ctx, t, asking)
}

// runTwo runs two members without TLS.
func runTwo(t *testing.T, program string) []*process {
	t.Helper()
	members := []*process{newProcess(t, "db-0"), newProcess(t, "db-1")}
	initial := "db-0=http://" + members[0].peer + ",db-1=http://" + members[1].peer
	for _, p := range members {
		p.start(t, program, member.Config{
			Name: p.name, PeerURL: "http://" + p.peer, ClientURL: "http://" + p.client, DataDir: filepath.Join(p.dir, "data"),
		}, member.Start{State: member.StateNew, InitialCluster: initial, Token: "t", ListenHost: "0.0.0.0"})
	}
	awaitHealthy(t, members)
	return members
}

// askingClient is one that docs/autopilot.md shows: its endpoint is one address, and it takes those of all members from etcd.
func askingClient(ctx context.Context, t *testing.T, p *process) *clientv3.Client {
	t.Helper()
	client := connect(t, []*process{p}, grpc.WithDisableServiceConfig(),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}}`))
	if err := client.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	return client
}

func connect(t *testing.T, members []*process, options ...grpc.DialOption) *clientv3.Client {
	t.Helper()
	var endpoints []string
	for _, p := range members {
		endpoints = append(endpoints, "http://"+p.client)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, DialOptions: options, Context: t.Context(), Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// put writes, and returns the member that has answered.
func put(ctx context.Context, client *clientv3.Client, timeout time.Duration) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer, err := client.Put(ctx, "key", "value")
	if err != nil {
		return 0, err
	}
	return answer.Header.MemberId, nil
}

// servedByBoth writes until both members have answered a client.
func servedByBoth(ctx context.Context, t *testing.T, client *clientv3.Client) {
	t.Helper()
	for seen := map[uint64]bool{}; len(seen) < 2; {
		id, err := put(ctx, client, time.Minute)
		if err != nil {
			t.Fatalf("after answers of %v: %v", seen, err)
		}
		seen[id] = true
	}
}

// waits writes until a write is not answered. The first ones may come before the lock.
func waits(ctx context.Context, t *testing.T, client *clientv3.Client) {
	t.Helper()
	for {
		_, err := put(ctx, client, time.Second)
		switch {
		case ctx.Err() != nil:
			t.Fatal("a client that does not ask is served all the same")
		case errors.Is(err, context.DeadlineExceeded):
			return
		case err != nil:
			t.Fatal(err)
		}
	}
}

// health follows what a member says of itself: the function waits until it says that next.
func health(ctx context.Context, t *testing.T, p *process) func(grpc_health_v1.HealthCheckResponse_ServingStatus) {
	t.Helper()
	client := connect(t, []*process{p})
	stream, err := grpc_health_v1.NewHealthClient(client.ActiveConnection()).Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return func(want grpc_health_v1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		if got, err := stream.Recv(); err != nil || got.GetStatus() != want {
			t.Fatalf("the member says %v, %v, and should say %v", got, err, want)
		}
	}
}

// holdSnapshot reads the beginning of a snapshot of a database that does not fit into what is buffered on the way. Until it is released the
// member cannot close that database.
func holdSnapshot(ctx context.Context, t *testing.T, client *clientv3.Client) (release func()) {
	t.Helper()
	for i := range 4 {
		if _, err := client.Put(ctx, "large/"+strconv.Itoa(i), strings.Repeat("x", 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, release = context.WithCancel(ctx)
	t.Cleanup(release)
	snapshot, err := client.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return release
}
