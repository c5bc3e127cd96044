package snapshot

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
)

// TestFollowerFirst backs a cluster of three up, and one whose endpoints are another's.
func TestFollowerFirst(t *testing.T) {
	cluster := embedtest.Start(t, 3)
	c := client(t, cluster)
	fill(t, c, 10)
	status, err := c.Status(t.Context(), c.Endpoints()[0])
	if err != nil {
		t.Fatal(err)
	}
	b, _ := bucket(t)
	m := mustSave(t, b, FromEtcd(config(cluster), 0), job(Encoding{}))
	if leader := hexadecimal(status.Leader); m.Member.ID == leader || m.Keys != 9 {
		t.Errorf("taken from %s with %d keys; the leader is %s", m.Member.ID, m.Keys, leader)
	}
	if _, err := Save(t.Context(), b, FromEtcd(config(cluster), 1), job(Encoding{})); reason(err) != v1beta2.ReasonEtcdForeign {
		t.Errorf("another cluster: got %v", err)
	}
	if m.Stale {
		t.Error("all members are there, and it is stale")
	}
}

// TestMinority takes a snapshot from what is left of a cluster. It is what there is, and may not be what the cluster holds.
func TestMinority(t *testing.T) {
	cluster := embedtest.Start(t, 3)
	c := client(t, cluster)
	fill(t, c, 10)
	b, _ := bucket(t)
	cluster.Members[0].Stop(t)
	// The endpoints that lead nowhere are asked as well, and hold no one up.
	all := config(cluster)
	if m := mustSave(t, b, FromEtcd(all, 0), job(Encoding{})); m.Stale || m.Keys != 9 {
		t.Errorf("two of three: got %+v", m)
	}
	cluster.Members[1].Stop(t)
	m := mustSave(t, b, FromEtcd(all, 0), job(Encoding{}))
	if !m.Stale || m.Keys != 9 || m.Member.ID != hexadecimal(cluster.Members[2].ID()) {
		t.Errorf("one of three: got %+v", m)
	}
	if l := list(t, b); len(l.Snapshots) != 2 || !slices.ContainsFunc(l.Snapshots, func(m Manifest) bool { return m.Stale }) {
		t.Errorf("listed %+v", l)
	}
	cluster.Members[2].Stop(t)
	_, err := Save(t.Context(), b, FromEtcd(all, 0), job(Encoding{}))
	if reason(err) != v1beta2.ReasonEtcdUnreachable {
		t.Errorf("nobody there: got %v", err)
	}
}

// TestLearnerProvesNothing is asked for a snapshot where no one else can be: what a learner has may be old.
func TestLearnerProvesNothing(t *testing.T) {
	cluster := embedtest.Start(t, 1)
	c := client(t, cluster)
	fill(t, c, 10)
	learner := cluster.NewMember(t)
	if _, err := c.MemberAddAsLearner(t.Context(), []string{learner.PeerURL}); err != nil {
		t.Fatal(err)
	}
	learner.Join(t, cluster.InitialCluster(cluster.Members...))
	learner.WaitReady(t)
	b, _ := bucket(t)
	alone := config(cluster)
	alone.Endpoints = []string{"http://" + learner.Address}
	if m := mustSave(t, b, FromEtcd(alone, 0), job(Encoding{})); !m.Stale {
		t.Errorf("got %+v", m)
	}
	if m := mustSave(t, b, FromEtcd(config(cluster), 0), job(Encoding{})); m.Stale || m.Member.ID == hexadecimal(learner.ID()) {
		t.Errorf("with a voter: got %+v", m)
	}
}

// cut is a connection that breaks.
type cut struct{}

func (cut) Read([]byte) (int, error) {
	return 0, status.Error(codes.Unavailable, "connection reset by peer")
}
func (cut) Close() error { return nil }

// TestBrokenOff tells a member that has answered from one that no one can reach: there is someone who has the data.
func TestBrokenOff(t *testing.T) {
	b := &body{ReadCloser: cut{}, endpoint: "http://member"}
	if _, err := io.Copy(io.Discard, b); reason(err) != v1beta2.ReasonEtcdFailed {
		t.Errorf("while it sends: got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	dead := Status{Endpoint: "http://127.0.0.1:1"}
	if _, err := open(ctx, clientv3.Config{Logger: zap.NewNop()}, dead); reason(err) != v1beta2.ReasonEtcdFailed {
		t.Errorf("before it sends: got %v", err)
	}
	if _, err := FromEtcd(clientv3.Config{Endpoints: []string{dead.Endpoint}, Logger: zap.NewNop()}, 0)(ctx); reason(err) != v1beta2.ReasonEtcdUnreachable {
		t.Errorf("nobody there: got %v", err)
	}
}

// TestNobodyToAsk: where no member is known, no one says that its data is corrupt.
func TestNobodyToAsk(t *testing.T) {
	_, err := FromEtcd(clientv3.Config{}, 0)(t.Context())
	if reason(err) != v1beta2.ReasonEtcdUnreachable {
		t.Errorf("got %v", err)
	}
}
