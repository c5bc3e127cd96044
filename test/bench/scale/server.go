package main

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/etcdpilot/etcd-operator/internal/etcd/etcdtest"
)

// server answers for all members. Which one is asked shows in the address that the connection came in on.
type server struct {
	pb.UnimplementedMaintenanceServer
	pb.UnimplementedClusterServer
	pb.UnimplementedKVServer
	world *world
	grpc  *grpc.Server
	// plain serves the metrics, over HTTP without TLS, in a real server's words.
	plain   *http.Server
	metrics *exposition
	// calls are those over gRPC, and reads those of the metrics.
	calls, reads atomic.Int64
}

func serve(clients, readers net.Listener, w *world, metrics *exposition) *server {
	s := &server{world: w, metrics: metrics}
	s.grpc = grpc.NewServer(append(w.transport(),
		// etcd's own default (grpc-keepalive-min-time): a client that pings more often is cut off.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second}),
		grpc.UnaryInterceptor(s.count),
		// Thousands of members share one process, and say little.
		grpc.ReadBufferSize(1<<10), grpc.WriteBufferSize(1<<10),
	)...)
	pb.RegisterMaintenanceServer(s.grpc, s)
	pb.RegisterClusterServer(s.grpc, s)
	pb.RegisterKVServer(s.grpc, s)
	s.plain = &http.Server{Handler: http.HandlerFunc(s.serveMetrics), ReadHeaderTimeout: time.Second}
	go func() { _ = s.grpc.Serve(clients) }() // they end with stop
	go func() { _ = s.plain.Serve(readers) }()
	return s
}

func (s *server) stop() {
	_ = s.plain.Close() // whoever reads is cut off
	s.grpc.Stop()
}

func (s *server) count(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	s.calls.Add(1)
	return handle(ctx, req)
}

// ask calls with the state of the group that the asked member belongs to.
func (s *server) ask(ctx context.Context, answer func(*node, *etcdtest.Group)) error {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return status.Error(codes.Internal, "no peer")
	}
	n := s.world.at(p.LocalAddr)
	if n == nil {
		return status.Error(codes.Unavailable, "the pod is gone")
	}
	n.ensemble.mu.Lock()
	defer n.ensemble.mu.Unlock()
	g := n.ensemble.state.Group(n.clusterID)
	if g == nil {
		return status.Error(codes.Unavailable, "the member has not started")
	}
	answer(n, g)
	return nil
}

func header(n *node) *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: n.clusterID, MemberId: n.memberID, Revision: 1, RaftTerm: 2}
}

// Status implements pb.MaintenanceServer.
func (s *server) Status(ctx context.Context, _ *pb.StatusRequest) (*pb.StatusResponse, error) {
	r := &pb.StatusResponse{RaftIndex: 10, RaftAppliedIndex: 10, DbSize: 1 << 20, DbSizeInUse: 1 << 19, RaftTerm: 2}
	err := s.ask(ctx, func(n *node, g *etcdtest.Group) {
		r.Header, r.Leader, r.Version = header(n), g.Leader, n.version
		if i := strings.LastIndexByte(n.version, '.'); i >= 0 {
			r.StorageVersion = n.version[:i] + ".0"
		}
	})
	return r, err
}

// MemberList implements pb.ClusterServer.
func (s *server) MemberList(ctx context.Context, _ *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	r := &pb.MemberListResponse{}
	quorum := false
	err := s.ask(ctx, func(n *node, g *etcdtest.Group) {
		r.Header, quorum = header(n), g.Leader != 0
		for _, m := range g.Members {
			listed := &pb.Member{ID: m.ID, Name: m.Name, PeerURLs: []string{m.PeerURL}, IsLearner: m.Learner}
			if m.Published {
				listed.ClientURLs = []string{m.PeerURL}
			}
			r.Members = append(r.Members, listed)
		}
	})
	return r, needsQuorum(err, quorum)
}

// Range implements pb.KVServer. Nothing is stored: only the header matters.
func (s *server) Range(ctx context.Context, _ *pb.RangeRequest) (*pb.RangeResponse, error) {
	r := &pb.RangeResponse{}
	quorum := false
	err := s.ask(ctx, func(n *node, g *etcdtest.Group) { r.Header, quorum = header(n), g.Leader != 0 })
	return r, needsQuorum(err, quorum)
}

func needsQuorum(err error, quorum bool) error {
	if err == nil && !quorum {
		return status.Error(codes.Unavailable, "etcdserver: no leader")
	}
	return err
}
