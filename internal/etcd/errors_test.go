package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	done := []error{rpctypes.ErrMemberNotFound}
	tests := []struct {
		name   string
		err    error
		isNil  bool
		notYet bool
	}{
		{"success", nil, true, false},
		{"done already", rpctypes.ErrMemberNotFound, true, false},
		{"unhealthy", rpctypes.ErrUnhealthy, false, true},
		{"not enough started", rpctypes.ErrMemberNotEnoughStarted, false, true},
		{"learner not ready", rpctypes.ErrMemberLearnerNotReady, false, true},
		{"too many learners", rpctypes.ErrTooManyLearners, false, true},
		{"too many requests", rpctypes.ErrTooManyRequests, false, true},
		{"no leader", rpctypes.ErrNoLeader, false, true},
		{"not the leader", rpctypes.ErrNotLeader, false, true},
		{"leader changed", rpctypes.ErrLeaderChanged, false, true},
		{"stopped", rpctypes.ErrStopped, false, true},
		{"not capable", rpctypes.ErrNotCapable, false, true},
		{"timeout", rpctypes.ErrTimeout, false, true},
		{"timeout after a leader's failure", rpctypes.ErrTimeoutDueToLeaderFail, false, true},
		{"timeout after a lost connection", rpctypes.ErrTimeoutDueToConnectionLost, false, true},
		{"timeout of the applied index", rpctypes.ErrTimeoutWaitAppliedIndex, false, true},
		{"timeout of a transfer", status.Error(codes.Unknown, leaderTransferTimeout), false, true},
		{"our own timeout", context.DeadlineExceeded, false, true},
		{"timeout on the way", status.Error(codes.DeadlineExceeded, "too late"), false, true},
		{"refused connection", status.Error(codes.Unavailable, "connection refused"), false, true},
		{"we were told to stop", context.Canceled, false, false},
		{"permission", rpctypes.ErrPermissionDenied, false, false},
		{"nobody", rpctypes.ErrUserEmpty, false, false},
		{"learner as leader", rpctypes.ErrBadLeaderTransferee, false, false},
		{"exists", rpctypes.ErrPeerURLExist, false, false},
		{"corrupt", rpctypes.ErrCorrupt, false, false},
		{"anything", errors.New("anything"), false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := explain("do it", test.err, done)
			if (err == nil) != test.isNil || errors.Is(err, ErrNotYet) != test.notYet {
				t.Fatalf("got %v", err)
			}
			if err == nil {
				return
			}
			if !errors.Is(err, test.err) || !strings.HasPrefix(err.Error(), "do it: ") ||
				!strings.HasSuffix(err.Error(), test.err.Error()) {
				t.Errorf("%v does not carry its cause %v", err, test.err)
			}
		})
	}
}

func TestNameIn(t *testing.T) {
	t.Parallel()
	tests := []struct{ peerURL, want string }{
		{"http://a-0.a.default.svc:2380", "a-0"},
		{"https://a-10.a.default.svc.cluster.local:2380", "a-10"},
		{"http://1st-0.1st.default.svc:2380", "1st-0"},
		{"http://localhost:2380", "localhost"},
		{"http://10.0.0.1:2380", "own"},
		{"http://[fd00::1]:2380", "own"},
		{"unix://", "own"},
		{":", "own"},
	}
	for _, test := range tests {
		if got := nameIn(test.peerURL, "own"); got != test.want {
			t.Errorf("%s: %q, want %q", test.peerURL, got, test.want)
		}
	}
}

func TestSameIdentity(t *testing.T) {
	t.Parallel()
	config := func(certificate string) *tls.Config {
		return &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool(),
			Certificates: []tls.Certificate{{Certificate: [][]byte{[]byte(certificate)}}},
		}
	}
	otherRoots := config("a")
	otherRoots.RootCAs.AddCert(&x509.Certificate{Raw: []byte("ca")})
	tests := []struct {
		name string
		a, b *tls.Config
		want bool
	}{
		{"no TLS", nil, nil, true},
		{"TLS added", nil, config("a"), false},
		{"TLS removed", config("a"), nil, false},
		{"read again", config("a"), config("a"), true},
		{"new certificate", config("a"), config("b"), false},
		{"new authority", config("a"), otherRoots, false},
	}
	for _, test := range tests {
		if got := sameIdentity(test.a, test.b); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
