package etcd_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// server stands for an etcd: a real one whose disk hangs needs a disk that does.
type server struct {
	pb.UnimplementedMaintenanceServer
	pb.UnimplementedClusterServer
	pb.UnimplementedKVServer

	mu sync.Mutex
	// What it answers. A mute one takes the question and never does; a late one has caught up when it is asked again.
	id, leader, term, committed uint64
	backlog                     uint64 // entries that it has still to apply
	mute, late                  bool
	slow                        time.Duration
	// What its metrics say; asked is how often they were asked for.
	flushes, spent          float64
	hasLeader, copies, down bool
	asked                   int
}

func (s *server) set(change func(*server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *server) Status(ctx context.Context, _ *pb.StatusRequest) (*pb.StatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mute {
		s.mu.Unlock()
		<-ctx.Done()
		s.mu.Lock()
	}
	answer := &pb.StatusResponse{
		Header: s.header(), Leader: s.leader, RaftTerm: s.term, RaftIndex: s.committed, RaftAppliedIndex: s.committed - s.backlog, Version: "3.6.16",
	}
	if s.late {
		s.committed += 10
	}
	return answer, nil
}

func (s *server) header() *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: 0xc1, MemberId: s.id, Revision: 1}
}

func (s *server) MemberList(context.Context, *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	time.Sleep(s.slow) // what it stands for: a leader that is busy with its disk
	return &pb.MemberListResponse{Header: s.header(), Members: []*pb.Member{
		{ID: 1, Name: "m-0"}, {ID: 2, Name: "m-1"}, {ID: 3, Name: "m-2"},
	}}, nil
}

func (s *server) Range(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &pb.RangeResponse{Header: s.header()}, nil
}

func (s *server) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked++; s.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	bit := map[bool]int{true: 1}
	_, _ = fmt.Fprintf(w, `# TYPE etcd_disk_wal_fsync_duration_seconds histogram
etcd_disk_wal_fsync_duration_seconds_bucket{le="+Inf"} %[1]g
etcd_disk_wal_fsync_duration_seconds_sum %[2]g
etcd_disk_wal_fsync_duration_seconds_count %[1]g
# TYPE etcd_server_has_leader gauge
etcd_server_has_leader %[3]d
# TYPE etcd_server_proposals_committed_total gauge
etcd_server_proposals_committed_total %[4]d
# TYPE etcd_network_snapshot_receive_inflights_total gauge
etcd_network_snapshot_receive_inflights_total{From="1"} %[5]d
`, s.flushes, s.spent, bit[s.hasLeader], s.committed, bit[s.copies])
}

// three are servers of one cluster that server 0 leads, and how to reach them.
func three(t *testing.T) ([]*server, []etcd.Endpoint) {
	t.Helper()
	var servers []*server
	var endpoints []etcd.Endpoint
	for i := range 3 {
		s := &server{id: uint64(i + 1), leader: 1, term: 2, committed: 100, flushes: 50, spent: 0.1, hasLeader: true}
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		g := grpc.NewServer()
		pb.RegisterMaintenanceServer(g, s)
		pb.RegisterClusterServer(g, s)
		pb.RegisterKVServer(g, s)
		go func() { _ = g.Serve(listener) }() // it ends when it is told to
		metrics := httptest.NewServer(s)
		t.Cleanup(metrics.Close)
		t.Cleanup(g.Stop)
		name := fmt.Sprintf("m-%d", i)
		servers = append(servers, s)
		endpoints = append(endpoints, etcd.Endpoint{
			Pod: name, PodUID: "uid-" + name, Address: listener.Addr().String(), Metrics: metrics.Listener.Addr().String(),
		})
	}
	return servers, endpoints
}

// goOn lets the others elect server 1 and write, while server 0 knows nothing of that.
func goOn(servers []*server) {
	for _, s := range servers[1:] {
		s.set(func(s *server) { s.leader, s.term, s.committed = 2, 3, 110 })
	}
}

// slow makes every linearizable read wait for the leader, which is busy with its disk.
func slow(servers []*server) {
	for _, s := range servers {
		s.set(func(s *server) { s.slow = 300 * time.Millisecond })
	}
}

func diskOf(e plan.Etcd, pod string) (plan.Disk, bool) {
	for _, d := range e.Disks {
		if d.Pod == pod {
			return d, true
		}
	}
	return plan.Disk{}, false
}

func TestHealthyDisksAreLeftAlone(t *testing.T) {
	t.Parallel()
	servers, endpoints := three(t)
	servers[2].set(func(s *server) { s.committed, s.late = 95, true }) // it was asked a moment before the others
	for range 3 {
		if seen := newPool(t).Observe(t.Context(), t.Name(), nil, voting(0xc1, endpoints), endpoints).Seen; len(seen.Answers) != 3 || len(seen.Disks) != 0 {
			t.Errorf("seen %+v", seen)
		}
		servers[2].set(func(s *server) { s.committed = 95 })
	}
	for _, s := range servers {
		s.set(func(s *server) {
			if s.asked != 0 {
				t.Errorf("server %d was asked %d times for its metrics", s.id, s.asked)
			}
		})
	}
}

