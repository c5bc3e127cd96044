package etcdcluster_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/plan"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// stillEtcd answers for one member of a cluster in which nothing ever happens.
type stillEtcd struct {
	pb.UnimplementedMaintenanceServer
	pb.UnimplementedClusterServer
	pb.UnimplementedKVServer
	header  *pb.ResponseHeader
	members []*pb.Member
	version string
	// flush is how many nanoseconds its disk takes for a flush; flushes have ended. Reads wait for the leader's.
	flush, flushes, read atomic.Int64
	// moved is whom it has handed leadership to, 0 if it has not.
	moved atomic.Uint64
	// alone is true while it has no leader.
	alone atomic.Bool
	// compacted is the revision of its last compaction, 0 if it tells of none.
	compacted atomic.Int64
	// door is its listener.
	door *door
	// stray is the ID of a learner that it lists and never removes, 0 if there is none; asked is how often it was asked to, and
	// fleeting has it list another one each time.
	stray, asked atomic.Uint64
	fleeting     atomic.Bool
}

// errSilent is what a client sees of a server that cannot serve.
var errSilent = status.Error(codes.Unavailable, "nobody")

func startStill(t *testing.T, pod *corev1.Pod, permit *member.Permit, auth *stillAuth, options ...grpc.ServerOption) *stillEtcd {
	t.Helper()
	s := &stillEtcd{header: &pb.ResponseHeader{
		ClusterId: uint64(permit.ClusterID), MemberId: uint64(permit.MemberID), Revision: 1,
	}}
	s.members, s.version = membersOf(t, permit), version.OfImage(resources.EtcdOf(pod).Image)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("%s:%d", pod.Status.PodIP, member.ClientPort))
	must(t, err)
	s.door = &door{Listener: l}
	server := grpc.NewServer(options...)
	pb.RegisterAuthServer(server, auth)
	pb.RegisterMaintenanceServer(server, s)
	pb.RegisterClusterServer(server, s)
	pb.RegisterKVServer(server, s)
	go func() { _ = server.Serve(s.door) }() // it ends with Stop
	t.Cleanup(server.Stop)
	return s
}

func membersOf(t *testing.T, permit *member.Permit) []*pb.Member {
	t.Helper()
	urls := map[string]string{}
	for _, pair := range strings.Split(permit.InitialCluster, ",") {
		name, url, ok := strings.Cut(pair, "=")
		if !ok {
			t.Fatalf("initial cluster %q", permit.InitialCluster)
		}
		urls[name] = url
	}
	ids, _ := plan.IDs(permit.Token, urls)
	var members []*pb.Member
	for name, url := range urls {
		members = append(members, &pb.Member{
			ID: ids[name], Name: name, PeerURLs: []string{url}, ClientURLs: []string{url},
		})
	}
	return members
}

// leader is the member with the lowest ID until that one has handed over: all servers agree on it without talking.
func (s *stillEtcd) leader() uint64 {
	if s.alone.Load() {
		return 0
	}
	if moved := s.moved.Load(); moved != 0 {
		return moved
	}
	lowest := s.members[0].ID
	for _, m := range s.members {
		lowest = min(lowest, m.ID)
	}
	return lowest
}

// Status implements pb.MaintenanceServer.
func (s *stillEtcd) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{
		Header: s.header, Leader: s.leader(), Version: s.version, StorageVersion: version.Minor(s.version) + ".0",
		RaftIndex: 10, RaftAppliedIndex: 10, DbSize: 1 << 20, DbSizeInUse: 1 << 19,
	}, nil
}

// MemberList implements pb.ClusterServer.
func (s *stillEtcd) MemberList(context.Context, *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	if s.alone.Load() {
		return nil, errSilent
	}
	time.Sleep(time.Duration(s.read.Load())) // the leader answers once it is done with its disk
	members := s.members
	if id := s.stray.Load(); id != 0 {
		url := []string{"http://stray:2380"}
		if s.fleeting.Load() {
			id += s.asked.Load()
		}
		members = append(slices.Clone(members), &pb.Member{ID: id, Name: "stray", PeerURLs: url, ClientURLs: url, IsLearner: true})
	}
	return &pb.MemberListResponse{Header: s.header, Members: members}, nil
}

// MemberRemove implements pb.ClusterServer. It is a lie.
func (s *stillEtcd) MemberRemove(context.Context, *pb.MemberRemoveRequest) (*pb.MemberRemoveResponse, error) {
	s.asked.Add(1)
	return &pb.MemberRemoveResponse{Header: s.header}, nil
}

// Range implements pb.KVServer.
func (s *stillEtcd) Range(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
	if s.alone.Load() {
		return nil, errSilent
	}
	return &pb.RangeResponse{Header: s.header}, nil
}

// MoveLeader implements pb.MaintenanceServer.
func (s *stillEtcd) MoveLeader(_ context.Context, r *pb.MoveLeaderRequest) (*pb.MoveLeaderResponse, error) {
	s.moved.Store(r.GetTargetID())
	return &pb.MoveLeaderResponse{Header: s.header}, nil
}

// HashKV implements pb.MaintenanceServer: all servers have the same data.
func (s *stillEtcd) HashKV(_ context.Context, r *pb.HashKVRequest) (*pb.HashKVResponse, error) {
	return &pb.HashKVResponse{Header: s.header, Hash: 7, HashRevision: r.GetRevision()}, nil
}

// ServeHTTP tells the metrics.
func (s *stillEtcd) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	const since = 5 // flushes since the last time
	n := s.flushes.Add(since)
	_, _ = fmt.Fprintf(w, `# TYPE etcd_disk_wal_fsync_duration_seconds histogram
etcd_disk_wal_fsync_duration_seconds_bucket{le="+Inf"} %[1]d
etcd_disk_wal_fsync_duration_seconds_sum %[2]g
etcd_disk_wal_fsync_duration_seconds_count %[1]d
# TYPE etcd_server_has_leader gauge
etcd_server_has_leader 1
# TYPE etcd_debugging_mvcc_compact_revision gauge
etcd_debugging_mvcc_compact_revision %[3]d
`, n, float64(n)*time.Duration(s.flush.Load()).Seconds(), s.compacted.Load())
}
