package etcdcluster_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stillAuth is the authentication of a cluster in which nothing else ever happens: one for all of its members.
type stillAuth struct {
	pb.UnimplementedAuthServer
	mu sync.Mutex
	// enabled says whether it is on; root's password is empty if there is no such user.
	enabled  bool
	password string
	// asked is how often it was asked whether it is on.
	asked int
	// given is how often root has got another password.
	given int
}

// by carries out a request of root's, or of anyone's while it is off.
func (a *stillAuth) by(ctx context.Context, do func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if from, _ := peer.FromContext(ctx); a.enabled {
		info, ok := from.AuthInfo.(credentials.TLSInfo)
		if !ok || info.State.VerifiedChains[0][0].Subject.CommonName != "root" {
			return rpctypes.ErrGRPCPermissionDenied
		}
	}
	return do()
}

func (a *stillAuth) AuthStatus(ctx context.Context, _ *pb.AuthStatusRequest) (*pb.AuthStatusResponse, error) {
	answer := &pb.AuthStatusResponse{}
	return answer, a.by(ctx, func() error {
		a.asked++
		answer.Enabled = a.enabled
		return nil
	})
}

func (a *stillAuth) RoleList(ctx context.Context, _ *pb.AuthRoleListRequest) (*pb.AuthRoleListResponse, error) {
	return &pb.AuthRoleListResponse{}, a.by(ctx, func() error { return nil })
}

func (a *stillAuth) RoleAdd(ctx context.Context, _ *pb.AuthRoleAddRequest) (*pb.AuthRoleAddResponse, error) {
	return &pb.AuthRoleAddResponse{}, a.by(ctx, func() error { return nil })
}

func (a *stillAuth) UserDelete(ctx context.Context, _ *pb.AuthUserDeleteRequest) (*pb.AuthUserDeleteResponse, error) {
	return &pb.AuthUserDeleteResponse{}, a.by(ctx, func() error {
		if a.password = ""; a.enabled {
			return rpctypes.ErrGRPCInvalidAuthMgmt
		}
		return nil
	})
}

func (a *stillAuth) UserAdd(ctx context.Context, r *pb.AuthUserAddRequest) (*pb.AuthUserAddResponse, error) {
	return &pb.AuthUserAddResponse{}, a.by(ctx, func() error { a.password = r.GetPassword(); return nil })
}

func (a *stillAuth) UserGrantRole(ctx context.Context, _ *pb.AuthUserGrantRoleRequest) (*pb.AuthUserGrantRoleResponse, error) {
	return &pb.AuthUserGrantRoleResponse{}, a.by(ctx, func() error { return nil })
}

func (a *stillAuth) AuthEnable(ctx context.Context, _ *pb.AuthEnableRequest) (*pb.AuthEnableResponse, error) {
	return &pb.AuthEnableResponse{}, a.by(ctx, func() error {
		if a.password == "" {
			return rpctypes.ErrGRPCRootUserNotExist
		}
		a.enabled = true
		return nil
	})
}

func (a *stillAuth) AuthDisable(ctx context.Context, _ *pb.AuthDisableRequest) (*pb.AuthDisableResponse, error) {
	return &pb.AuthDisableResponse{}, a.by(ctx, func() error { a.enabled = false; return nil })
}

func (a *stillAuth) UserChangePassword(ctx context.Context, r *pb.AuthUserChangePasswordRequest) (
	*pb.AuthUserChangePasswordResponse, error,
) {
	return &pb.AuthUserChangePasswordResponse{}, a.by(ctx, func() error { a.password, a.given = r.GetPassword(), a.given+1; return nil })
}

func (a *stillAuth) Authenticate(context.Context, *pb.AuthenticateRequest) (*pb.AuthenticateResponse, error) {
	return &pb.AuthenticateResponse{}, nil
}

// set switches it by hand.
func (a *stillAuth) set(enabled bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.enabled, a.password = enabled, "by hand"
}

// changes is how often root has got another password.
func (a *stillAuth) changes() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.given
}

// state is whether it is on, root's password, and how often it was asked.
func (a *stillAuth) state() (enabled bool, password string, asked int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.enabled, a.password, a.asked
}

// security is by which a pod's server is one with TLS, if there are certificates for it.
func (w *idleWorld) security(t *testing.T, pod *corev1.Pod) []grpc.ServerOption {
	t.Helper()
	secret := &corev1.Secret{}
	err := w.api.Get(t.Context(), client.ObjectKey{Namespace: pod.Namespace, Name: pod.Name + "-tls"}, secret)
	if apierrors.IsNotFound(err) {
		return nil
	}
	must(t, err)
	pair, err := tls.X509KeyPair(secret.Data["server.crt"], secret.Data["server.key"])
	must(t, err)
	agent := &corev1.Secret{}
	must(t, w.api.Get(t.Context(), client.ObjectKey{Namespace: pod.Namespace, Name: "idle-ca"}, agent))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(agent.Data["server.crt"])
	return []grpc.ServerOption{grpc.Creds(credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}))}
}
