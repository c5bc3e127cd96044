package etcdcluster_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/internal/member"
	"github.com/etcdpilot/etcd-operator/internal/resources"
	"github.com/etcdpilot/etcd-operator/internal/version"
)

// switchWorld is a cluster of three on volumes whose members serve what their pods say, with the Secrets that these mount.
type switchWorld struct {
	*refusingWorld
	running map[string]running
	mu      sync.Mutex
	members []*pb.Member
	leader  uint64
	// crowded is true where etcd cannot start in a pod in which it is to serve peers both ways.
	crowded bool
	// created is how many pods were created since the first ones.
	created int
	// committed are the transports in status since they were last looked at; told is what clients are told, by where.
	committed []member.Transport
	told      map[string]toldScheme
}

// toldScheme is by which scheme clients connect, since when. Before, they did so by the former one.
type toldScheme struct {
	scheme, former string
	since          time.Time
}

type running struct {
	pod    types.UID
	serves member.Transport
	stop   func()
}

func newSwitchWorld(t *testing.T) *switchWorld {
	return &switchWorld{refusingWorld: newRefusingWorld(t), running: map[string]running{}, told: map[string]toldScheme{}}
}

// kubelets start what has a permit, and stop what has no pod any more.
func (w *switchWorld) kubelets(t *testing.T) {
	t.Helper()
	pods := map[string]*corev1.Pod{}
	for _, pod := range w.pods(t) {
		pods[pod.Name] = &pod
	}
	for name, r := range w.running {
		if pods[name] == nil || pods[name].UID != r.pod {
			r.stop()
			w.mu.Lock()
			delete(w.running, name)
			w.mu.Unlock()
			w.created++
		}
	}
	for name, pod := range pods {
		pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, w.address(name)
		text := pod.Annotations[member.PermitAnnotation]
		if _, runs := w.running[name]; !runs && text != "" && !(w.crowded && resources.PodTransport(pod).PeerBoth) {
			permit, err := member.ParsePermit(text)
			must(t, err)
			stop := w.start(t, pod, permit)
			w.mu.Lock()
			w.running[name] = running{pod.UID, resources.PodTransport(pod), stop}
			w.mu.Unlock()
		}
		if _, runs := w.running[name]; runs && len(pod.Status.Conditions) == 0 {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		must(t, w.api.Status().Update(t.Context(), pod))
	}
}

// start has the member of a pod serve.
func (w *switchWorld) start(t *testing.T, pod *corev1.Pod, permit *member.Permit) (stop func()) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.members == nil {
		w.members = membersOf(t, permit)
	}
	s := &switchEtcd{stillEtcd: &stillEtcd{
		header:  &pb.ResponseHeader{ClusterId: uint64(permit.ClusterID), MemberId: uint64(permit.MemberID), Revision: 1},
		members: w.members, version: version.OfImage(resources.EtcdOf(pod).Image),
	}, world: w}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("%s:%d", pod.Status.PodIP, member.ClientPort))
	must(t, err)
	serves := resources.PodTransport(pod)
	server := grpc.NewServer()
	pb.RegisterAuthServer(server, &w.auth)
	pb.RegisterMaintenanceServer(server, s)
	pb.RegisterClusterServer(server, s)
	pb.RegisterKVServer(server, s)
	either := &eitherListener{l, serves.ServesClientPlain(), w.secured(t, pod, serves)}
	go func() { _ = server.Serve(either) }() // it ends with Stop
	t.Cleanup(server.Stop)
	probes := w.probes(t, pod.Status.PodIP)
	return func() {
		server.Stop()
		_ = probes.Close()
	}
}

