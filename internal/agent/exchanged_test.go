package agent

import (
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// successor answers at an address that was another etcd's, says that it is the cluster 1, and notes the passwords that it is shown.
type successor struct {
	pb.UnimplementedAuthServer
	pb.UnimplementedMaintenanceServer
	mu    sync.Mutex
	shown []string
}

// succeed starts a successor, and returns its endpoint.
func succeed(t *testing.T, s *successor) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	pb.RegisterAuthServer(g, s)
	pb.RegisterMaintenanceServer(g, s)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	return "http://" + l.Addr().String()
}

func (s *successor) Authenticate(_ context.Context, r *pb.AuthenticateRequest) (*pb.AuthenticateResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, r.Password)
	return nil, status.Error(codes.InvalidArgument, "no")
}

func (s *successor) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{Header: &pb.ResponseHeader{ClusterId: 1, MemberId: 2}}, nil
}

func (s *successor) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.shown)
}

// TestExchangedSeesNoPassword has all endpoints lead to another etcd than that of the last backup, which says so. It is not shown the password,
// except where backups of several etcds are meant to be in one place.
func TestExchangedSeesNoPassword(t *testing.T) {
	for title, number := range map[string]int{"one endpoint": 1, "two endpoints": 2} {
		t.Run(title, func(t *testing.T) {
			p, all, s := newPod(t), &successor{}, &server{}
			for range number {
				s.endpoints = append(s.endpoints, succeed(t, all))
			}
			p.secret(p.dirs.Login, map[string][]byte{task.KeyPassword: []byte(rootPassword)})
			p.written(nightly, task.Cluster{ID: "00A1"}, time.Now().Add(-time.Hour), 5, false)
			login := s.login("password")
			p.fails(login, v1beta2.ReasonForeignBackups, true)
			if shown := all.seen(); len(shown) > 0 {
				t.Errorf("it was shown %q", shown)
			}
			login.Backup.Shared = true
			p.fails(login, v1beta2.ReasonEtcdFailed, false)
			if shown := all.seen(); len(shown) == 0 {
				t.Error("nobody was asked to log in, so the test shows nothing")
			}
		})
	}
}

// TestLastOfFuture has a backup with a time that is yet to come, as a clock that was wrong gives it. It is not the last one for ever.
func TestLastOfFuture(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 5)
	p.written(nightly, task.Cluster{ID: "a1"}, time.Now().AddDate(50, 0, 0), 5, false)
	p.must(s.byEndpoints(func(b *task.Backup) { b.Shared = true }))
	if result := p.run(s.byEndpoints(plain)); result.Failure != nil {
		t.Errorf("once one is there: got %+v", result.Failure)
	}
}

// TestLastAmongJunk has somebody add what looks like newer backups, and is none. The last one is found all the same.
func TestLastAmongJunk(t *testing.T) {
	p, s := newPod(t), start(t)
	s.put(t, 5)
	last := p.written(nightly, task.Cluster{ID: "a1"}, time.Now().Add(-24*time.Hour), 5, false)
	for i := range 20 {
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		name := p.object(snapshot.Name(int64(i), at, nightly.UID, snapshot.Encoding{})) + ".manifest.json"
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.written(nightly, task.Cluster{ID: "no ID"}, time.Now().Add(-time.Minute), 6, false)
	p.written(nightly, task.Cluster{}, time.Now().Add(-time.Minute), 7, false)
	if message := p.fails(s.byEndpoints(plain), v1beta2.ReasonForeignBackups, true); !strings.Contains(message, last.Object) {
		t.Errorf("it does not say %q: %s", last.Object, message)
	}
}
