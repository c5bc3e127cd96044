package etcd_test

import (
	"context"
	"net"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/etcdpilot/etcd-operator/internal/etcd"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
	"github.com/etcdpilot/etcd-operator/internal/plan"
)

// liar is what someone can run who may create pods: it knows the cluster's ID, and leads it, alone, in a term of its own.
type liar struct {
	pb.UnimplementedMaintenanceServer
	pb.UnimplementedClusterServer
	pb.UnimplementedKVServer
	header  *pb.ResponseHeader
	asked   chan string // whatever it was asked for that changes something
	members []*pb.Member
	errors  []string // what it says of itself
	version string   // and what it calls itself
	refusal error    // in place of that
}

func newLiar(t *testing.T, cluster, member uint64, revision int64) (*liar, string) {
	t.Helper()
	l := &liar{
		header:  &pb.ResponseHeader{ClusterId: cluster, MemberId: member, Revision: revision, RaftTerm: 1 << 40},
		members: []*pb.Member{{ID: member, Name: "m-2", PeerURLs: []string{"http://liar:2380"}, ClientURLs: []string{"x"}}},
		errors:  []string{"alarm:CORRUPT"},
		version: "3.6.0@sha256:0123",
		asked:   make(chan string, 100),
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterMaintenanceServer(server, l)
	pb.RegisterClusterServer(server, l)
	pb.RegisterKVServer(server, l)
	go func() { _ = server.Serve(listener) }() // it ends with Stop
	t.Cleanup(server.Stop)
	return l, listener.Addr().String()
}

// Status implements pb.MaintenanceServer.
func (l *liar) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{
		Header: l.header, Leader: l.header.MemberId, RaftTerm: l.header.RaftTerm, Version: l.version,
		RaftIndex: 1 << 40, RaftAppliedIndex: 1 << 40, Errors: l.errors,
	}, l.refusal
}

// MemberList implements pb.ClusterServer.
func (l *liar) MemberList(context.Context, *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	return &pb.MemberListResponse{Header: l.header, Members: l.members}, nil
}

// MemberRemove implements pb.ClusterServer.
func (l *liar) MemberRemove(context.Context, *pb.MemberRemoveRequest) (*pb.MemberRemoveResponse, error) {
	l.asked <- "MemberRemove"
	return &pb.MemberRemoveResponse{Header: l.header}, nil
}

// MemberAdd implements pb.ClusterServer.
func (l *liar) MemberAdd(context.Context, *pb.MemberAddRequest) (*pb.MemberAddResponse, error) {
	l.asked <- "MemberAdd"
	return &pb.MemberAddResponse{Header: l.header, Member: l.members[0]}, nil
}

// Range implements pb.KVServer.
func (l *liar) Range(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
	return &pb.RangeResponse{Header: l.header}, nil
}

// TestLiar has a pod answer that is none of the members, beside all three and in the place of one of them, and whatever it
// says of terms, members and revisions: the voters who are known from before decide.
func TestLiar(t *testing.T) {
	t.Parallel()
	c := embedtest.Start(t, 3)
	real3 := quorum(t, newPool(t), c.Members...).Seen
	for _, place := range []struct {
		title, pod string
		honest     int
	}{
		{"a pod of a name of its own", "m-7", 3},
		{"in the place of one of three", "m-2", 2},
	} {
		for title, revision := range map[string]int64{"of a late revision": 1 << 40, "of an early revision": 1} {
			t.Run(place.title+" "+title, func(t *testing.T) {
				l, address := newLiar(t, c.ID, c.Members[2].ID(), revision)
				all := append([]etcd.Endpoint{{Pod: place.pod, PodUID: "forged", Address: address}},
					endpoints(c.Members[:place.honest]...)...)
				voters := plan.Electorate{ClusterID: c.ID, Voters: []string{"m-0", "m-1", "m-2"}}
				var s *etcd.Session
				eventually(t, "quorum", func() bool {
					s = newPool(t).Observe(t.Context(), t.Name(), nil, voters, all)
					return s.Seen.Contact == plan.ContactQuorum
				})
				if len(s.Seen.Members) != 3 || s.Seen.Revision > real3.Revision+100 || s.Seen.RevisionCeiling < real3.Revision {
					t.Errorf("it is believed: %+v", s.Seen)
				}
				for _, a := range s.Seen.Answers {
					if a.Pod == "m-7" || a.Pod != place.pod && a.Leader == 0 {
						t.Errorf("%s follows %x", a.Pod, a.Leader)
					}
					if (a.Version == "") != (a.Pod == place.pod) {
						t.Errorf("%s calls itself %q", a.Pod, a.Version)
					}
				}
				if err := s.Remove(t.Context(), 42); err != nil || len(l.asked) != 0 {
					t.Errorf("it was asked for a change: %v, %d", err, len(l.asked))
				}
			})
		}
	}
	t.Run("and a majority of none", func(t *testing.T) {
		_, address := newLiar(t, c.ID, c.Members[2].ID(), 1)
		alone := []etcd.Endpoint{{Pod: "m-2", PodUID: "forged", Address: address}}
		voters := plan.Electorate{ClusterID: c.ID, Voters: []string{"m-0", "m-1", "m-2"}}
		s := newPool(t).Observe(t.Context(), t.Name(), nil, voters, alone)
		if s.Seen.Contact != plan.ContactMinority || s.Seen.Members != nil || len(s.Seen.Unconfirmed) != 1 {
			t.Errorf("seen %+v", s.Seen)
		}
	})
}
