package etcd

import (
	"context"
	"errors"
	"net"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"

	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
)

// answering answers changes of the membership, as etcd's server does with its errors.
type answering struct {
	pb.UnimplementedClusterServer
	says  error
	asked int
}

func (a *answering) MemberAdd(context.Context, *pb.MemberAddRequest) (*pb.MemberAddResponse, error) {
	a.asked++
	return &pb.MemberAddResponse{Header: &pb.ResponseHeader{}}, a.says
}

func (a *answering) MemberRemove(context.Context, *pb.MemberRemoveRequest) (*pb.MemberRemoveResponse, error) {
	a.asked++
	return &pb.MemberRemoveResponse{Header: &pb.ResponseHeader{}}, a.says
}

// peer serves it.
func (a *answering) peer(t *testing.T) peer {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterClusterServer(server, a)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	client, err := etcdclient.Dial(etcdclient.Reach(nil, "http://"+listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return peer{client: client}
}

// TestAddLearnerWhereOneIsCutOff asks another voter to add a learner where the leader finds itself cut off, which it may be wrong about.
// Any other answer is final, and so is this one to a change that quorum depends on.
func TestAddLearnerWhereOneIsCutOff(t *testing.T) {
	add := func(ctx context.Context, s *Session) error { return s.AddLearner(ctx, "http://n:2380") }
	for name, test := range map[string]struct {
		says, others error
		change       func(context.Context, *Session) error
		asked        int
		fails        bool
	}{
		"the leader":            {rpctypes.ErrGRPCUnhealthy, nil, add, 1, false},
		"all":                   {rpctypes.ErrGRPCUnhealthy, rpctypes.ErrGRPCUnhealthy, add, 1, true},
		"too many learners":     {rpctypes.ErrGRPCTooManyLearners, nil, add, 0, true},
		"a member is to go":     {rpctypes.ErrGRPCUnhealthy, nil, func(ctx context.Context, s *Session) error { return s.Remove(ctx, 1) }, 0, true},
		"nothing is the matter": {nil, nil, add, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			leader, follower := &answering{says: test.says}, &answering{says: test.others}
			err := test.change(t.Context(), &Session{voters: []peer{leader.peer(t), follower.peer(t)}})
			if (err != nil) != test.fails || leader.asked != 1 || follower.asked != test.asked {
				t.Errorf("the leader was asked %d times, the follower %d: %v", leader.asked, follower.asked, err)
			}
			if test.fails && !errors.Is(err, ErrNotYet) {
				t.Errorf("%v is not to be tried again", err)
			}
		})
	}
}
