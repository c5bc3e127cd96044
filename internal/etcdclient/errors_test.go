package etcdclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestOutcome(t *testing.T) {
	t.Parallel()
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
			err := outcome(test.err, rpctypes.ErrMemberNotFound)
			if (err == nil) != test.isNil || errors.Is(err, ErrNotYet) != test.notYet {
				t.Fatalf("got %v", err)
			}
			if err == nil {
				return
			}
			if !errors.Is(err, test.err) || !strings.HasSuffix(err.Error(), test.err.Error()) {
				t.Errorf("%v does not carry its cause %v", err, test.err)
			}
			if Unanswered(err) != Unanswered(test.err) {
				t.Errorf("%v: that nobody has answered is lost on the way, or made up", err)
			}
		})
	}
}

// TestErrors tells what etcd has said from what only the connection says, though the code may be the same.
func TestErrors(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		err                                 error
		refused, unanswered, silent, denied bool
	}{
		"nothing":                 {err: nil},
		"another error":           {err: errors.New("x")},
		"no connection":           {err: status.Error(codes.Unavailable, "refused"), unanswered: true, silent: true},
		"no answer":               {err: status.Error(codes.DeadlineExceeded, "late"), silent: true},
		"the time is up":          {err: fmt.Errorf("ask: %w", context.DeadlineExceeded), silent: true},
		"etcd has no leader":      {err: rpctypes.ErrNoLeader, refused: true},
		"on its way":              {err: rpctypes.Error(rpctypes.ErrGRPCNoLeader), refused: true},
		"etcd's own time-out":     {err: rpctypes.ErrTimeout, refused: true},
		"etcd knows nobody":       {err: rpctypes.ErrUserEmpty, refused: true, denied: true},
		"a role that is missing":  {err: fmt.Errorf("ask: %w", rpctypes.ErrPermissionDenied), refused: true, denied: true},
		"a learner does not read": {err: rpctypes.Error(rpctypes.ErrGRPCNotSupportedForLearner), refused: true},
	} {
		got := []bool{Refused(c.err), Unanswered(c.err), Silent(c.err), Denied(c.err)}
		if want := []bool{c.refused, c.unanswered, c.silent, c.denied}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: refused, unanswered, silent, denied are %v, want %v", title, got, want)
		}
	}
}

// TestTranslate reads what etcd answers to requests for maintenance: 3.5 refuses some of them with a text only.
func TestTranslate(t *testing.T) {
	t.Parallel()
	gone, other := io.EOF, status.Error(codes.Unknown, "auth: permission denied, or so")
	for _, c := range []struct{ err, want error }{
		{nil, nil},
		{gone, gone},
		{other, other},
		{context.Canceled, context.Canceled},
		{rpctypes.ErrGRPCPermissionDenied, rpctypes.ErrPermissionDenied},
		{status.Error(codes.Unknown, "auth: permission denied"), rpctypes.ErrPermissionDenied},
		{status.Error(codes.Unknown, "auth: user name is empty"), rpctypes.ErrUserEmpty},
		{status.Error(codes.Unknown, "auth: user not found"), rpctypes.ErrUserNotFound},
		{status.Error(codes.Unknown, "auth: invalid auth token"), rpctypes.ErrInvalidAuthToken},
	} {
		if got := translate(c.err); !errors.Is(got, c.want) || Denied(got) != Denied(c.want) {
			t.Errorf("%v is translated to %v, want %v", c.err, got, c.want)
		}
	}
}