// probes is a member's metrics: how long it took to reach the others, which is more each time, and nothing for those whom nobody reaches
// where they are listed.
func (w *switchWorld) probes(t *testing.T, ip string) *http.Server {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("%s:%d", ip, member.MetricsPort))
	must(t, err)
	spent := map[uint64]int{}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(text http.ResponseWriter, _ *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		_, _ = fmt.Fprintln(text, "# TYPE etcd_network_peer_round_trip_time_seconds histogram")
		for _, m := range w.members {
			if w.found(m) {
				spent[m.GetID()]++
			}
			_, _ = fmt.Fprintf(text, "etcd_network_peer_round_trip_time_seconds_sum{To=\"%x\"} %d\n", m.GetID(), spent[m.GetID()])
			_, _ = fmt.Fprintf(text, "etcd_network_peer_round_trip_time_seconds_count{To=\"%x\"} 1\n", m.GetID())
		}
	})}
	go func() { _ = server.Serve(l) }() // it ends with Close
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// found reports whether a member is served where it is listed.
func (w *switchWorld) found(m *pb.Member) bool {
	u, err := url.Parse(m.GetPeerURLs()[0])
	if err != nil {
		return false
	}
	name, _, _ := strings.Cut(u.Hostname(), ".")
	serves := w.running[name].serves
	if u.Scheme == "https" {
		return serves.ServesPeerTLS() && u.Port() == strconv.Itoa(serves.PeerTLSPort())
	}
	return !serves.PeerTLS || serves.PeerBoth
}

// secured is by what a member serves TLS, nil if it does not.
func (w *switchWorld) secured(t *testing.T, pod *corev1.Pod, serves member.Transport) *tls.Config {
	t.Helper()
	if !serves.ServesClientTLS() {
		return nil
	}
	own, trust := &corev1.Secret{}, &corev1.Secret{}
	must(t, w.api.Get(t.Context(), client.ObjectKey{Namespace: pod.Namespace, Name: pod.Name + "-tls"}, own))
	must(t, w.api.Get(t.Context(), client.ObjectKey{Namespace: pod.Namespace, Name: resources.TrustOf(pod)}, trust))
	pair, err := tls.X509KeyPair(own.Data["server.crt"], own.Data["server.key"])
	must(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(trust.Data["server-ca.crt"])
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		NextProtos: []string{"h2"},
	}
}

// switchEtcd is a member whose peer URL can be changed.
type switchEtcd struct {
	*stillEtcd
	world *switchWorld
}

// Status implements pb.MaintenanceServer. All members agree on who leads.
func (s *switchEtcd) Status(ctx context.Context, r *pb.StatusRequest) (*pb.StatusResponse, error) {
	answer, err := s.stillEtcd.Status(ctx, r)
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	answer.Leader = cmp.Or(s.world.leader, answer.Leader)
	return answer, err
}

// MoveLeader implements pb.MaintenanceServer.
func (s *switchEtcd) MoveLeader(_ context.Context, r *pb.MoveLeaderRequest) (*pb.MoveLeaderResponse, error) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	s.world.leader = r.GetTargetID()
	return &pb.MoveLeaderResponse{Header: s.header}, nil
}

// MemberList implements pb.ClusterServer.
func (s *switchEtcd) MemberList(context.Context, *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	answer := &pb.MemberListResponse{Header: s.header}
	for _, m := range s.world.members {
		answer.Members = append(answer.Members, &pb.Member{ID: m.ID, Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs})
	}
	return answer, nil
}

// MemberUpdate implements pb.ClusterServer.
func (s *switchEtcd) MemberUpdate(_ context.Context, r *pb.MemberUpdateRequest) (*pb.MemberUpdateResponse, error) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	for _, m := range s.world.members {
		if m.ID == r.ID {
			m.PeerURLs = r.PeerURLs
		}
	}
	return &pb.MemberUpdateResponse{Header: s.header}, nil
}

// eitherListener takes connections with TLS, without, or both, as etcd does: the first byte tells.
type eitherListener struct {
	net.Listener
	plain  bool
	config *tls.Config
}

// Accept implements net.Listener.
func (l *eitherListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		first := make([]byte, 1)
		_ = conn.SetReadDeadline(time.Now().Add(time.Second)) // clients speak first
		_, err = conn.Read(first)
		_ = conn.SetReadDeadline(time.Time{})
		const handshake = 0x16
		again := &begunConn{conn, io.MultiReader(bytes.NewReader(first), conn)}
		switch {
		case err == nil && first[0] == handshake && l.config != nil:
			return tls.Server(again, l.config), nil
		case err == nil && first[0] != handshake && l.plain:
			return again, nil
		}
		_ = conn.Close()
	}
}

type begunConn struct {
	net.Conn
	from io.Reader
}

func (c *begunConn) Read(b []byte) (int, error) { return c.from.Read(b) }