func TestFormerLeaderWhoseDiskHangs(t *testing.T) {
	t.Parallel()
	servers, endpoints := three(t)
	goOn(servers)
	pool := newPool(t)
	eventually(t, "a log that stands still", func() bool {
		seen := pool.Observe(t.Context(), t.Name(), nil, voting(0xc1, endpoints), endpoints).Seen
		for _, a := range seen.Answers {
			if a.Pod == "m-0" && a.Leader != 0 || a.Pod != "m-0" && a.Leader != 2 {
				t.Fatalf("%s follows %d", a.Pod, a.Leader)
			}
		}
		for _, pod := range []string{"m-1", "m-2"} {
			if d, ok := diskOf(seen, pod); !ok || d.Stalled != 0 {
				t.Fatalf("%s: %+v", pod, d)
			}
		}
		d, ok := diskOf(seen, "m-0")
		return ok && d.PodUID == "uid-m-0" && d.Stalled > 100*time.Millisecond && d.Stalled <= d.Watched
	})
	servers[0].set(func(s *server) { s.flushes++ })
	seen := pool.Observe(t.Context(), t.Name(), nil, voting(0xc1, endpoints), endpoints).Seen
	if d, ok := diskOf(seen, "m-0"); !ok || d.Stalled != 0 {
		t.Errorf("its log has moved: %+v", d)
	}
}

func TestMuteMember(t *testing.T) {
	t.Parallel()
	servers, endpoints := three(t)
	servers[2].set(func(s *server) { s.mute, s.committed = true, 90 })
	pool := newPool(t)
	eventually(t, "a log that stands still", func() bool {
		seen := pool.Observe(t.Context(), t.Name(), nil, voting(0xc1, endpoints), endpoints).Seen
		pool.Disconnect(t.Name()) // as after each pass that is slow
		d, _ := diskOf(seen, "m-2")
		return len(seen.Answers) == 2 && d.Stalled > 0 && slices.Equal(seen.Mute, []string{"m-2"})
	})
}

// What looks like a disk that hangs, and is none.
func TestLogStandsStillForAnotherReason(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*server){
		"a snapshot is copied":         func(s *server) { s.copies = true },
		"it knows no leader":           func(s *server) { s.hasLeader = false },
		"it knows what the others do":  func(s *server) { s.committed = 110 },
		"its metrics are not answered": func(s *server) { s.down = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers, endpoints := three(t)
			goOn(servers)
			slow(servers) // so that all are watched in any case
			servers[0].set(change)
			pool := newPool(t)
			for range 3 {
				seen := pool.Observe(t.Context(), t.Name(), nil, voting(0xc1, endpoints), endpoints).Seen
				if d, _ := diskOf(seen, "m-0"); d.Stalled != 0 || len(seen.Disks) < 2 {
					t.Errorf("disks %+v", seen.Disks)
				}
			}
		})
	}
}

func TestSlowReadsShowTheFlushes(t *testing.T) {
	t.Parallel()
	servers, endpoints := three(t)
	slow(servers)
	pool := newPool(t)
	first := pool.Observe(t.Context(), t.Name(), nil, voting(0xc1, endpoints), endpoints).Seen
	if d, ok := diskOf(first, "m-0"); !ok || d.FlushTime != 0 || d.Watched != 0 {
		t.Errorf("at first: %+v", d)
	}
	servers[0].set(func(s *server) { s.flushes, s.spent = s.flushes+4, s.spent+2 })
	for _, s := range servers {
		s.set(func(s *server) { s.slow = 0 })
	}
	servers[1].set(func(s *server) { s.flushes, s.spent = s.flushes+2, s.spent+1 })
	seen := pool.Observe(t.Context(), t.Name(), nil, voting(0xc1, endpoints), endpoints).Seen
	if d, ok := diskOf(seen, "m-0"); !ok || d.FlushTime.Round(time.Millisecond) != 500*time.Millisecond || d.Watched <= 0 {
		t.Errorf("quick for once: %+v", d)
	}
	if d, ok := diskOf(seen, "m-1"); !ok || d.FlushTime != 0 {
		t.Errorf("two flushes have no mean: %+v", d)
	}
	pool.Disconnect(t.Name())
	seen = pool.Observe(t.Context(), t.Name(), nil, voting(0xc1, endpoints), endpoints).Seen
	if d, ok := diskOf(seen, "m-0"); !ok || len(seen.Disks) != 3 || d.Watched <= 0 {
		t.Errorf("from one look to the next: %+v", seen.Disks)
	}
	pool.Forget(t.Name())
	if seen := pool.Observe(t.Context(), t.Name(), nil, voting(0xc1, endpoints), endpoints).Seen; len(seen.Disks) != 0 {
		t.Errorf("forgotten: %+v", seen.Disks)
	}
}
