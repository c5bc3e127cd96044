package snapshot

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
)

// strangersToken is what a stranger gives for a password that it accepts.
const strangersToken = "strangers-token.17" // #nosec G101 -- of a test

// stranger answers as etcd does, and is none. It notes what it is shown, and repeats it.
type stranger struct {
	pb.UnimplementedAuthServer
	pb.UnimplementedMaintenanceServer
	accepts, mute bool
	clusterID     uint64

	mu    sync.Mutex
	shown []string
}

// meet starts a stranger.
func meet(t *testing.T, s *stranger) clientv3.Config {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterAuthServer(server, s)
	if !s.mute {
		pb.RegisterMaintenanceServer(server, s)
	}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	return clientv3.Config{Endpoints: []string{"http://" + l.Addr().String()}, Logger: zap.NewNop()}
}

func (s *stranger) note(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, secret)
}

func (s *stranger) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.shown)
}

func (s *stranger) Authenticate(_ context.Context, r *pb.AuthenticateRequest) (*pb.AuthenticateResponse, error) {
	s.note(r.Password)
	if s.accepts {
		return &pb.AuthenticateResponse{Token: strangersToken}, nil
	}
	return nil, status.Error(codes.InvalidArgument, "cannot read "+r.Name+":"+r.Password)
}

func (s *stranger) Status(ctx context.Context, _ *pb.StatusRequest) (*pb.StatusResponse, error) {
	headers, _ := metadata.FromIncomingContext(ctx)
	if token := headers.Get("token"); len(token) > 0 {
		s.note(token[0])
		return nil, status.Error(codes.Internal, "cannot read "+token[0])
	}
	return &pb.StatusResponse{Header: &pb.ResponseHeader{ClusterId: s.clusterID, MemberId: 2}}, nil
}

// TestStrangerSeesNoSecret has the name of a member that belongs to somebody else by now, who may say that it is of the same cluster.
func TestStrangerSeesNoSecret(t *testing.T) {
	server := runAuthenticated(t)
	id, err := clusterID(t, server)
	if err != nil {
		t.Fatal(err)
	}
	for title, clusterID := range map[string]uint64{"of another cluster": 1, "says it is of this one": id, "does not say": 0} {
		for order, first := range map[string]bool{"": false, ", and is first": true} {
			if first && clusterID != 1 { // whoever is first, and may be right, is shown the password
				continue
			}
			t.Run(title+order, func(t *testing.T) {
				s := &stranger{clusterID: clusterID}
				login := as(server, "root", rootPassword)
				if login.Endpoints = slices.Concat(server.Endpoints, meet(t, s).Endpoints); first {
					slices.Reverse(login.Endpoints)
				}
				b, _ := bucket(t)
				m, err := Save(t.Context(), b, FromEtcd(login, 0), job(Encoding{}))
				if clusterID == 1 && reason(err) != v1beta2.ReasonEtcdForeign || clusterID != 1 && (err != nil || m.Keys != 4 || m.Member.Endpoint != server.Endpoints[0]) {
					t.Errorf("got %+v, %v", m, err)
				}
				if shown := s.seen(); len(shown) > 0 {
					t.Errorf("the stranger was shown %q", shown)
				}
			})
		}
	}
}

// clusterID is the cluster ID of an etcd that wants to know who asks.
func clusterID(t *testing.T, server clientv3.Config) (uint64, error) {
	t.Helper()
	c, err := etcdclient.Dial(server)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	return c.ClusterID(t.Context())
}

// TestNothingIsRepeated has a server answer with what it was shown.
func TestNothingIsRepeated(t *testing.T) {
	for title, c := range map[string]struct {
		stranger *stranger
		says     string
		shown    []string
	}{
		"the password": {&stranger{}, "the login failed; it takes a member that can be reached and has a quorum (gRPC code InvalidArgument)", []string{rootPassword}},
		"the token":    {&stranger{accepts: true}, "desc = cannot read …", []string{rootPassword, strangersToken}},
		"no etcd":      {&stranger{mute: true}, "unknown service etcdserverpb.Maintenance", nil},
	} {
		t.Run(title, func(t *testing.T) {
			b, _ := bucket(t)
			_, err := Save(t.Context(), b, FromEtcd(as(meet(t, c.stranger), "root", rootPassword), 0), job(Encoding{}))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v", err)
			}
			for _, secret := range []string{rootPassword, strangersToken} {
				if err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("it repeats %q: %v", secret, err)
				}
			}
			if shown := c.stranger.seen(); !slices.Equal(shown, c.shown) {
				t.Errorf("the server was shown %q, want %q", shown, c.shown)
			}
		})
	}
}

// TestConfidants lets only those see a token who have checked the password, or prove by a certificate who they are.
func TestConfidants(t *testing.T) {
	for _, c := range []struct {
		endpoints []string
		accepted  string
		want      []string
	}{
		{[]string{"http://a", "http://b"}, "http://b", []string{"http://b"}},
		{[]string{"https://a", "https://b"}, "https://b", []string{"https://a", "https://b"}},
		{[]string{"https://a", "http://b", "c:2379", "unix://d"}, "https://a", []string{"https://a"}},
		{[]string{"c:2379", "d:2379"}, "c:2379", []string{"c:2379"}},
	} {
		if got := confidants(c.endpoints, c.accepted); !slices.Equal(got, c.want) {
			t.Errorf("of %v with %s: got %v, want %v", c.endpoints, c.accepted, got, c.want)
		}
	}
}
